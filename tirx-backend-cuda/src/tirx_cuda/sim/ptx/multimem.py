"""Meanings of operations on multicast addresses: one stands for the same place of the same argument on every processing element.

So a kernel gets a symmetric array as an argument, as functions of NVSHMEM take it; alone, it is the only element. Others see what is
written at once. In which order values are added, and whether in between they are rounded, is left open by the manual: here the
elements come in order, and sums with `.acc::f32` are rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..nvshmem import memory_of, world_of
from . import atomic, bulk, memory
from .atomic import update_of
from .run import NUMPY, Op

__all__ = ["copy", "ld_reduce", "ld_reduce_ordered", "red", "reduce", "st", "st_ordered"]


def _others(op: Op, address: Any, size: int) -> Iterator[tuple[int, int, Any]]:
    """`(element, thread, bytes)` of all elements but this one."""
    world, mine = world_of(op.ctx)
    base = op.full(np.asarray(address).astype(np.int64))
    for pe in range(world.size):
        for thread in range(op.count) if pe != mine else ():
            one = op.alone(thread).ctx
            found = memory_of(one, world, mine, pe, int(base[thread]), size)
            if found is not None:
                yield pe, thread, found
    if world.size > 1:
        world.version += 1


# ---- loads ----------------------------------------------------------------------------------------------------------


def ld_reduce(op: Op, address: Any) -> Any:
    """What all elements hold there, combined."""
    return _combined(op, address, memory.ld(op, address))


def ld_reduce_ordered(op: Op, address: Any) -> Any:
    """The same; what was released through the address is seen from here on."""
    return _combined(op, address, memory.ld_ordered(op, address))


def _combined(op: Op, address: Any, own: tuple[Any, ...]) -> tuple[Any, ...]:
    world, _ = world_of(op.ctx)
    mine_of_all = np.stack([op.full(column) for column in own], axis=1)
    kind = op.form.parts[0].type
    assert kind is not None
    held = NUMPY[kind.name][0]
    flat = np.ascontiguousarray(mine_of_all).view(held).reshape(op.count, -1)
    values = np.stack([flat] * world.size)
    for pe, thread, data in _others(op, address, flat.shape[1] * held.itemsize):
        values[pe, thread] = np.frombuffer(data.tobytes(), held)
    made = _fold(values, update_of(op), np.float32 if op.has("acc") else held)
    columns = np.split(np.ascontiguousarray(made), len(own), axis=1)
    return tuple(column.reshape(whole.shape) for column, whole in zip(columns, mine_of_all.swapaxes(0, 1), strict=True))


def _fold(values: Any, update: Callable[[Any, Any], Any], wide: Any) -> Any:
    with np.errstate(all="ignore"):
        total = values[0].astype(wide)
        for value in values[1:]:
            total = np.asarray(update(total, value.astype(wide)))
        return total.astype(values.dtype)


# ---- stores and updates ---------------------------------------------------------------------------------------------


def st(op: Op, address: Any, *values: Any) -> None:
    """The same value on every element."""
    memory.st(op, address, *values)
    _stored(op, address, values)


def st_ordered(op: Op, address: Any, *values: Any) -> None:
    """The same; it may release what its thread did before."""
    memory.st_ordered(op, address, *values)
    _stored(op, address, values)


def _bytes(op: Op, values: Any) -> Any:
    """(threads, bytes)."""
    columns = [np.ascontiguousarray(op.full(value)).view(np.uint8).reshape(op.count, -1) for value in values]
    return np.concatenate(columns, axis=1)


def _stored(op: Op, address: Any, values: Any) -> None:
    data = _bytes(op, values)
    for _, thread, place in _others(op, address, data.shape[1]):
        place[:] = data[thread]


def red(op: Op, address: Any, *values: Any) -> None:
    """Memory of every element is updated."""
    atomic.red(op, address, *values)
    kind = op.form.parts[1].type
    assert kind is not None
    data, held = _bytes(op, values), NUMPY[kind.name][0]
    for _, thread, place in _others(op, address, data.shape[1]):
        _update(place, data[thread], held, update_of(op))


def _update(place: Any, data: Any, held: Any, update: Callable[[Any, Any], Any]) -> None:
    old, new = (np.frombuffer(part.tobytes(), held) for part in (place, data))
    place[:] = np.ascontiguousarray(np.asarray(update(old, new)).astype(held)).view(np.uint8)


# ---- bulk copies ----------------------------------------------------------------------------------------------------


def copy(op: Op, dst: Any, src: Any, size: Any, *mask: Any) -> None:
    """From shared memory to global memory of every element."""
    data = bulk.to_global(op, dst, src, size, *mask)
    chosen = bulk.masked(op, mask[0] if mask else 0xFFFF)
    for thread, part in enumerate(data):
        one = op.alone(thread)
        used = np.tile(chosen[thread], len(part) // 16)
        for _, _, place in _others(one, op.full(dst)[thread], len(part)):
            np.copyto(place, part, where=used)


def reduce(op: Op, dst: Any, src: Any, size: Any) -> None:
    """Elements of shared memory are combined with global memory of every element."""
    data = bulk.reduce(op, dst, src, size)
    held = NUMPY[op.form.mnemonic.split(".")[-1]][0]
    for thread, part in enumerate(data):
        one = op.alone(thread)
        for _, _, place in _others(one, op.full(dst)[thread], len(part)):
            _update(place, part, held, update_of(op))
