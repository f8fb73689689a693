"""The layout of a box of a tile.

Each dimension is read from its innermost iter outwards. Of one iter of extent e, a run of n elements from b on

* that begins and ends at whole rounds takes the iter whole, and goes on with the next one outwards,
* that stays inside one round takes n of it, and the offset says which,
* that crosses from one round to the next in its middle is two halves, a constant step apart,
* else is not expressible: the answer is None.

Where that fails and b, n and e have a common divisor, the iter is cut there, and its outer part tried again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import gcd
from typing import Any, TypeVar

from ..arith import Analyzer
from .canonical import fuse_iters
from .group import group
from .iters import Iter, Number, divides, number, same
from .mistakes import mistake, numbers
from .parts import Parts

__all__ = ["Bounds", "bounds_of", "slice_layout"]

P = TypeVar("P", bound=Parts)
Bounds = tuple[Number, Number]
Offset = dict[str, Number]


def slice_layout(layout: P, shape: Sequence[Any], region: Sequence[Any]) -> P | None:
    """The layout of the elements `begin <= index < end` of each dimension, counted from the first of them."""
    bounds = bounds_of(shape, region)
    grouped, separators = group(layout.replaced(shard=fuse_iters(layout.shard)), shape)
    shard: list[Iter] = []
    offset: Offset = dict(layout.offset)
    for (start, stop), (begin, end) in zip(pairwise(separators), bounds, strict=True):
        found = _run(grouped.shard[start:stop], begin, number(end - begin))
        if found is None:
            return None
        shard += found[0]
        offset = _sum(offset, found[1])
    return layout.replaced(shard, offset=offset)


def bounds_of(shape: Sequence[Any], region: Sequence[Any]) -> list[Bounds]:
    """(begin, end) of each dimension; `LayoutError` for what is empty or outside."""
    if len(region) != len(shape):
        raise mistake(
            f"a region of {len(region)} dimensions of a shape of {len(shape)}",
            hint="give (begin, end) for each dimension",
        )
    bounds = [_bounds(dim, item, number(extent)) for dim, (item, extent) in enumerate(zip(region, shape, strict=True))]
    for dim, ((begin, end), extent) in enumerate(zip(bounds, shape, strict=True)):
        _check_bounds(dim, begin, end, number(extent))
    return bounds


def _bounds(dim: int, item: Any, extent: Number) -> Bounds:
    if isinstance(item, slice) and item.step in (None, 1):
        return number(item.start or 0), extent if item.stop is None else number(item.stop)
    if isinstance(item, tuple | list) and len(item) == 2:
        return number(item[0]), number(item[1])
    raise mistake(f"dimension {dim} of a region is {item!r}", hint="give (begin, end), or begin:end")


def _check_bounds(dim: int, begin: Number, end: Number, extent: Number) -> None:
    known = Analyzer()
    for value, limit in ((begin, extent), (end, extent)):
        outside = known.bounds(value).high
        if (outside is not None and outside < 0) or _above(known, value, limit):
            raise mistake(
                f"{numbers([value])} is outside dimension {dim} of extent {numbers([extent])}",
                hint=f"a region lies between 0 and {numbers([extent])}",
            )
    high = known.bounds(number(end - begin)).high
    if high is not None and high < 1:
        raise mistake(
            f"{numbers([begin])} to {numbers([end])} of dimension {dim} holds no element",
            hint="let it end behind its begin",
        )


def _above(known: Analyzer, value: Number, limit: Number) -> bool:
    low = known.bounds(number(value - limit)).low
    return low is not None and low > 0


# ---- one dimension ------------------------------------------------------------------------------------------------


def _run(iters: Sequence[Iter], begin: Number, count: Number) -> tuple[list[Iter], Offset] | None:
    """Iters and offset of `count` elements from `begin` on in the row-major space of `iters`."""
    *outer, item = iters
    if not outer:
        return [Iter(count, item.stride, item.axis)], {item.axis: number(begin * item.stride)}
    if _is_rounds(begin, count, item.extent):
        return _onwards(outer, item, number(begin // item.extent), number(count // item.extent))
    if _in_one_round(begin, count, item.extent):
        inner = number(begin % item.extent)
        offset = _sum(_at(outer, number(begin // item.extent)), {item.axis: number(inner * item.stride)})
        return [Iter(count, item.stride, item.axis)], offset
    step = _common(begin, count, item.extent)
    found = _halves(outer, item, begin, count)
    if found is not None or step == 1:
        return found
    part = Iter(step, item.stride, item.axis)
    rest = Iter(number(item.extent // step), number(item.stride * step), item.axis)
    return _onwards([*outer, rest], part, number(begin // step), number(count // step))


def _is_rounds(begin: Number, count: Number, extent: Number) -> bool:
    return divides(extent, begin) and divides(extent, count)


def _onwards(outer: Sequence[Iter], whole: Iter, begin: Number, count: Number) -> tuple[list[Iter], Offset] | None:
    """`whole` taken whole, and `count` rounds of it from round `begin` on."""
    found = _run(outer, begin, count)
    return None if found is None else ([*found[0], whole], found[1])


def _common(begin: Number, count: Number, extent: Number) -> int:
    """A known common divisor of all three."""
    if not isinstance(extent, int):
        return 1
    return gcd(extent, _divisor(begin), _divisor(count))


def _divisor(value: Number) -> int:
    """The largest known divisor of a number; 0 is divided by everything."""
    if isinstance(value, int):
        return value
    residue = Analyzer().residue(value)
    return gcd(residue.modulus, residue.base)


def _in_one_round(begin: Number, count: Number, extent: Number) -> bool:
    if same(count, 1):
        return True
    beyond = number(begin % extent + count - extent)  # 0 where the run ends with the round
    return beyond <= 0 if isinstance(beyond, int) else Analyzer().prove(beyond <= 0)


def _halves(outer: Sequence[Iter], item: Iter, begin: Number, count: Number) -> tuple[list[Iter], Offset] | None:
    """A run whose middle is where a round of `item` ends."""
    if not (isinstance(begin, int) and isinstance(count, int) and isinstance(item.extent, int)):
        return None
    turn, inner = divmod(begin, item.extent)
    half = item.extent - inner
    if count != 2 * half:
        return None
    here, there = _at(outer, turn), _at(outer, turn + 1)
    step = _sum(_difference(there, here), {item.axis: number(-inner * item.stride)})
    moved = [(axis, value) for axis, value in step.items() if not same(value, 0)]
    if len(moved) > 1:
        return None
    axis, stride = moved[0] if moved else (item.axis, 0)
    offset = _sum(here, {item.axis: number(inner * item.stride)})
    return [Iter(2, stride, axis), Iter(half, item.stride, item.axis)], offset


def _at(iters: Sequence[Iter], index: Number) -> Offset:
    """Where element `index` of the row-major space of `iters` lies."""
    offset: Offset = {}
    for position, item in reversed(list(enumerate(iters))):
        part = index if position == 0 else number(index % item.extent)
        offset = _sum(offset, {item.axis: number(part * item.stride)})
        index = number(index // item.extent)
    return offset


def _sum(a: Mapping[str, Number], b: Mapping[str, Number]) -> Offset:
    return {axis: number(a.get(axis, 0) + b.get(axis, 0)) for axis in {**a, **b}}


def _difference(a: Mapping[str, Number], b: Mapping[str, Number]) -> Offset:
    return {axis: number(a.get(axis, 0) - b.get(axis, 0)) for axis in {**a, **b}}
