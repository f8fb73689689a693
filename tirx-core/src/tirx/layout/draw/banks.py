"""Banks of memory, and how many turns they take when threads side by side read vectors.

A request is as many vectors as fit into one round of the banks (the simulator counts likewise). Each bank serves one word a turn,
so a request takes as many turns as the busiest bank has distinct words to serve; one turn is the least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...ir import current_span
from ...support.errors import LayoutError
from .cells import Grid

__all__ = ["Access", "Banks", "accesses", "check_banks", "fitted", "margins"]


class Banks(NamedTuple):
    """`number` banks, words of `width` bytes, elements of `bits`, reads of `vector` bytes by `lanes` threads at once."""

    number: int
    width: int
    vector: int
    lanes: int
    bits: int

    @property
    def groups(self) -> int:
        """How many vectors one round of the banks holds."""
        return max(1, self.number * self.width // max(self.vector, self.width))

    def vector_of(self, position: int) -> int:
        """Which vector of memory an element lies in."""
        return position * self.bits // (8 * max(self.vector, self.width))

    def first_of(self, position: int) -> int:
        """The bank that holds the first bit of an element."""
        return position * self.bits // (8 * self.width) % self.number

    def held_by(self, position: int, elements: int) -> tuple[int, int]:
        """First and last bank of elements that follow each other."""
        last = (position + elements) * self.bits - 1
        return self.first_of(position), last // (8 * self.width) % self.number

    def words(self, position: int, elements: int) -> range:
        """The words that elements lie in."""
        first, last = position * self.bits, (position + elements) * self.bits - 1
        return range(first // (8 * self.width), last // (8 * self.width) + 1)

    def turns(self, vectors: Sequence[tuple[int, int]]) -> int:
        """Turns of one request: vectors as (position, elements)."""
        words = {word for vector in vectors for word in self.words(*vector)}
        served = [0] * self.number
        for word in words:
            served[word % self.number] += 1
        return max(served)


class Access(NamedTuple):
    """What reading the shown elements in one order costs: `lanes` threads with a vector of `bytes` each."""

    name: str
    lanes: int
    bytes: int
    requests: int
    turns: int
    worst: int  # turns of the worst request

    @property
    def conflicts(self) -> int:
        """Turns beyond one for each request."""
        return self.turns - self.requests


_WORDS = {
    "number": "the number of banks",
    "width": "the width of a bank in bytes",
    "vector": "the width of a vector in bytes",
    "lanes": "the number of threads",
}


def check_banks(banks: Banks) -> Banks:
    """`banks`, when its numbers make sense."""
    for name in ("number", "width", "vector", "lanes"):
        value = getattr(banks, name)
        if not isinstance(value, int) or value < 1 or value & (value - 1):
            raise LayoutError(f"{_WORDS[name]} is a power of two, not {value!r}", span=current_span())
    if banks.vector > banks.number * banks.width:
        raise LayoutError(
            f"a vector of {banks.vector} bytes is wider than all {banks.number} banks of {banks.width} bytes together",
            span=current_span(),
        )
    return banks


def fitted(banks: Banks, grid: Grid) -> Banks:
    """`banks` with vectors no wider than the elements that lie together in this layout."""
    together = grid.step & -grid.step
    return banks._replace(vector=min(banks.vector, max(1, together * banks.bits // 8)))


def accesses(grid: Grid, banks: Banks) -> tuple[Access, ...]:
    """The cost of reading row after row, and of reading down each column where there are several rows."""
    by_row = _vectors(grid, banks)
    is_cut = grid.shown_columns < grid.columns  # then the end of one row and the start of the next are not neighbours
    found = [_access("row", banks, by_row if is_cut else [[vector for row in by_row for vector in row]])]
    if grid.rows > 1:
        lanes = min(banks.lanes, grid.shown_rows)
        found.append(_access("column", banks._replace(lanes=lanes), _columns(by_row)))
    return tuple(found)


def margins(grid: Grid, banks: Banks) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Turns of the worst request in each row, and in each column of cells."""
    by_row = _vectors(grid, banks)
    down = [max(_turns(column, banks)) for column in _columns(by_row)]
    share = len(down) // len(grid.cells[0])  # vectors of a cell
    worst = (max(down[at : at + share]) for at in range(0, len(down), share))
    return tuple(max(_turns(row, banks)) for row in by_row), tuple(worst)


_Vector = tuple[int, int]  # position of the first element, elements


def _vectors(grid: Grid, banks: Banks) -> list[list[_Vector]]:
    """The vectors of each row."""
    elements = max(1, 8 * banks.vector // banks.bits)
    return [
        [(cell.places[0]["m"] + start, elements) for cell in row for start in range(0, cell.length, elements)]
        for row in grid.cells
    ]


def _columns(by_row: list[list[_Vector]]) -> list[list[_Vector]]:
    return [list(column) for column in zip(*by_row, strict=True)]


def _turns(vectors: Sequence[_Vector], banks: Banks) -> list[int]:
    """Turns of each request when vectors are read one after another."""
    size = min(banks.lanes, banks.groups)
    return [banks.turns(vectors[start : start + size]) for start in range(0, len(vectors), size)]


def _access(name: str, banks: Banks, runs: list[list[_Vector]]) -> Access:
    turns = [count for run in runs for count in _turns(run, banks)]
    size = max(1, banks.bits * max(1, 8 * banks.vector // banks.bits) // 8)
    return Access(name, banks.lanes, size, len(turns), sum(turns), max(turns))
