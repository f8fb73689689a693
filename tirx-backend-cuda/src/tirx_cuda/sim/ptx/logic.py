"""Meanings of logic, shifts and permutation of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .run import Op

__all__ = ["bitwise", "cnot", "invert", "lop3", "prmt", "shf", "shl", "shr"]

_OPERATIONS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def bitwise(op: Op, a: Any, b: Any) -> Any:
    """`and`, `or`, `xor`."""
    return _OPERATIONS[op.form.row.family](a, b)


def invert(op: Op, a: Any) -> Any:
    """All bits the other way."""
    return ~np.asarray(a)


def cnot(op: Op, a: Any) -> Any:
    """1 for 0, else 0."""
    a = np.asarray(a)
    return (a == 0).astype(a.dtype)


def lop3(op: Op, *values: Any) -> Any:
    """Any function of three bits by its table; combined with a predicate by `.and` and `.or`."""
    a, b, c = (np.asarray(value) for value in values[:3])
    table = int(values[3])
    made = np.zeros(np.broadcast(a, b, c).shape, a.dtype)
    for row in range(8):
        if table >> row & 1:
            made |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    if not op.has("op"):
        return made
    predicate = (made != 0) & values[4] if op.get("op") == "and" else (made != 0) | values[4]
    return made, predicate


def _amount(op: Op, count: Any, bits: int, clamp: bool) -> Any:
    count = np.asarray(count).astype(np.int64)
    return np.minimum(count, bits) if clamp else count % bits


def shl(op: Op, a: Any, b: Any) -> Any:
    """Zeros come in; shifts by the width or more leave nothing."""
    a = np.asarray(a)
    bits = 8 * a.dtype.itemsize
    count = np.asarray(b).astype(np.uint64)
    return np.where(count >= bits, a.dtype.type(0), a << np.minimum(count, bits - 1).astype(a.dtype)).astype(a.dtype)


def shr(op: Op, a: Any, b: Any) -> Any:
    """Signed numbers keep their sign, others get zeros."""
    a = np.asarray(a)
    bits = 8 * a.dtype.itemsize
    count = np.asarray(b).astype(np.uint64)
    last = np.minimum(count, bits - 1).astype(a.dtype)
    made = a >> last
    return made if a.dtype.kind == "i" else np.where(count >= bits, a.dtype.type(0), made).astype(a.dtype)


def shf(op: Op, a: Any, b: Any, c: Any) -> Any:
    """32 of the 64 bits of two words, shifted."""
    clamp = op.get("mode") == "clamp"
    count = _amount(op, c, 32, clamp).astype(np.uint64)
    both = (np.asarray(b).astype(np.uint64) << np.uint64(32)) | np.asarray(a).astype(np.uint64)
    if op.get("direction") == "l":
        return ((both << count) >> np.uint64(32)).astype(np.uint32)
    return (both >> count).astype(np.uint32)


def prmt(op: Op, a: Any, b: Any, c: Any) -> Any:
    """Four bytes out of eight; a selector's top bit replicates the sign."""
    a, b, c = np.broadcast_arrays(a, b, c)
    source = np.stack([(word >> (8 * place)) & 0xFF for word in (a, b) for place in range(4)], axis=-1).astype(
        np.uint32
    )
    mode = op.get("mode")
    made = np.zeros(a.shape, np.uint32)
    for place in range(4):
        chosen, sign = _selector(mode, c, place)
        byte = np.take_along_axis(source, chosen[..., None].astype(np.int64), axis=-1)[..., 0]
        byte = np.where(sign, np.where(byte & 0x80, 0xFF, 0), byte).astype(np.uint32)
        made |= byte << np.uint32(8 * place)
    return made


def _selector(mode: str, c: Any, place: int) -> tuple[Any, Any]:
    """Which byte comes to a place, and whether only its sign."""
    if not mode:
        nibble = (c >> (4 * place)) & 0xF
        return nibble & 7, (nibble & 8) != 0
    low = (c & 3).astype(np.int64)
    chosen = {
        "f4e": low + place,
        "b4e": (low - place) % 8,
        "rc8": low,
        "ecl": np.maximum(low, place),
        "ecr": np.minimum(low, place),
        "rc16": (low & 1) * 2 + (place & 1),
    }[mode]
    return chosen, np.zeros(np.shape(c), bool)
