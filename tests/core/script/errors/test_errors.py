"""What authors see when a kernel is wrong: each case is a small file and the whole message.

    == name of the case
    <text of a kernel file, in which Tx is the language>
    -- output
    <what is printed>

`pytest --update-golden` writes what came out.
"""

from __future__ import annotations

import linecache
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tirx import script as Tx
from tirx.support.errors import TirxError

HERE = Path(__file__).parent
HEAD = re.compile(r"^== (.+)$", re.MULTILINE)
PATH = "kernel.py"


def cases() -> list[tuple[Path, str, str, str]]:
    """File, name, text and expected output of each case."""
    found = []
    for path in sorted(HERE.glob("*.txt")):
        parts = HEAD.split(path.read_text())[1:]
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            text, _, output = body.partition("\n-- output\n")
            found.append((path, name, text.strip("\n") + "\n", output.strip("\n")))
    return found


CASES = cases()


def message_of(text: str) -> str:
    """What running `text` as a file prints."""
    linecache.cache[PATH] = (len(text), None, text.splitlines(keepends=True), PATH)
    space = {"Tx": Tx, "T": Tx, "np": np, "math": math, "__name__": "kernel"}
    try:
        exec(compile(text, PATH, "exec", dont_inherit=True), space)
    except TirxError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - the message is the result
        return f"{type(error).__name__}: {error}"
    finally:
        del linecache.cache[PATH]
    return "no error"


@pytest.mark.parametrize(("path", "name", "text", "expected"), CASES, ids=[f"{c[0].stem}-{c[1]}" for c in CASES])
def test_message(path: Path, name: str, text: str, expected: str, request: pytest.FixtureRequest) -> None:
    output = message_of(text)
    if request.config.getoption("--update-golden"):
        update(path, name, output)
        return
    if sys.version_info < (3, 11) and output != expected:
        # Python 3.10 keeps no columns; kernels have our own, plain code around them has none.
        # A method that is missing is marked with its arguments there.
        assert name in WITHOUT_COLUMNS | CLASS_DECORATORS or path.stem == "newcomers"
        assert name in CLASS_DECORATORS or without_columns(output) == without_columns(expected)
        return
    assert output == expected


def without_columns(text: str) -> str:
    """The message without columns and carets."""
    text = re.sub(r"(kernel\.py:\d+):\d+", r"\1", text)
    return re.sub(r"\n *\| *\^+", "", text)


# What happens in code that is not rewritten (annotations, decorators, plain helpers, methods), or looks up a method that is missing.
WITHOUT_COLUMNS = {
    "unknown dtype of a buffer", "schedulable dialect", "inline outside a kernel",
    "truth in a Python helper", "orphan of a meta class", "missing constexpr", "unknown parameter", "not a compile-time parameter",
    "not hashable", "optional with a value", "called without specialize", "misspelt name of the language", "unknown function of the module",
    "unknown function of the module, nothing near",
    "a scalar of a meta class that a plain assignment replaces", "a buffer of a meta class that a plain assignment replaces",
}  # fmt: skip


# Python 3.10 places the call of a decorator at the line of what it decorates.
CLASS_DECORATORS = {"prim_func on a class", "empty module", "decorated twice"}


def update(path: Path, name: str, output: str) -> None:
    """Write `output` into the case."""
    parts = HEAD.split(path.read_text())
    at = next(index for index in range(1, len(parts), 2) if parts[index] == name)
    text = parts[at + 1].partition("\n-- output\n")[0].strip("\n")
    parts[at + 1] = f"\n{text}\n-- output\n{output}\n\n"
    joined = [parts[0], *(f"== {name}{body}" for name, body in zip(parts[1::2], parts[2::2], strict=True))]
    path.write_text("".join(joined).rstrip("\n") + "\n")


def test_there_are_at_least_sixty_mistakes() -> None:
    assert len({(path, name) for path, name, _, _ in CASES}) >= 60


def test_every_mistake_is_placed_and_explained() -> None:
    for _, name, _, expected in CASES:
        assert re.match(r"kernel\.py:\d+(:\d+)?: error: ", expected), name


def test_names_are_unique() -> None:
    names = [name for _, name, _, _ in CASES]
    assert len(names) == len(set(names))
