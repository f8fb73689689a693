"""Memory as bytes with addresses.

    0x0100_0000 ...        shared memory: the cta's rank in its cluster (plus one) above bit 24, the byte below it
    0x1_0000_0000 ...      local memory of the asking thread
    0x2_0000_0000 ...      memories of a backend, one window each
    0x100_0000_0000 ...    global memory: the arrays that the kernel was given, each owner once, aligned to 256 bytes

Pointers are integers. A table of intervals tells what an address belongs to.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

__all__ = [
    "GLOBAL_BASE", "LOCAL_BASE", "SHARED_RANK_BITS", "WINDOW_BASE", "Arena", "GlobalMemory", "TypedView", "byte_view",
]  # fmt: skip

SHARED_RANK_BITS = 24
LOCAL_BASE = 1 << 32
WINDOW_BASE = 2 << 32
WINDOW_BITS = 32
GLOBAL_BASE = 1 << 40
ALIGNMENT = 256


class Arena:
    """Bytes of one memory. `stride` bytes per instance (a cta, a thread); 0 when there is one.

    `base` is the address of byte 0 of an instance. `shadow`, `watches` and `proxy` belong to the checker.
    """

    __slots__ = ("_typed", "base", "data", "initialised", "kind", "name", "proxy", "shadow", "stride", "watches")

    def __init__(self, name: str, kind: str, data: Any, base: int, stride: int = 0) -> None:
        self.name = name
        self.kind = kind
        self.data = data
        self.base = base
        self.stride = stride
        self.initialised = kind == "global"
        self.shadow: Any = None
        self.watches: Any = None
        self.proxy: Any = None
        self._typed: dict[Any, Any] = {}

    def typed(self, dtype: Any, start: int = 0) -> Any:
        """The bytes from `start` on as elements of a NumPy type."""
        key = (dtype.name, start)
        found = self._typed.get(key)
        if found is None:
            usable = (len(self.data) - start) // dtype.itemsize * dtype.itemsize
            found = self._typed[key] = self.data[start : start + usable].view(dtype)
        return found


class TypedView:
    """Elements of one type over an arena, from byte `start` on; what checked code gets."""

    __slots__ = ("arena", "array", "dtype", "start")

    def __init__(self, arena: Arena, dtype: Any, start: int = 0) -> None:
        self.arena = arena
        self.dtype = dtype
        self.start = start
        self.array = arena.typed(dtype, start)


class GlobalMemory:
    """The arrays of a call, by address. Arrays that overlap in the caller's memory overlap here."""

    def __init__(self) -> None:
        self.arenas: list[Arena] = []
        self._starts: list[int] = []
        self._owners: dict[int, tuple[int, Any]] = {}
        self._next = GLOBAL_BASE

    def add(self, name: str, array: Any) -> int:
        """Make an array addressable; its address."""
        flat = byte_view(array)
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if id(owner) not in self._owners:
            low, high = _byte_bounds(owner)
            self._owners[id(owner)] = (self._next - low, owner)
            self._next += -(-(high - low) // ALIGNMENT) * ALIGNMENT + ALIGNMENT
        shift = self._owners[id(owner)][0]
        address = int(array.__array_interface__["data"][0]) + shift
        overlapping = [a for a in self.arenas if a.base < address + len(flat) and address < a.base + len(a.data)]
        if overlapping:
            self._join(name, overlapping, address, address + len(flat), owner, shift)
        else:
            self._insert(Arena(name, "global", flat, address))
        return address

    def _join(self, name: str, arenas: list[Arena], start: int, end: int, owner: Any, shift: int) -> None:
        """Arrays that overlap become one arena."""
        start = min([start, *(a.base for a in arenas)])
        end = max([end, *(a.base + len(a.data) for a in arenas)])
        first = _byte_bounds(owner)[0] + shift
        for arena in arenas:
            at = self.arenas.index(arena)
            del self.arenas[at], self._starts[at]
        names = dict.fromkeys([*(a.name for a in arenas), name])
        self._insert(Arena("/".join(names), "global", byte_view(owner)[start - first : end - first], start))

    def allocate(self, name: str, size: int) -> Arena:
        """New global memory that belongs to no caller's array."""
        arena = Arena(name, "global", np.zeros(size, np.uint8), self._next)
        self._next += -(-size // ALIGNMENT) * ALIGNMENT + ALIGNMENT
        self._insert(arena)
        return arena

    def find(self, address: int) -> tuple[Arena, int] | None:
        """The arena that holds an address, and the byte in it."""
        at = bisect_right(self._starts, address)
        arena = self.arenas[at - 1] if at else None
        if arena is None or address >= arena.base + len(arena.data):
            return None
        return arena, address - arena.base

    def _insert(self, arena: Arena) -> None:
        at = bisect_right(self._starts, arena.base)
        self._starts.insert(at, arena.base)
        self.arenas.insert(at, arena)


def byte_view(array: Any) -> Any:
    """All bytes that an array spans, as a flat array of its memory."""
    if array.size == 0:
        return np.zeros(0, np.uint8)
    if array.flags.c_contiguous:
        return array.reshape(-1).view(np.uint8)
    span = sum((size - 1) * step for size, step in zip(array.shape, array.strides, strict=True)) // array.itemsize + 1
    return np.lib.stride_tricks.as_strided(array, (span,), (array.itemsize,), writeable=array.flags.writeable).view(
        np.uint8
    )


def _byte_bounds(array: Any) -> tuple[int, int]:
    """First and last (excluded) byte of an array's memory; steps are not negative."""
    first = int(array.__array_interface__["data"][0])
    span = sum((size - 1) * step for size, step in zip(array.shape, array.strides, strict=True))
    return first, first + span + array.itemsize
