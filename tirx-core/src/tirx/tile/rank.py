"""Numbers of threads among those that do an operation together, as expressions over scope ids.

A full warp is numbered by the lane, `if warp >= 4` in a cta by `thread - 128`, the first 4 lanes of each warp of a cta by
`warp * 4 + lane`.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir import Add, Expr, FloorDiv, FloorMod, Mul, Sub, binary, const
from .active import Share
from .space import Space
from .steps import numbers, progressions

__all__ = ["rank_of"]

Ids = Callable[[str, str], Expr]
"""`(child, within)`: the id of the one in the other."""


def rank_of(share: Share, space: Space, ids: Ids) -> Expr | None:
    """The number of a thread in its share; None where the active threads form no regular pattern."""
    outer = _Ranks(space, ids, share.unit).mask(share.scope, share.outer)
    inner = _Ranks(space, ids, "thread").mask(share.child, share.inner)
    if outer is None or inner is None:
        return None
    return _plus(_times(outer, share.inner.bit_count()), inner)


class _Ranks:
    """Ranks of members of level `unit`."""

    def __init__(self, space: Space, ids: Ids, unit: str) -> None:
        self.space = space
        self.ids = ids
        self.unit = unit

    def mask(self, within: str, mask: int) -> Expr | None:
        """The rank among those members of a `within` that are in `mask`."""
        positions = numbers(mask)
        steps = progressions(positions)
        return None if steps is None else self.steps(within, positions[0], steps)

    def steps(self, within: str, offset: int, steps: list[tuple[int, int]]) -> Expr:
        """The rank among the positions `offset + i0 * stride0 + i1 * stride1 ...` in a `within`."""
        if not steps:
            return const(0)
        whole = self._stepping(within, steps)
        if whole is not None:
            size = self._units(whole)
            wider = [(count, stride // size) for count, stride in steps]
            return _Ranks(self.space, self.ids, whole).steps(within, offset // size, wider)
        level = self._between(within, offset, steps)
        if level is not None:
            size = self._units(level)
            count, _ = steps[0]
            inner = self.steps(level, offset % size, steps[:1])
            higher = _Ranks(self.space, self.ids, level)
            outer = higher.steps(within, offset // size, [(n, stride // size) for n, stride in steps[1:]])
            return _plus(_times(outer, count), inner)
        return self._arithmetic(_minus(self.ids(self.unit, within), offset), steps)

    def _stepping(self, within: str, steps: list[tuple[int, int]]) -> str | None:
        """The widest level of which each member has one of the positions at most, all at the same place."""
        for level in self.space.levels:
            inside = self.space.sizes[self.unit] < self.space.sizes[level] < self.space.sizes[within]
            if inside and all(stride % self._units(level) == 0 for _, stride in steps):
                return level
        return None

    def _between(self, within: str, offset: int, steps: list[tuple[int, int]]) -> str | None:
        """A level whose size is the second stride, when the innermost step stays inside one member of it."""
        if len(steps) < 2:
            return None
        (count, stride), (_, size) = steps[:2]
        for level in self.space.levels:
            inside = self.space.sizes[self.unit] < self.space.sizes[level] < self.space.sizes[within]
            if inside and self._units(level) == size and offset % size + (count - 1) * stride < size:
                return level if all(outer % size == 0 for _, outer in steps[1:]) else None
        return None

    def _units(self, level: str) -> int:
        return self.space.sizes[level] // self.space.sizes[self.unit]

    @staticmethod
    def _arithmetic(position: Expr, steps: list[tuple[int, int]]) -> Expr:
        rank: Expr = const(0)
        below = 1
        for number, (count, stride) in enumerate(steps):
            part = position
            if number + 1 < len(steps):
                part = binary(FloorMod, part, const(steps[number + 1][1], part.dtype))
            rank = _plus(_times(_divided(part, stride), below), rank)
            below *= count
        return rank


def _plus(a: Expr, b: Expr) -> Expr:
    if getattr(a, "value", None) == 0:
        return b
    return a if getattr(b, "value", None) == 0 else binary(Add, a, b)


def _minus(a: Expr, number: int) -> Expr:
    return binary(Sub, a, const(number, a.dtype)) if number else a


def _times(a: Expr, number: int) -> Expr:
    return a if number == 1 or getattr(a, "value", None) == 0 else binary(Mul, a, const(number, a.dtype))


def _divided(a: Expr, number: int) -> Expr:
    return binary(FloorDiv, a, const(number, a.dtype)) if number > 1 else a
