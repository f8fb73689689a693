"""The canonical form: unit iters dropped, neighbours that continue each other fused, axes joined, replicas in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from .fuse import Widths, fuse_axes
from .iters import Iter, number, same
from .parts import Parts
from .text import number_text

__all__ = ["canonicalize", "fuse_iters", "ordered"]

P = TypeVar("P", bound=Parts)


def canonicalize(layout: P, scopes: Widths | None = None) -> P:
    """The same map in fewer iters. With a scope model, thread axes that count one after the other become one axis."""
    if scopes is not None:
        layout = fuse_axes(layout.replaced(shard=_without_units(layout.shard)), scopes)
    return layout.replaced(shard=fuse_iters(layout.shard), replica=ordered(layout.replica))


def fuse_iters(shard: Sequence[Iter]) -> list[Iter]:
    """Iters without units, neighbours that continue each other as one; a unit iter when nothing is left."""
    fused: list[Iter] = []
    for item in _without_units(shard):
        last = fused[-1] if fused else None
        if last is not None and last.axis == item.axis and same(last.stride, number(item.extent * item.stride)):
            fused[-1] = Iter(number(last.extent * item.extent), item.stride, item.axis)
        elif not same(item.extent, 1):
            fused.append(item)
    return fused or [Iter(1, 1, shard[0].axis)]


def _without_units(shard: Sequence[Iter]) -> list[Iter]:
    return [item for item in shard if not same(item.extent, 1)] or [Iter(1, 1, shard[0].axis)]


def ordered(replica: Sequence[Iter]) -> list[Iter]:
    """Replicas in an order that does not depend on how they were written: by axis, then stride and extent."""
    return sorted(replica, key=_rank)


def _rank(item: Iter) -> tuple[Any, ...]:
    return (item.axis, *(part for value in (item.stride, item.extent) for part in _number_rank(value)))


def _number_rank(value: Any) -> tuple[bool, int, str]:
    return (False, value, "") if isinstance(value, int) else (True, 0, number_text(value))
