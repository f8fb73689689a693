"""Which threads a layout spreads over: the chain of levels that its thread axes count."""

from __future__ import annotations

from collections.abc import Iterable

from ..support.errors import LayoutError
from .axis import Axis
from .mistakes import mistake
from .names import axis_named
from .parts import Parts
from .text import spec_text

__all__ = ["get_scope", "thread_axes"]


def thread_axes(layout: Parts) -> tuple[Axis, ...]:
    """The thread axes of a layout, in order of appearance."""
    rows = (axis_named(name) for name in layout.axes())
    return tuple(row for row in rows if row is not None and row.is_thread())


def get_scope(layout: Parts) -> tuple[str, str] | None:
    """(level that is counted, level inside which) of all thread axes together; None without thread axes.

    `laneid` and `warpid` together count `thread` inside `cta`. Raises `LayoutError` for axes that are no chain: two that count
    the same level inside different ones, or a gap between them.
    """
    axes = thread_axes(layout)
    if not axes:
        return None
    parents: dict[str, tuple[str, str]] = {}
    for axis in axes:
        level, within = str(axis.level), str(axis.within)
        known = parents.setdefault(level, (within, axis.name))
        if known[0] != within:
            raise _no_chain(
                layout, f"`{known[1]}` and `{axis.name}` both count {level}, inside {known[0]} and {within}"
            )
    inner = [level for level in parents if level not in {within for within, _ in parents.values()}]
    chain = _climb(parents, inner[0]) if inner else []
    if len(chain) != len(parents):
        raise _no_chain(layout, f"there is a gap between {_list(parents[level][1] for level in parents)}")
    return chain[0], parents[chain[-1]][0]


def _climb(parents: dict[str, tuple[str, str]], level: str) -> list[str]:
    """`level` and the levels around it, as far as there are axes for them."""
    chain: list[str] = []
    while level in parents and level not in chain:
        chain.append(level)
        level = parents[level][0]
    return chain


def _list(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _no_chain(layout: Parts, why: str) -> LayoutError:
    return mistake(
        f"the thread axes of {spec_text(layout)} are no chain of levels: {why}",
        hint="use axes of which each counts inside what the next one counts, such as laneid with warpid",
    )
