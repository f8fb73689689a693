"""Layouts put into layouts, dimension by dimension, and taken apart again.

`tile` repeats an inner layout: dimension d of the result is outer_d then inner_d, and a step of the outer layout moves by the
span of the inner one. In a direct sum the dimensions interleave the same way and nothing is scaled.

    S[(8, 8):(8, 1)] tiled by S[(2, 3):(3, 1)]   ->   S[(2, 8, 3, 8):(192, 8, 64, 1)]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import Any, TypeVar

from ..support.errors import LayoutError
from .canonical import canonicalize, fuse_iters
from .group import group
from .iters import Iter, Number, divides, number, over, product, row_major_strides, same
from .mistakes import mistake, numbers
from .parts import Parts
from .span import span

__all__ = ["direct_sum", "inner_of", "left_of", "outer_of", "right_of", "row_major_outer", "tile"]

P = TypeVar("P", bound=Parts)
Dims = list[list[Iter]]


def tile(inner: P, outer: Parts, outer_shape: Sequence[Any], inner_shape: Sequence[Any]) -> P:
    """`inner` repeated as `outer` says; a dimension of the result is outer_d times inner_d."""
    _same_rank(outer_shape, inner_shape)
    steps, _ = group(outer.replaced(shard=fuse_iters(outer.shard)), outer_shape)
    return direct_sum(inner, _scaled(steps, inner), outer_shape, inner_shape)


def direct_sum(right: P, left: Parts, left_shape: Sequence[Any], right_shape: Sequence[Any]) -> P:
    """The positions of both added; dimension d is left_d then right_d."""
    _same_rank(left_shape, right_shape)
    pairs = zip(_dims(left, left_shape), _dims(right, right_shape), strict=True)
    shard = [item for outer, inner in pairs for item in (*outer, *inner)]
    offset = {
        axis: number(left.offset.get(axis, 0) + right.offset.get(axis, 0)) for axis in {**left.offset, **right.offset}
    }
    return canonicalize(right.replaced(shard, (*left.replica, *right.replica), offset))


def row_major_outer(layout: P, to_shape: Sequence[Any], current_shape: Sequence[Any]) -> tuple[P, list[Number]]:
    """The row-major layout that repeats a tile of `current_shape` up to `to_shape`, and its shape."""
    _same_rank(to_shape, current_shape)
    shape = _quotients(to_shape, current_shape)
    steps = row_major_strides(shape)
    made = [Iter(extent, stride) for extent, stride in zip(shape, steps, strict=True)]
    return layout.replaced(made or [Iter(1, 1)], [], {}), shape


# ---- inverses -----------------------------------------------------------------------------------------------------


def left_of(right: Parts, total: P, shape: Sequence[Any], right_shape: Sequence[Any]) -> P | None:
    """The layout whose direct sum with `right` is `total`; None when there is none. `shape` interleaves both."""
    lefts = _halves(shape, right_shape, second=True)
    return _difference(right, total, lefts, right_shape, part_is_right=True)


def right_of(left: Parts, total: P, shape: Sequence[Any], left_shape: Sequence[Any]) -> P | None:
    """The layout with which `left` has the direct sum `total`; None when there is none. `shape` interleaves both."""
    rights = _halves(shape, left_shape, second=False)
    return _difference(left, total, left_shape, rights, part_is_right=False)


def outer_of(inner: Parts, total: P, total_shape: Sequence[Any], inner_shape: Sequence[Any]) -> P | None:
    """The layout by which `inner` is tiled in `total`; None when it is not."""
    _same_rank(total_shape, inner_shape)
    scaled = _difference(inner, total, _quotients(total_shape, inner_shape), inner_shape, part_is_right=True)
    return None if scaled is None else _unscaled(scaled, inner)


def inner_of(outer: Parts, total: P, total_shape: Sequence[Any], outer_shape: Sequence[Any]) -> P | None:
    """The layout that `outer` repeats in `total`; None when it repeats none."""
    _same_rank(total_shape, outer_shape)
    inner_shape = _quotients(total_shape, outer_shape)
    parts = _grouped(total, outer_shape, inner_shape)
    if parts is None:
        return None
    shard = [item for dim in parts[1] for item in dim]
    offset = _minus(total.offset, outer.offset)
    copies = len(total.replica) - len(outer.replica)
    wanted = canonicalize(total)
    for replica in combinations(total.replica, copies) if copies >= 0 else ():
        inner = total.replaced(shard, replica, offset)
        if tile(inner, outer, outer_shape, inner_shape) == wanted:
            return inner
    return None


def _difference(
    part: Parts, total: P, left_shape: Sequence[Any], right_shape: Sequence[Any], *, part_is_right: bool
) -> P | None:
    """What the direct sum `total` has beside `part`."""
    parts = _grouped(total, left_shape, right_shape)
    if parts is None:
        return None
    known, rest = (parts[1], parts[0]) if part_is_right else parts
    wanted = _dims(part, right_shape if part_is_right else left_shape)
    if not all(fuse_iters(a) == fuse_iters(b) or _all_unit(a, b) for a, b in zip(known, wanted, strict=True)):
        return None
    replica = _without(total.replica, part.replica)
    if replica is None:
        return None
    return total.replaced([item for dim in rest for item in dim], replica, _minus(total.offset, part.offset))


def _all_unit(a: Sequence[Iter], b: Sequence[Iter]) -> bool:
    return all(same(item.extent, 1) for item in (*a, *b))


def _grouped(total: Parts, left_shape: Sequence[Any], right_shape: Sequence[Any]) -> tuple[Dims, Dims] | None:
    """Iters of the left and of the right dimensions, each fused; None when the layout does not split so."""
    shape = [extent for pair in zip(left_shape, right_shape, strict=True) for extent in pair]
    if not same(product(map(number, shape)), product(item.extent for item in total.shard)):
        _no_elements(total, shape)
    try:
        dims = _dims(total, shape)
    except LayoutError:  # its iters cross the dimensions
        return None
    fused = [fuse_iters(dim) for dim in dims]
    return fused[0::2], fused[1::2]


def _dims(layout: Parts, shape: Sequence[Any]) -> Dims:
    grouped, separators = group(layout.replaced(shard=fuse_iters(layout.shard)), shape)
    return [list(grouped.shard[start:stop]) for start, stop in pairwise(separators)]


def _without(all_of: Sequence[Iter], some: Sequence[Iter]) -> list[Iter] | None:
    left = list(all_of)
    for item in some:
        if item not in left:
            return None
        left.remove(item)
    return left


def _minus(a: dict[str, Number], b: dict[str, Number]) -> dict[str, Number]:
    return {axis: number(a.get(axis, 0) - b.get(axis, 0)) for axis in {**a, **b}}


# ---- scaling by spans ---------------------------------------------------------------------------------------------


def _scaled(outer: P, inner: Parts) -> P:
    """Steps of `outer` in units of `inner`; offsets stay as they are."""
    return _restrided(outer, lambda item: number(item.stride * span(inner, item.axis)))


def _unscaled(layout: P, inner: Parts) -> P | None:
    """The inverse; None when a step is no multiple of the span."""
    iters = [item for item in (*layout.shard, *layout.replica) if not same(item.extent, 1)]
    if not all(divides(span(inner, item.axis), item.stride) for item in iters):
        return None
    return _restrided(layout, lambda item: _divided(item.stride, span(inner, item.axis)))


def _divided(stride: Number, by: Number) -> Number:
    return over(stride, by) if not same(by, 0) and divides(by, stride) else 1


def _restrided(layout: P, stride: Callable[[Iter], Number]) -> P:
    return layout.replaced(
        [Iter(item.extent, stride(item), item.axis) for item in layout.shard],
        [Iter(item.extent, stride(item), item.axis) for item in layout.replica],
    )


# ---- shapes -------------------------------------------------------------------------------------------------------


def _quotients(total: Sequence[Any], part: Sequence[Any]) -> list[Number]:
    """`total` divided by `part`, dimension by dimension."""
    sized = [(number(a), number(b)) for a, b in zip(total, part, strict=True)]
    for dim, (whole, piece) in enumerate(sized):
        if not divides(piece, whole):
            raise mistake(
                f"dimension {dim} of extent {numbers([whole])} is no whole number of tiles of {numbers([piece])}",
                hint="use a shape that the tile divides, and treat the rest apart",
            )
    return [over(whole, piece) for whole, piece in sized]


def _halves(shape: Sequence[Any], known: Sequence[Any], *, second: bool) -> list[Any]:
    """The other dimensions of an interleaved shape, of which `known` is every second one."""
    if len(shape) != 2 * len(known):
        raise mistake(
            f"an interleaved shape of {len(shape)} dimensions for {len(known)}",
            hint="give (left_0, right_0, left_1, right_1, ...)",
        )
    mine, other = (shape[1::2], shape[0::2]) if second else (shape[0::2], shape[1::2])
    if not all(same(number(a), number(b)) for a, b in zip(mine, known, strict=True)):
        raise mistake(
            f"the interleaved shape ({_text(shape)}) does not hold ({_text(known)})",
            hint="give (left_0, right_0, left_1, right_1, ...)",
        )
    return list(other)


def _same_rank(a: Sequence[Any], b: Sequence[Any]) -> None:
    if len(a) != len(b):
        raise mistake(
            f"shapes ({_text(a)}) and ({_text(b)}) have {len(a)} and {len(b)} dimensions",
            hint="give both the same number; a dimension that is not tiled has 1",
        )


def _no_elements(layout: Parts, shape: Sequence[Any]) -> None:
    group(layout, shape)  # which says that the sizes differ


def _text(shape: Sequence[Any]) -> str:
    return numbers(number(extent) for extent in shape)
