"""Code blocks of Markdown files, and how each kind is tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# A fence, or a comment that readers do not see: `<!-- python` prepares what a program needs that a page need not show.
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|:{3,}|<!-- )(?P<info>[^`\n]*)$")
CLOSING = {"<!-- ": "-->"}
# Built pages, and dated notes on decisions that show sketches of what was weighed.
LEFT_OUT = ("docs/_build/", "docs/reference/api/", "docs/gallery/", "docs/design/")


class Block(NamedTuple):
    """One fenced block: the words after the fence, the text, and the line of its first line."""

    info: tuple[str, ...]
    text: str
    line: int

    @property
    def language(self) -> str:
        """The first word after the fence."""
        return self.info[0] if self.info else ""


@cache
def pages() -> tuple[Path, ...]:
    """Every Markdown page that people read: new ones count without being listed."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("tirx-*/*.md"), *ROOT.glob("docs/**/*.md")]
    return tuple(sorted(path for path in found if not name_of(path).startswith(LEFT_OUT)))


def name_of(page: Path) -> str:
    """The path of a page as a person types it."""
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, from top to bottom."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        number += 1
        if opening is None or opening["info"].endswith("-->"):
            continue
        start = number
        closing = opening["indent"] + CLOSING.get(opening["fence"], opening["fence"])
        while number < len(lines) and lines[number].rstrip() != closing:
            number += 1
        body = [line.removeprefix(opening["indent"]) for line in lines[start:number]]
        yield Block(tuple(opening["info"].split()), "\n".join(body) + "\n", start + 1)
        number += 1


def program(found: list[Block]) -> str:
    """The Python blocks of a page as one program in which every line keeps its number."""
    lines: list[str] = []
    for block in found:
        lines += [""] * (block.line - 1 - len(lines))
        lines += block.text.splitlines()
    return "\n".join(lines) + "\n"


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found
