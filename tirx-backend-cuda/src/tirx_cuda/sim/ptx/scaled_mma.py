"""The meaning of products of matrices that have a scale for each block of a row or column.

Which bytes of which lanes are scales: PTX ISA, "Block Scaling for mma.sync". Products are exact, sums are in float64.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .fragments import WARP, elements, gathered, registers, scattered, whole_warps
from .mma import sizes, types
from .run import Op

__all__ = ["block_scaled"]


def block_scaled(op: Op, *values: Any) -> Any:
    """D = (a * scale of a) * (b * scale of b) + c."""
    outputs = [part for part in op.form.parts if part.rw == "w"]
    if not whole_warps(op):
        return tuple(np.zeros(op.count, np.float32) for _ in outputs)
    given = dict(zip((part.name for part in op.form.parts if part.rw == "r"), values, strict=True))
    m, n, k = sizes(op)
    _, kind_a, kind_b, _ = types(op)
    if k == 64:
        kind_a = kind_b = "e2m1 packed"
    a, b, c = (
        registers(op, [value for name, value in given.items() if name[0] == x and name[1:].isdigit()]) for x in "abc"
    )
    left = gathered(elements(a, kind_a), "a", (m, k)).astype(np.float64)
    right = gathered(elements(b, kind_b), "b", (k, n)).astype(np.float64)
    start = gathered(np.ascontiguousarray(c).view(np.float32)[..., None], "c", (m, n))
    blocks = _blocks(op)
    rows, columns = np.arange(m), np.arange(n)
    thread_a, thread_b = _selector(op, given["thread-id-a"], 2), _selector(op, given["thread-id-b"], 4)
    scale_a = _scales(op, given, "a", 4 * (rows % 8) + 2 * thread_a + rows // 8, blocks)
    scale_b = _scales(op, given, "b", 4 * columns + thread_b, blocks)
    left = left * np.repeat(scale_a, k // blocks, axis=2)
    right = right * np.repeat(scale_b, k // blocks, axis=2).swapaxes(1, 2)
    with np.errstate(all="ignore"):
        made = (np.matmul(left, right) + start).astype(np.float32)
    flat = scattered(made, "d", len(outputs), 1)[..., 0].reshape(-1, len(outputs))
    return tuple(flat[:, position] for position in range(len(outputs)))


def _blocks(op: Op) -> int:
    """How many blocks a row has."""
    words = op.form.mnemonic
    if "scale_vec::4X" in words:
        return 4
    return 2 if "scale_vec::2X" in words or "kind::mxf4." in words else 1


def _selector(op: Op, value: Any, limit: int) -> Any:
    """One number for each warp, (warps, 1)."""
    numbers = op.full(value).astype(np.int64).reshape(-1, WARP)
    if (numbers >= limit).any() or (numbers != numbers[:, :1]).any():
        op.ctx.finding(
            "undefined_operand",
            f"a selector of {op.form.mnemonic} is {numbers.max()}, or differs in the warp; below {limit}",
        )
    return numbers[:, :1] % limit


def _scales(op: Op, given: dict[str, Any], side: str, lanes: Any, blocks: int) -> Any:
    """(warps, rows or columns, blocks)."""
    data = registers(op, [given[f"scale-{side}"]]).astype(np.uint32)[..., 0]
    first = _selector(op, given[f"byte-id-{side}"], 4)
    words = np.take_along_axis(data, np.broadcast_to(lanes, (len(data), lanes.shape[-1])), axis=1)
    shifts = 8 * ((first[..., None] + np.arange(blocks)) % 4)
    scales = ((words[..., None] >> shifts.astype(np.uint32)) & np.uint32(0xFF)).astype(np.uint8)
    if op.form.mnemonic.endswith("ue4m3"):
        return (scales & 0x7F).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
    return scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
