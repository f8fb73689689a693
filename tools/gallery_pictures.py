"""Pictures for the gallery: layouts that are worth one, and for the other kernels the shape of their text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tirx import ir
from tirx.layout.draw import picture_of, svg_of

__all__ = ["Drawn", "layouts", "minimap"]

LIMIT = (16, 16)  # rows and columns of cells: enough to see the pattern
PARTITIONS = {"P", "F"}  # axes of a memory that is filled row by row where nothing else is said


class Drawn(NamedTuple):
    """Buffers of one layout, and its picture."""

    names: tuple[str, ...]
    about: str
    svg: str


def layouts(kernel: ir.PrimFunc) -> list[Drawn]:
    """A picture for each layout of a kernel's buffers that is not plain, however many buffers have it."""
    found: dict[tuple[str, str], list[ir.Buffer]] = {}
    for node in ir.walk(kernel.body):
        if isinstance(node, ir.Alloc) and is_worth_a_picture(node.buffer):
            found.setdefault((repr(node.buffer.layout), str(node.buffer.dtype)), []).append(node.buffer)
    return [drawn(buffers) for buffers in found.values()]


def is_worth_a_picture(buffer: ir.Buffer) -> bool:
    """Whether there is more to see than rows one behind the other."""
    if buffer.is_scalar or buffer.scope() == "global" or set(buffer.shape) <= {0, 1}:
        return False
    layout: Any = buffer.layout
    if layout.is_trivial():
        return is_padded(buffer)
    return not is_plain_on_partitions(layout)


def is_padded(buffer: ir.Buffer) -> bool:
    """Whether shared memory has rows of an odd length: columns then lie in different banks."""
    width = buffer.shape[-1]
    return buffer.scope() == "shared" and len(buffer.shape) > 1 and isinstance(width, int) and width & (width - 1) != 0


def is_plain_on_partitions(layout: Any) -> bool:
    """Whether rows are partitions and columns follow each other."""
    if not set(layout.axes()) <= PARTITIONS:
        return False
    steps = [(step.axis, step.stride) for step in layout.canonicalize().shard]
    return steps in ([("P", 1), ("F", 1)], [("P", 1)], [("F", 1)])


def drawn(buffers: list[ir.Buffer]) -> Drawn:
    """The picture of the layout that these buffers share; of different shapes the first one's."""
    first = buffers[0]
    shape = [int(str(extent)) for extent in first.shape]
    about = f"{first.dtype}, {' x '.join(map(str, shape))}, in {first.scope()}"
    svg = svg_of(picture_of(first.layout, shape, dtype=str(first.dtype), limit=LIMIT))
    return Drawn(tuple(dict.fromkeys(buffer.name for buffer in buffers)), about, svg)


# ---- the shape of a text ---------------------------------------------------------------------------------------------

ROW, LETTER, WIDTH = 5, 2.4, 300
KINDS = {"for ": "loop", "while ": "loop", "if ": "loop", "with ": "loop", "Tx.": "call"}
STYLE = """<style>.tirx-map rect { fill: #b9c1cc } .tirx-map .loop { fill: #d98b5f } .tirx-map .call { fill: #5b8fd9 }
@media (prefers-color-scheme: dark) { .tirx-map rect { fill: #59616e } }</style>"""


def minimap(text: str) -> str:
    """The lines of a kernel as bars, as long and as far to the right as they are: what editors show at their edge."""
    bars = list(rows(text.partition("\n@")[2].partition("\nKERNEL =")[0] or text))
    height = len(bars) * ROW + 8
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" class="tirx-map" {size} role="img">'
    return "\n".join([opened, STYLE, *bars, "</svg>\n"])


def rows(text: str) -> Iterator[str]:
    """A bar for each line."""
    for number, line in enumerate(text.splitlines()):
        written = line.strip()
        kind = next((name for start, name in KINDS.items() if written.startswith(start)), "plain")
        x, width = (len(line) - len(line.lstrip())) * LETTER + 6, max(1, len(written)) * LETTER
        yield f'<rect class="{kind}" x="{x:.1f}" y="{number * ROW + 4}" width="{min(width, WIDTH - x):.1f}" height="3" rx="1"/>'
