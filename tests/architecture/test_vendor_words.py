"""Core names no hardware vendor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture import reviewed
from tests.architecture.tree import CORE, ROOT

LIST = Path(__file__).with_name("vendor_words.txt")
SUFFIXES = {".py", ".pyi", ".txt", ".toml", ".json", ".tsv", ".csv", ".md"}
WORDS = {line for line in LIST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}

WORD = re.compile(r"[A-Za-z0-9]+")
CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def vendor_words(text: str) -> list[tuple[int, str]]:
    """The line and the word of every mention: whole words, and the parts of an identifier in camel case."""
    found = []
    for name in reviewed.PUBLISHED_NAMES:
        text = text.replace(name, "")
    for number, line in enumerate(text.splitlines(), 1):
        words = WORD.findall(line)
        parts = [part for word in words for part in CAMEL_PART.findall(word)]
        found += [(number, word) for word in dict.fromkeys([*words, *parts]) if word.lower() in WORDS]
    return found


def test_core_names_no_vendor() -> None:
    found = []
    for path in sorted(CORE.rglob("*")):
        where = path.relative_to(ROOT).as_posix()
        if path.suffix in SUFFIXES and where not in reviewed.VENDOR_DATA:
            found += [f"{where}:{line}: {word}" for line, word in vendor_words(path.read_text(encoding="utf-8"))]
    assert not found, "core is neutral; move this to a backend or say it without the vendor:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "import cuda",
        "use_cuda = 1",
        "cudaMalloc",
        "isCudaKernel",
        "CUDA",
        "# on Trainium",
        '"sm_90a"',
        "__shfl_sync",
        "gfx942",
        "threadIdx.x",
    ],
)
def test_a_vendor_is_noticed(text: str) -> None:
    assert vendor_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "barracuda",
        "relationship",
        "automatic",
        "laws",
        "transparency",
        "small",
        "Smith",
        "tirx.launch_bounds_min_blocks_per_sm",
    ],
)
def test_ordinary_words_are_left_alone(text: str) -> None:
    assert not vendor_words(text)
