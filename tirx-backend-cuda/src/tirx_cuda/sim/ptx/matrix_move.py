"""Meanings of moves of small matrices between shared memory and the registers of a warp. PTX ISA, `ldmatrix`, `stmatrix`, `movmatrix`.

A row of a matrix is 16 bytes. Lane 4i + j holds four bytes of each matrix: bytes 4j to 4j + 3 of row i of what the instruction makes
of the matrix (a transposed one, or smaller elements that became bytes).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tirx.ir import DType

from .fragments import WARP, spread, whole_warps
from .run import Op

__all__ = ["ldmatrix", "movmatrix", "stmatrix"]


class _Source(NamedTuple):
    """What a row is in memory: the words that hold elements, bits of an element, what the row's address must be a multiple of."""

    words: int
    bits: int
    alignment: int
    signed: bool = False


_SOURCES = {"b6x16_p32": _Source(3, 6, 16), "b4x16_p64": _Source(2, 4, 16), "s4": _Source(2, 4, 8, True)}


def _count(op: Op) -> int:
    return int((op.get("num") or op.get("two"))[1:])


def _naming(op: Op, address: Any, rows: int) -> tuple[Any, Any]:
    """Which lanes say where a row is, and where."""
    addresses = np.broadcast_to(np.asarray(address, np.int64), (op.count,))
    naming = np.asarray(op.ctx.id("thread", "warp")) < rows
    return naming, addresses[naming]


def ldmatrix(op: Op, address: Any) -> Any:
    """The first lanes say where the rows are, a lane for each; every lane gets its part of each matrix."""
    registers = sum(part.rw == "w" for part in op.form.parts)
    if not whole_warps(op):
        return tuple(np.zeros(op.count, np.uint32) for _ in range(registers))
    tall = 16 if "m16n16" in op.form.mnemonic else 8
    naming, addresses = _naming(op, address, tall * _count(op))
    rows = _rows(op, naming, addresses).reshape(-1, tall, 16)
    if tall == 16:
        rows = rows.swapaxes(1, 2)
    elif op.has("trans"):
        rows = np.ascontiguousarray(rows).view(np.uint16).swapaxes(1, 2)
    words = np.ascontiguousarray(rows).view(np.uint32).reshape(-1, registers, WARP)
    return tuple(np.ascontiguousarray(words[:, position]).reshape(-1) for position in range(registers))


def _rows(op: Op, naming: Any, addresses: Any) -> Any:
    """(rows, 16 bytes), from elements of any size."""
    source = _SOURCES.get(op.form.mnemonic.split(".")[-1])
    ctx = op.ctx.where(naming)
    if source is None:
        return np.ascontiguousarray(ctx.load(addresses, DType("uint32x4"))).view(np.uint8)
    wrong = addresses % source.alignment != 0
    if wrong.any():
        text = f"{op.form.mnemonic} takes rows at multiples of {source.alignment} bytes"
        ctx.finding("misaligned", text, wrong)
    words = [ctx.load(addresses + 4 * word, DType("uint32")) for word in range(source.words)]
    made = spread(np.stack(words, axis=-1).astype(np.uint32), source.bits)
    return np.where(made >= 8, made | 0xF0, made).astype(np.uint8) if source.signed else made


def stmatrix(op: Op, address: Any, *values: Any) -> None:
    """The other way round."""
    count = _count(op)
    if not whole_warps(op):
        return
    words = np.stack([op.full(value) for value in values], axis=-1).reshape(-1, WARP, count).swapaxes(1, 2)
    rows = np.ascontiguousarray(words.reshape(-1, count, 8, 4))
    if "m16n8" in op.form.mnemonic:
        rows = _columns(rows)
    elif op.has("trans"):
        halves = rows.view(np.uint16).reshape(-1, count, 8, 8)
        rows = np.ascontiguousarray(halves.swapaxes(2, 3)).view(np.uint32)
    naming, addresses = _naming(op, address, 8 * count)
    op.ctx.where(naming).store(addresses, DType("uint32x4"), rows.reshape(-1, 4))


def _columns(words: Any) -> Any:
    """Of lane 4i + j: two bytes for byte i of rows 2j and 2j + 1, and two for byte i + 8, as a product leaves them."""
    data = np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape[:2], 8, 4, 2, 2)  # i, j, half, row
    return np.ascontiguousarray(np.moveaxis(data, (2, 3, 4, 5), (5, 2, 4, 3))).reshape(-1, 16).view(np.uint32)


def movmatrix(op: Op, value: Any) -> Any:
    """A matrix transposed in registers."""
    if not whole_warps(op):
        return np.zeros(op.count, np.uint32)
    halves = np.ascontiguousarray(op.full(value)).view(np.uint16).reshape(-1, 8, 8)
    return np.ascontiguousarray(halves.swapaxes(1, 2)).view(np.uint32).reshape(-1)
