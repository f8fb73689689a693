"""Iters lined up with dimensions: `group`, `group_many`, and orders of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

from ..support.errors import LayoutError
from .iters import Iter, Number, cut, divides, number, over, product, same
from .mistakes import mistake, numbers
from .parts import Parts
from .text import spec_text

__all__ = ["group", "group_many", "permute_by_groups", "permute_dims"]

P = TypeVar("P", bound=Parts)


def group(layout: P, shape: Sequence[Any]) -> tuple[P, list[int]]:
    """The layout with iters split so that they line up with `shape`, and the separators between dimensions.

    Dimension d owns `shard[separators[d]:separators[d + 1]]`; a dimension of extent 1 owns a unit iter. `LayoutError` when an
    iter would have to be cut unevenly.
    """
    extents = [number(extent) for extent in shape]
    pending = [item for item in layout.shard if not same(item.extent, 1)]
    axis = layout.shard[0].axis
    shard: list[Iter] = []
    separators = [0]
    for extent in extents:
        taken = _take(pending, extent)
        if taken is None:
            raise _cannot_group(layout, extents)
        axis = pending[0].axis if pending else taken[-1].axis if taken else axis
        shard += taken or [Iter(1, 1, axis)]
        separators.append(len(shard))
    if pending or not extents:
        raise _cannot_group(layout, extents)
    return layout.replaced(shard=shard), separators


def _take(pending: list[Iter], extent: Number) -> list[Iter] | None:
    """Iters of `extent` elements in all, taken from the front of `pending`; None when one does not split so."""
    taken: list[Iter] = []
    left = extent
    while not same(left, 1):
        if not pending:
            return None
        item = pending.pop(0)
        if divides(item.extent, left):
            left = over(left, item.extent)
            taken.append(item)
        elif divides(left, item.extent):
            head, tail = cut(item, left)
            taken.append(head)
            pending.insert(0, tail)
            left = 1
        else:
            return None
    return taken


def _cannot_group(layout: Parts, shape: Sequence[Number]) -> LayoutError:
    total, size = product(shape), product(item.extent for item in layout.shard)
    hint = "each dimension is a product of extents, or of parts that divide them"
    if not same(total, size):
        hint = f"the layout has {numbers([size])} elements, the shape {numbers([total])}"
    text = numbers(shape) + ("," if len(shape) == 1 else "")
    return mistake(f"layout {spec_text(layout)} can not be grouped by shape ({text})", hint=hint)


def group_many(layout: P, shapes: Sequence[Sequence[Any]]) -> tuple[P, list[list[int]]]:
    """The layout with iters split so that they line up with every one of `shapes`, and the separators of each."""
    if not shapes:
        raise mistake("group_many needs at least one shape", hint="give a list of shapes")
    sized = [[number(extent) for extent in shape] for shape in shapes]
    made, _ = group(layout, _common(sized))
    return made, [_separators(made.shard, shape) for shape in sized]


def _common(shapes: Sequence[Sequence[Number]]) -> list[Number]:
    """The coarsest shape that every one of `shapes` is a product of."""
    ends: list[Number] = []
    for shape in shapes:
        total: Number = 1
        for extent in shape:
            total = number(total * extent)
            if not any(same(total, end) for end in ends):
                ends.append(total)
    ordered: list[Number] = [1]
    while ends:
        step = next((end for end in ends if all(divides(end, other) for other in ends)), None)
        if step is None or not divides(ordered[-1], step):
            raise mistake(
                f"the shapes {', '.join(f'({numbers(shape)})' for shape in shapes)} have no common refinement",
                hint="of the products of their first dimensions each must divide the next",
            )
        ends = [end for end in ends if not same(end, step)]
        ordered.append(step)
    return [over(after, before) for before, after in pairwise(ordered) if not same(before, after)] or [1]


def _separators(shard: Sequence[Iter], shape: Sequence[Number]) -> list[int]:
    """Where the dimensions of `shape` begin among iters that line up with them."""
    separators, position = [0], 0
    for extent in shape:
        total: Number = 1
        while not same(total, extent):
            total = number(total * shard[position].extent)
            position += 1
        separators.append(position)
    separators[-1] = len(shard)
    return separators


def permute_dims(layout: P, order: Sequence[int]) -> P:
    """Shard iters in another order."""
    _require_permutation(order, len(layout.shard))
    return layout.replaced(shard=[layout.shard[i] for i in order])


def permute_by_groups(layout: P, separators: Sequence[int], order: Sequence[int]) -> P:
    """Groups of shard iters (as `group` answers them) in another order."""
    if list(separators) != sorted(separators) or [*separators[:1], *separators[-1:]] != [0, len(layout.shard)]:
        raise mistake(
            f"{list(separators)} are no separators of {len(layout.shard)} iters",
            hint=f"they rise from 0 to {len(layout.shard)}, as group() answers them",
        )
    _require_permutation(order, len(separators) - 1)
    return layout.replaced(shard=[item for d in order for item in layout.shard[separators[d] : separators[d + 1]]])


def _require_permutation(order: Sequence[int], count: int) -> None:
    if sorted(order) != list(range(count)):
        raise mistake(
            f"{list(order)} is no permutation of {count} dimensions",
            hint="name each dimension from 0 on once",
        )
