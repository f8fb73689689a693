"""Orders in which tiles are visited: from a position in the order to the tile, as arithmetic.

Positions and sizes are Python numbers or expressions of a kernel; the same function serves schedulers and their tests. What is known
while the kernel is built leaves no trace in it: sizes that divide need no second case.
"""

from __future__ import annotations

from typing import Any

from tirx.intrinsic.core.arithmetic import min as smaller_of
from tirx.intrinsic.core.arithmetic import truncdiv, truncmod
from tirx.intrinsic.core.control import if_then_else

__all__ = ["choose", "group_major", "group_major_3d", "linear", "longest_first", "rank_aware", "serpentine"]


def div(a: Any, b: Any) -> Any:
    """How often `b` goes into `a`; neither is negative."""
    return a // b if _known(a, b) else a if _is_one(b) else truncdiv(a, b)


def mod(a: Any, b: Any) -> Any:
    """What is left of `a` then."""
    return a % b if _known(a, b) else 0 if _is_one(b) else truncmod(a, b)


def _known(*values: Any) -> bool:
    return all(isinstance(value, int) for value in values)


def _is_one(value: Any) -> bool:
    return isinstance(value, int) and value == 1


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds; decided at once where it is known."""
    if isinstance(condition, bool):
        return yes if condition else no
    return if_then_else(condition, yes, no)


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers."""
    return min(a, b) if _known(a, b) else smaller_of(a, b)


def split(position: Any, *sizes: Any) -> tuple[Any, ...]:
    """Digits of a position: the last size counts fastest, the first digit has no bound."""
    digits = []
    for size in reversed(sizes):
        digits.append(mod(position, size))
        position = div(position, size)
    return (position, *reversed(digits))


def _grouped(position: Any, rows: Any, group: Any, each: Any) -> tuple[Any, Any, Any]:
    """`(first row, rows, position inside)` of the group of rows that a position is in; `each` tiles a row."""
    whole = group * each
    first = div(position, whole) * group
    inside = mod(position, whole)
    if _known(rows, group) and rows % group == 0:
        return first, group, inside
    return first, smaller(group, rows - first), inside


def group_major(position: Any, rows: Any, columns: Any, group: Any) -> tuple[Any, Any]:
    """Groups of rows one after the other; inside, columns from left to right, each from the top of the group down.

    The last group has the rows that are left.
    """
    first, height, inside = _grouped(position, rows, group, columns)
    return first + mod(inside, height), div(inside, height)


def group_major_3d(position: Any, rows: Any, columns: Any, depth: Any, group: Any) -> tuple[Any, Any, Any]:
    """Groups of rows one after the other; inside, one slice of the depth after the other, each column by column."""
    first, height, inside = _grouped(position, rows, group, columns * depth)
    deep, column, row = split(inside, columns, height)
    return first + row, column, deep


def serpentine(position: Any, rows: int, columns: int, size: int) -> tuple[Any, Any]:
    """Strips of `size` columns; down the first, up the second, and so on, by blocks of `size` rows, each row by row.

    The last strip has the columns that are left, the lowest blocks the rows that are left.
    """
    strip, inside = div(position, rows * size), mod(position, rows * size)
    width = size if columns % size == 0 else smaller(size, columns - strip * size)
    blocks, ragged = -(-rows // size), rows % size or size
    down = div(inside, size * width)
    up_inside = inside - ragged * width  # behind the lowest block, which comes first on the way up
    first_up = inside < ragged * width
    up = choose(first_up, blocks - 1, blocks - 2 - div(up_inside, size * width))
    is_down = mod(strip, 2) == 0
    block = choose(is_down, down, up)
    local = choose(is_down, mod(inside, size * width), choose(first_up, inside, mod(up_inside, size * width)))
    return block * size + div(local, width), strip * size + mod(local, width)


def rank_aware(position: Any, rows: int, columns: int, group: int, world: int, rank: Any) -> tuple[Any, Any]:
    """Rows of the other ranks first, beginning with the next one's, then the own; both in groups."""
    own = rows // world
    remote = rows - own
    there = group_major(position, remote, columns, group) if remote else (0, 0)
    here = group_major(position - remote * columns, own, columns, group) if own else (0, 0)
    is_remote = position < remote * columns if remote and own else bool(remote)
    row = choose(is_remote, there[0], here[0] + remote)
    return mod(row + (rank + 1) * own, rows), choose(is_remote, there[1], here[1])


def linear(position: Any, heads: Any, blocks: Any) -> tuple[Any, Any, Any]:
    """`(batch, head, block)`: blocks of a head one after the other, then the next head, then the next batch."""
    batch, head, block = split(position, heads, blocks)
    return batch, head, block


def longest_first(position: Any, batches: int, heads: int, blocks: int, section: int) -> tuple[Any, Any, Any]:
    """`(batch, head, block)`: heads in sections of `section`; inside, the last block of each head, then the one before it.

    In causal attention the last blocks have most to do; a section's keys and values stay in the L2 cache. The last section has the
    heads that are left.
    """
    number, inside = div(position, section * blocks), mod(position, section * blocks)
    total = batches * heads
    width = section if total % section == 0 else smaller(section, total - number * section)
    head = number * section + mod(inside, width)
    return div(head, heads), mod(head, heads), blocks - 1 - div(inside, width)
