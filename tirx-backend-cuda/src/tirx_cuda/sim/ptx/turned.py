"""How tensor copies turned (swizzled) what lies in shared memory, against how products read it.

Each unit of 16 bytes has a mark: 0 for unknown, else the map's swizzle and one. Where an ordinary store wrote last, it does not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tensor_map import SWIZZLES
from .address import offset_of, rank_of
from .described import UNIT
from .run import Op

__all__ = ["compare", "mark"]

_UNITS = 1 << (18 - 4)  # of 256 KiB
_BY_UNITS = {0: 0, 1: 1, 3: 2, 7: 3}  # units that change places, as descriptors say it -> a map's swizzle


class _Marks:
    def __init__(self) -> None:
        self.codes = np.zeros(_UNITS, np.int8)
        self.sites: list[Any] = [None]
        self.by = np.zeros(_UNITS, np.int32)


def _of(op: Op, address: int) -> _Marks:
    known: dict[tuple[int, int], _Marks] = op.ctx.state.setdefault("turned", {})
    key = int(np.asarray(op.ctx.group("cluster")).reshape(-1)[0]), rank_of(address)
    return known.setdefault(key, _Marks())


def _units(addresses: Any) -> Any:
    return offset_of(addresses) // 16 % _UNITS


def mark(op: Op, addresses: Any, swizzle: int | None) -> None:
    """One thread's copy writes units of one cta; None: in no way that says something."""
    addresses = np.asarray(addresses)
    if not len(addresses):
        return
    marks = _of(op, int(addresses[0]))
    at = _units(addresses)
    marks.codes[at] = 0 if swizzle is None else swizzle + 1
    if swizzle is not None:
        if marks.sites[-1] is not op.ctx.site:
            marks.sites.append(op.ctx.site)
        marks.by[at] = len(marks.sites) - 1


def compare(op: Op, addresses: Any, units: int, what: str) -> None:
    """One thread's (or warp's) product reads units of one cta whose descriptor turns so many of them."""
    if "turned" not in op.ctx.state or not len(addresses):
        return
    marks, at = _of(op, int(addresses[0])), _units(addresses)
    wanted = _BY_UNITS.get(int(units))
    codes = marks.codes[at]
    wrong = (codes > 0) & (codes <= len(_BY_UNITS)) & (codes != (wanted or 0) + 1)
    if wanted is None or not wrong.any():
        return
    first = int(np.flatnonzero(wrong)[0])
    one: Any = op.alone(0).ctx.repeated([1])
    if one.ordinary(addresses[first : first + 1], UNIT).any():
        return
    names = SWIZZLES[wanted].name, SWIZZLES[int(codes[first]) - 1].name
    text = f"`{what}` reads with swizzle {names[0]} what a tensor copy wrote with swizzle {names[1]}"
    note = "the descriptor of the matrix and the tensor map must say the same"
    op.ctx.finding("swizzle", text, np.arange(op.count) == 0, other=marks.sites[int(marks.by[at[first]])], notes=[note])
