"""Matrices in shared memory, where the descriptors of `wgmma` and `tcgen05` say that they are.

They are read in units of 16 bytes; what a product needs of a row (or column) are 32 bytes, two units (of B beside a sparse A, four).
PTX ISA, "Strides", "Canonical layouts" and "Swizzling modes".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.ir import DType
from tirx.sim.memory import SHARED_RANK_BITS

from .address import in_cta
from .fragments import elements
from .run import Op

__all__ = ["UNIT", "Place"]

UNIT = DType("uint32x4")
_WGMMA = np.array([0, 7, 3, 1])  # how many units change places, by mode: none, rows of 128, 64 and 32 bytes
_TCGEN05 = np.array([0, 0, 7, 0, 3, 0, 1, 0])
_IN_UNITS_OF_32 = 1
_SIZES = {"f16": 2, "bf16": 2, "ti16": 2, "tf32": 4}


class Place:
    """Descriptors, an element for each active thread, and the matrices that they describe.

    `transposed`: units run along m or n, not along k. `depth`: units of 16 bytes that a row has along k.
    """

    __slots__ = ("base", "depth", "kind", "leading", "stride", "swizzled", "transposed")

    def __init__(self, op: Op, descriptor: Any, swizzled: Any, transposed: bool, kind: str, depth: int) -> None:
        if ((descriptor >> 49) & 7).any():
            op.ctx.unmodelled("a base offset in a matrix descriptor")
        if transposed and kind == "tf32":
            op.ctx.unmodelled("a matrix of tf32 that is transposed")
        if not transposed and ((swizzled > 0) & (swizzled + 1 < depth)).any():
            op.ctx.unmodelled("rows of a matrix that are wider than its swizzling pattern")
        self.swizzled, self.transposed, self.kind, self.depth = swizzled, transposed, kind, depth
        self.leading, self.stride = ((descriptor >> 16) & 0x3FFF) << 4, ((descriptor >> 32) & 0x3FFF) << 4
        rank = np.asarray(op.ctx.id("cta", "cluster")).astype(np.int64)
        self.base = ((descriptor & 0x3FFF) << 4) | (rank + 1) << SHARED_RANK_BITS

    @classmethod
    def of_wgmma(cls, op: Op, descriptor: Any, transposed: bool, kind: str, depth: int = 2) -> Place:
        """What a descriptor of wgmma means."""
        return cls(op, descriptor, _WGMMA[(descriptor >> 62) & 3], transposed, kind, depth)

    @classmethod
    def of_tcgen05(cls, op: Op, descriptor: Any, transposed: bool, kind: str, depth: int = 2) -> Place:
        """What a descriptor of tcgen05 means."""
        mode = (descriptor >> 61) & 7
        if (mode == _IN_UNITS_OF_32).any() or ((descriptor >> 52) & 1).any():
            op.ctx.unmodelled("a matrix descriptor with units of 32 bytes, or with a leading address")
        return cls(op, descriptor, _TCGEN05[mode], transposed, kind, depth)

    def repeated(self, count: int) -> Place:
        """Every descriptor `count` times."""
        made = Place.__new__(Place)
        for name in ("base", "leading", "stride", "swizzled"):
            setattr(made, name, np.repeat(getattr(self, name), count))
        made.transposed, made.kind, made.depth = self.transposed, self.kind, self.depth
        return made

    def in_rank(self, rank: Any) -> Place:
        """The same descriptors in the shared memory of another cta of the cluster."""
        made = self.repeated(1)
        made.base = in_cta(self.base, rank)
        return made

    @property
    def _elements(self) -> int:
        """Elements of a unit."""
        return 16 // _SIZES.get(self.kind, 1)

    def address(self, unit: Any, first: Any = 0) -> Any:
        """Where unit number `unit` lies, of the rows from `first` on."""
        width = self.swizzled + 1  # units in a row of the pattern
        if self.transposed:
            depth = self.depth * self._elements
            inner, outer = unit % depth, unit // depth + first // self._elements
            plain = inner % 8 * 16 + inner // 8 * self.leading + outer * self.stride
            turned = (
                inner % 8 * width * 16 + inner // 8 * self.stride + outer % width * 16 + outer // width * self.leading
            )
        else:
            inner, outer = unit % self.depth, unit // self.depth + first
            plain = outer % 8 * 16 + outer // 8 * self.stride + inner * self.leading
            turned = outer % 8 * width * 16 + outer // 8 * self.stride + inner * 16
        place = self.base + np.where(self.swizzled == 0, plain, turned)
        return place ^ (((place >> 7) & self.swizzled) << 4)

    def matrices(self, units: Any) -> Any:
        """Units (matrices, units, words) as rows of elements (matrices, rows, k)."""
        count, rows = len(units), units.shape[1] // self.depth
        made = elements(np.ascontiguousarray(units), self.kind).reshape(count, units.shape[1], -1)
        if not self.transposed:
            return made.reshape(count, rows, -1)
        each, deep = self._elements, self.depth * self._elements
        return made.reshape(count, rows // each, deep, each).swapaxes(2, 3).reshape(count, rows, deep)
