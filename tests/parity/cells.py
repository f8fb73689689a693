"""Kernel texts of `kernels/*.py.txt`: many per file, each with what is expected of it.

### name
#: given n=1000, s=2.0        values of scalars and symbolic dimensions
#: numpy y = x * s            what the arrays hold afterwards; without it the kernel is not run
#: ours refuses: TEXT         our error contains TEXT, on purpose
#: peer refuses: TEXT         the published implementation refuses
#: differs WHAT: why          a difference that stays, and who is right
...the kernel, without the import line...
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "kernels"
FUTURE = "from __future__ import annotations\n"
IMPORTS = {
    "ours": """from tirx import script as Tx
from tirx.script import ir as I
from tirx.script.builder import Builder
from tirx.layout import S, TileLayout, laneid""",
    "peer": """from tvm.script import tirx as Tx
from tvm.script import ir as I
from tvm.script.ir_builder import IRBuilder as Builder
from tvm.tirx.layout import S, TileLayout, laneid""",
}


class Cell:
    """One kernel text."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        lines = text.splitlines()
        notes = [line[2:].strip() for line in lines if line.startswith("#:")]
        self.code = "\n".join("" if line.startswith("#:") else line for line in lines)
        self.given: dict[str, float] = dict(
            pair for note in of(notes, "given ") for pair in eval(f"dict({note})").items()
        )
        self.numpy = of(notes, "numpy ")
        self.refusal = {side: next(iter(of(notes, f"{side} refuses:")), None) for side in ("ours", "peer")}
        self.differs = dict(split(note) for note in of(notes, "differs "))

    def written(self, side: str, folder: Path) -> Path:
        """The file that one side reads."""
        path = folder / f"{side}_{self.name}.py"
        future = FUTURE if FUTURE in self.code else ""
        code = self.code.replace(FUTURE, "")
        path.write_text(f"{future}{IMPORTS[side]}\n{code}\n", encoding="utf-8")
        return path


def of(notes: list[str], start: str) -> list[str]:
    """The rest of the notes that start so."""
    return [note[len(start) :].strip() for note in notes if note.startswith(start)]


def split(note: str) -> tuple[str, str]:
    """Subject and reason of a note."""
    subject, _, reason = note.partition(":")
    return subject.strip(), reason.strip()


def cells() -> dict[str, Cell]:
    """All kernels by name, `topic-name`."""
    found = {}
    for path in sorted(FOLDER.glob("*.py.txt")):
        topic = path.name.partition(".")[0]
        for part in path.read_text(encoding="utf-8").split("\n### ")[1:]:
            name, _, text = part.partition("\n")
            found[f"{topic}-{name.strip()}"] = Cell(f"{topic}_{name.strip()}", text)
    return found
