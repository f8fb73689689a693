"""The state of one chunk of ctas while it runs: arrays that the translated blocks read by name, and its memories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import find
from ..ir import variable_of
from ..support.errors import SimulationError
from .geometry import Geometry
from .memory import LOCAL_BASE, SHARED_RANK_BITS, WINDOW_BASE, WINDOW_BITS, Arena, GlobalMemory, TypedView
from .pending import Pending
from .translate import Translation

__all__ = ["Chunk", "bytes_per_cta", "prepare"]

GARBAGE = 0xCD  # what uninitialised memory holds


class Chunk:
    """See the module. Attributes named by the translation (`v_n`, `r_acc`, `m_A_float32`, `ax_cta_x`) are set by `prepare`."""

    def __init__(self, geometry: Geometry, patience: int) -> None:
        self.geometry = geometry
        self.patience = patience
        self.size = geometry.size
        self.owned: set[str] = set()
        self.changed = False
        self.arenas: dict[str, Arena] = {}
        self.windows: list[Arena] = []
        self.pending = Pending(self.size)
        self.state: dict[str, Any] = {}  # what meanings keep between calls


def bytes_per_cta(translation: Translation, threads: int) -> int:
    """Memory that one cta needs while it runs: shared, local, registers and a share of temporaries."""
    per_thread = translation.facts.local_bytes + 256
    per_thread += sum(r.count * r.dtype.itemsize for r in translation.pool.registers.values())
    return int(sum(translation.facts.space_bytes.values()) + per_thread * threads)


def prepare(
    translation: Translation,
    geometry: Geometry,
    values: list[Any],
    memory: GlobalMemory,
    cached: dict[str, Any],
    *,
    checked: bool,
    patience: int,
) -> Chunk:
    """The state before the first block. `values`: per parameter a number, or an address for pointers."""
    chunk = Chunk(geometry, patience)
    _memories(translation, chunk)
    for param, value in zip(translation.facts.func.params, values, strict=True):
        data = variable_of(param)
        setattr(chunk, translation.pool.name(data), value)
    for view in translation.pool.views.values():
        setattr(chunk, view.name, _view(view, chunk, values, memory, checked))
    for register in translation.pool.registers.values():
        shape = (geometry.size,) if register.is_scalar else (register.count, geometry.size)
        setattr(chunk, register.name, np.zeros(shape, register.dtype))
        for name, kind, first in register.arrays:
            setattr(chunk, name, np.full(shape, first, kind))
    _identities(translation, chunk, cached)
    return chunk


def _memories(translation: Translation, chunk: Chunk) -> None:
    geometry = chunk.geometry
    for number, (space, size) in enumerate(translation.facts.space_bytes.items()):
        stride = -(-max(size, 1) // 128) * 128
        base = 1 << SHARED_RANK_BITS if space == "shared" else WINDOW_BASE + (number << WINDOW_BITS)
        row = find("storage_scopes", space)
        zero = row is not None and row.initial == "zero"
        data = np.full(stride * geometry.ctas, 0 if zero else GARBAGE, np.uint8)
        chunk.arenas[space] = Arena(space, "shared", data, base, stride)
        chunk.arenas[space].initialised = zero
        chunk.windows.append(chunk.arenas[space])
    stride = -(-translation.facts.local_bytes // 16) * 16
    if stride:
        chunk.arenas["local"] = Arena(
            "local", "local", np.full(stride * geometry.size, GARBAGE, np.uint8), LOCAL_BASE, stride
        )


def _view(view: Any, chunk: Chunk, values: list[Any], memory: GlobalMemory, checked: bool) -> Any:
    if view.kind == "param":
        found = memory.find(values[view.position])
        if found is None:
            raise SimulationError(f"the address {values[view.position]:#x} given to the kernel belongs to no array")
        arena, start = found
    else:
        arena, start = chunk.arenas[view.space or "local"], 0
    made = TypedView(arena, view.dtype, start)
    return made if checked else made.array


def _identities(translation: Translation, chunk: Chunk, cached: dict[str, Any]) -> None:
    """Launch indices, and where each thread's instance of a memory begins, in elements of each size."""
    for axis in translation.facts.axes:
        setattr(chunk, f"ax_{axis.replace('.', '_')}", chunk.geometry.axis(axis, translation.facts.extents))
    for space, arena in chunk.arenas.items():
        slot = np.arange(chunk.size) if arena.kind == "local" else chunk.geometry.cta
        for size in (1, 2, 4, 8):
            key = f"b_{space.replace('.', '_')}_{size}"
            if key not in cached:
                cached[key] = slot * (arena.stride // size)
            setattr(chunk, key, cached[key])
        if arena.kind == "shared":
            setattr(chunk, f"a_{space.replace('.', '_')}", _addresses(chunk, space, arena, cached))


def _addresses(chunk: Chunk, space: str, arena: Arena, cached: dict[str, Any]) -> Any:
    """Per thread, the address of byte 0 of its cta's shared memory."""
    key = f"a_{space}"
    if key not in cached:
        if space == "shared":
            cached[key] = ((chunk.geometry.cta % chunk.geometry.widths.cluster) + 1) << SHARED_RANK_BITS
        else:
            cached[key] = np.full(chunk.size, arena.base, np.int64)
    return cached[key]
