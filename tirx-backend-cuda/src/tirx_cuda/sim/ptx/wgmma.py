"""Meanings of products of a warpgroup, whose matrices lie in shared memory as descriptors say.

A product is computed when it is issued; registers and shared memory are watched until `wgmma.wait_group`. Each warp computes its own
16 rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .described import UNIT, Place
from .fragments import WARP, elements, gathered, registers, scattered, whole_warps
from .mma import sizes, types
from .run import Op
from .sparse import MEANINGFUL, chunk_of, expanded, of_warps
from .turned import compare

__all__ = ["commit_group", "fence", "mma_async", "wait_group"]

QUEUE, FENCE = "wgmma.wait_group", "wgmma.fence"


def fence(op: Op) -> None:
    """Registers are handed over."""
    op.ctx.fence(FENCE)


def commit_group(op: Op) -> None:
    """The products so far become a group."""
    op.ctx.seal(QUEUE)


def wait_group(op: Op, newest: Any) -> None:
    """The products of all groups but the newest are done; what they read in any thread of a warp, they have read for all of it."""
    op.ctx.settle(QUEUE, int(newest))
    op.ctx.synchronise("warp")


def mma_async(op: Op, *values: Any) -> Any:
    """D = a * b + d."""
    sums = [part for part in op.form.parts if part.rw == "rw"]
    if not whole_warps(op):
        return values[: len(sums)]
    names = [part.name for part in op.form.parts if part.rw != "w"]
    given = dict(zip(names[len(sums) :], values[len(sums) :], strict=True))
    _, n, k = sizes(op)
    kind_d, kind_a, kind_b = types(op)[:3]
    left = _left(op, given, kind_a, k) * _number(given, "imm-scale-a", 1)
    depth = 4 if "sp-meta" in given else 2
    right = _matrix(op, given["b-desc"], kind_b, 0, n, _number(given, "imm-trans-b", 0), depth)
    right = right * _number(given, "imm-scale-b", 1)
    start = _start(op, values[: len(sums)], kind_d, n)
    keep = op.full(given["scale-d"]).astype(bool).reshape(-1, WARP)[:, :1, None]
    with np.errstate(all="ignore"):
        made = np.matmul(left, right.swapaxes(1, 2)).astype(np.int64 if kind_d == "s32" else np.float32)
        made = np.where(keep, made + start, made)
        if op.has("satfinite"):
            made = np.clip(made, -(2**31), 2**31 - 1)
    return _returned(made, kind_d, len(sums))


def _number(given: dict[str, Any], name: str, default: int) -> int:
    return int(given.get(name, default))


# ---- operands in shared memory --------------------------------------------------------------------------------------


def _left(op: Op, given: dict[str, Any], kind: str, k: int) -> Any:
    """The rows of matrix A that each warp multiplies: (warps, 16, k)."""
    if "sp-meta" in given:
        return _with_zeros(op, given, _stored(op, given, kind, k // 2), kind, k)
    return _stored(op, given, kind, k)


def _stored(op: Op, given: dict[str, Any], kind: str, k: int) -> Any:
    """`k` elements of each row, as memory or registers hold them."""
    if "a-desc" in given:
        first = 16 * (np.asarray(op.ctx.id("warp", "cta")) % 4)
        return _matrix(op, given["a-desc"], kind, first, 16, _number(given, "imm-trans-a", 0))
    words = registers(op, [value for name, value in given.items() if name[0] == "a"])
    return gathered(elements(words, kind), "a", (16, k))


def _with_zeros(op: Op, given: dict[str, Any], stored: Any, kind: str, k: int) -> Any:
    """A sparse A, each warp's metadata being that of its rows."""
    chunk, selector, wide = chunk_of(kind), int(given["sp-sel"]), kind in ("f16", "bf16", "tf32")
    if selector >= (2 if wide else 1):
        op.ctx.finding(
            "undefined_operand", f"the selector of {op.form.mnemonic} is {selector}: no thread has such metadata"
        )
        selector = 0
    words = registers(op, [given["sp-meta"]])[..., 0]
    nibbles = of_warps(words, selector, wide, k // chunk.width)
    return expanded(op, stored, nibbles, chunk, MEANINGFUL["tf32" if kind == "tf32" else "any"])


def _matrix(op: Op, descriptor: Any, kind: str, first: Any, rows: int, transposed: int, depth: int = 2) -> Any:
    """`rows` rows (of A, or columns of B) from row `first` on: (warps, rows, k)."""
    place = Place.of_wgmma(op, op.full(descriptor).astype(np.uint64).astype(np.int64), bool(transposed), kind, depth)
    lane = np.tile(np.arange(WARP), op.count // WARP)
    parts, places = [], []
    for start in range(0, depth * rows, WARP):
        address = place.address((start + lane) % (depth * rows), first)
        places.append(address.reshape(-1, WARP))
        parts.append(op.ctx.load(address, UNIT).reshape(-1, WARP, 4))
    _watch(op, np.concatenate(places, axis=1), place.swizzled)
    return place.matrices(np.concatenate(parts, axis=1)[:, : depth * rows])


def _watch(op: Op, places: Any, swizzled: Any) -> None:
    """Each warpgroup reads the places of its warps (warps, n) until its first warp waits, turned as its descriptor says."""
    groups = np.asarray(op.ctx.group("warpgroup"))[::WARP]
    for group in np.unique(groups):
        warps = np.flatnonzero(groups == group)
        same = (places[warps] == places[warps[0]]).all()  # all read the same columns, each its own rows
        addresses = places[warps[0]] if same else places[warps].reshape(-1)
        one: Any = op.alone(warps[0] * WARP).ctx.repeated([len(addresses)])
        compare(Op(one, op.form), addresses, swizzled[warps[0] * WARP], "wgmma.mma_async")
        one.watch(addresses, UNIT, queue=QUEUE, what="wgmma.mma_async", until=f"`{QUEUE}`", fenced=True)


# ---- sums in registers ----------------------------------------------------------------------------------------------


def _start(op: Op, values: Any, kind: str, n: int) -> Any:
    """(warps, 16, n)."""
    words = registers(op, values)
    held = {"f32": np.float32, "s32": np.int32}.get(kind)
    parts = elements(words, kind) if held is None else np.ascontiguousarray(words).view(held)[..., None]
    warps, _, count, per_word = parts.shape
    blocks = parts.reshape(warps, WARP, n // 8, count * 8 // n, per_word).swapaxes(1, 2)
    made = gathered(blocks.reshape(-1, WARP, count * 8 // n, per_word), "c", (16, 8))
    return made.reshape(warps, n // 8, 16, 8).swapaxes(1, 2).reshape(warps, 16, n)


def _returned(matrices: Any, kind: str, count: int) -> tuple[Any, ...]:
    warps, _, n = matrices.shape
    blocks = matrices.reshape(warps, 16, n // 8, 8).swapaxes(1, 2).reshape(-1, 16, 8)
    each = count * 8 // n
    parts = scattered(blocks, "d", each, 2 if kind == "f16" else 1)
    if kind == "f16":
        with np.errstate(all="ignore"):
            words = np.ascontiguousarray(parts.astype(np.float16)).view(np.uint32)[..., 0]
    else:
        words = parts[..., 0].astype(np.int32).view(np.uint32) if kind == "s32" else parts[..., 0]
    flat = words.reshape(warps, n // 8, WARP, each).swapaxes(1, 2).reshape(-1, count)
    return tuple(flat[:, position] for position in range(count))
