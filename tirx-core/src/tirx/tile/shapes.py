"""Extents of regions: which are alike, how one lies along another. What is not provable counts as different."""

from __future__ import annotations

from collections.abc import Sequence

from ..arith import Analyzer
from ..ir import BufferRegion, Expr, IntImm, as_expr

__all__ = ["Extent", "aligned", "extents_of", "is_one", "keeps_shape", "same", "same_extents", "shape_text", "squeezed"]

Extent = int | Expr


def extents_of(region: BufferRegion) -> tuple[Extent, ...]:
    """Extents of a region; Python ints where they are known."""
    return tuple(item.value if isinstance(item, IntImm) else item for item in region.extents)


def is_one(extent: Extent) -> bool:
    """Whether an extent is the constant 1."""
    return isinstance(extent, int) and extent == 1


def squeezed(extents: Sequence[Extent]) -> tuple[Extent, ...]:
    """The extents without those that are 1."""
    return tuple(item for item in extents if not is_one(item))


def same(a: Extent, b: Extent) -> bool:
    """Whether two extents are provably equal."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return Analyzer().equal(a, b)


def same_extents(a: Sequence[Extent], b: Sequence[Extent]) -> bool:
    """Whether two shapes are provably equal."""
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))


def keeps_shape(a: Sequence[Extent], b: Sequence[Extent]) -> bool:
    """Whether two shapes are provably equal once extents of 1 are dropped."""
    return same_extents(squeezed(a), squeezed(b))


def aligned(tile: Sequence[Extent], onto: Sequence[Extent]) -> tuple[int | None, ...] | None:
    """For each dimension of shape `tile` the dimension of `onto` that it runs along; None where it is 1 and stretched.

    As in NumPy dimensions meet from the right and an extent of 1 stretches; where that does not fit, shapes that are equal
    without their extents of 1 do. None altogether when the shapes do not fit.
    """
    at = len(onto) - len(tile)
    found: list[int | None] = []
    for number, extent in enumerate(tile):
        if is_one(extent):
            found.append(None)
        elif number + at >= 0 and same(extent, onto[number + at]):
            found.append(number + at)
        else:
            return _by_order(tile, onto)
    return tuple(found)


def _by_order(tile: Sequence[Extent], onto: Sequence[Extent]) -> tuple[int | None, ...] | None:
    if not keeps_shape(tile, onto):
        return None
    places = iter([number for number, extent in enumerate(onto) if not is_one(extent)])
    return tuple(None if is_one(extent) else next(places) for extent in tile)


def shape_text(extents: Sequence[Extent]) -> str:
    """A shape as people write it."""
    inner = ", ".join(str(item) if isinstance(item, int) else as_expr(item).script() for item in extents)
    return f"({inner},)" if len(extents) == 1 else f"({inner})"
