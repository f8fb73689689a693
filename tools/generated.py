"""The files that a program writes. `python -m tools.generated` rewrites them; a test fails where one is out of date."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COMMAND = "python -m tools.generated"


class Generated(NamedTuple):
    """A committed file and the function that returns its whole text."""

    path: str
    generate: Callable[[], str]

    def is_current(self) -> bool:
        """Whether the committed file is what the generator returns now."""
        target = ROOT / self.path
        return target.exists() and target.read_text(encoding="utf-8") == self.generate()


def reference_page(name: str) -> Generated:
    """A page of docs/reference; its generator imports all backends, which only the writing needs."""

    def generate() -> str:
        from tools.reference import GENERATORS

        return GENERATORS[name]()

    return Generated(f"docs/reference/{name}.md", generate)


def picture(name: str) -> Generated:
    """A picture of a layout in the documentation; drawing it may load a backend."""

    def generate() -> str:
        from tools.pictures import PICTURES

        return PICTURES[name]()

    return Generated(f"docs/how-to/layouts/{name}.svg", generate)


def tile_stub() -> str:
    """Types of the tile functions."""
    from tools.tile_stub import tile_functions

    return tile_functions()


def ptx_stub() -> str:
    """Types of the instructions of PTX."""
    from tools.ptx_reference import instruction_types

    return instruction_types()


PTX = [
    "arith",
    "atomic",
    "convert",
    "copy",
    "logic",
    "matrix",
    "memory",
    "misc",
    "sync",
    "tcgen05",
    "video",
    "warp",
    "wgmma",
]
REFERENCE = (
    *("language", "intrinsics", "tile", "variants", "cuda", "ptx", "nki", "targets", "command-line", "errors"),
    *(f"ptx/{name}" for name in PTX),
)
DRAWN = ("fragment", "rows", "padded", "swizzled", "operand-a")
STUBS = (
    Generated("tirx-core/src/tirx/script/tile_functions.pyi", tile_stub),
    Generated("tirx-backend-cuda/src/tirx_cuda/ptx/instructions.pyi", ptx_stub),
)
GENERATED: tuple[Generated, ...] = (*map(reference_page, REFERENCE), *map(picture, DRAWN), *STUBS)


def main() -> int:
    """Rewrite every file that is out of date and say which."""
    for entry in GENERATED:
        if not entry.is_current():
            (ROOT / entry.path).write_text(entry.generate(), encoding="utf-8")
            print(f"wrote {entry.path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
