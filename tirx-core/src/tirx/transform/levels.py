"""Sizes of all levels of a launch from the sizes of its axes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import prod

from ..target import ScopeModel

__all__ = ["launch_levels"]


def launch_levels(model: ScopeModel, extents: Mapping[str, int | None]) -> dict[tuple[str, str], int | None]:
    """`{("cta", "thread"): 256, ("cta", "warp"): 8, ...}`; None where only the launch knows.

    `extents` are those of the launch axes.
    """
    known: dict[tuple[str, str], int | None] = {}
    for level in model.levels:
        for parent, axes in level.axes.items():
            sizes = [extents.get(axis, 1) for axis in axes]
            if level.name in model and (not model[parent].optional or any(axis in extents for axis in axes)):
                known[parent, level.name] = None if None in sizes else prod(size for size in sizes if size is not None)
        for parent, width in level.widths.items():
            known[parent, level.name] = width
    for _ in model.levels:
        for a, b, c in combinations(model.names, 3):
            _complete(known, (a, b, c))
    return known


def _complete(known: dict[tuple[str, str], int | None], levels: tuple[str, str, str]) -> None:
    a, b, c = levels
    whole, outer, inner = known.get((a, c)), known.get((a, b)), known.get((b, c))
    if whole is None and outer is not None and inner is not None:
        known[a, c] = outer * inner
    elif whole is not None and inner is not None and (a, b) not in known:
        known[a, b] = -(-whole // inner)
    elif whole is not None and outer is not None and (b, c) not in known and whole % outer == 0:
        known[b, c] = whole // outer
