"""Instructions under the names that NKI gives them, for who knows those: the same instructions, checks and rows.

    Tx.nki.tensor_tensor(dst=y, data1=a, data2=b, op="add")        is        Tx.nki.tensortensor(y, a, b, "add")

Where both share a name (`activation`, `tensor_copy`, ...) the order is the published one, and NKI's keywords are taken as well.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

from tirx.ir import Call, Expr

from .build import build
from .operands import Region, as_region, refuse
from .pairwise import by_scalar, pairwise
from .table import TABLE

__all__ = [
    "dma_copy", "nc_matmul", "pairs", "shared_identity_matrix", "takes_nki_keywords", "takes_pattern", "tensor_reduce", "tensor_scalar",
    "tensor_scalar_reduce", "tensor_tensor",
]  # fmt: skip

Number = bool | int | float | Expr
Whole = int | Expr
Given = ParamSpec("Given")


def takes_nki_keywords(function: Callable[Given, Call]) -> Callable[Given, Call]:
    """`function` with NKI's names for its operands besides its own."""
    own = {field.nki: field.name for field in TABLE[function.__name__].fields if field.nki != field.name}

    @functools.wraps(function)
    def renamed(*args: Given.args, **given: Given.kwargs) -> Call:
        for nki, name in own.items():
            if nki not in given:
                continue
            if name in given:
                refuse(f"`{name}` and `{nki}` of nki.{function.__name__} are the same operand")
            given[name] = given.pop(nki)
        return function(*args, **given)

    return renamed


def takes_pattern(function: Callable[Given, Call]) -> Callable[Given, Call]:
    """An affine_select that also takes NKI's pattern in place of a predicate."""

    @functools.wraps(function)
    def chosen(*args: Given.args, **given: Given.kwargs) -> Call:
        if "pattern" not in given:
            return function(*args, **given)
        if args:
            refuse("nki.affine_select takes either a predicate, or NKI's keywords (dst=, pattern=, ...) alone")
        keywords: dict[str, Any] = dict(given)
        return _by_pattern(**keywords)

    return chosen


def _by_pattern(
    dst: Any = None,
    pattern: Any = None,
    channel_multiplier: Any = 0,
    on_true_tile: Any = None,
    on_false_value: Any = 0.0,
    cmp_op: str = "equal",
    offset: Any = 0,
) -> Call:
    operands = (dst, on_true_tile, on_false_value, cmp_op, offset, channel_multiplier, *pairs("affine_select", pattern))
    return build("select_pattern", *operands, spelled="affine_select")


def pairs(operation: str, pattern: Any) -> list[Any]:
    """[[step, count], ...] as one list."""
    if not isinstance(pattern, tuple | list) or any(
        not isinstance(pair, tuple | list) or len(pair) != 2 for pair in pattern
    ):
        refuse(f"the pattern of nki.{operation} is {pattern!r}; it lists [step, count] pairs")
    return [number for pair in pattern for number in pair]


def dma_copy(dst: Region, src: Region) -> Call:
    """Copy a slice through a DMA queue: from or to device memory, or inside one memory; converted to the type of `dst`."""
    scopes = [as_region(value, "dma_copy", name).buffer.scope_name for value, name in ((dst, "dst"), (src, "src"))]
    if scopes == ["trn.sbuf", "global"]:
        return build("load", dst, src, spelled="dma_copy")
    if scopes == ["global", "trn.sbuf"]:
        return build("store", dst, src, spelled="dma_copy")
    return build("dma_copy", dst, src)


def nc_matmul(
    dst: Region,
    stationary: Region,
    moving: Region,
    *,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    accumulate: Number | None = None,
    tile_position: tuple[int, ...] = (),
    tile_size: tuple[int, ...] = (),
    perf_mode: str = "none",
) -> Call:
    """`dst = stationary.T @ moving`; accumulated as `accumulate` says, by default onto earlier products only."""
    adds = True if accumulate is None else accumulate
    options: dict[str, Any] = {"is_stationary_onezero": is_stationary_onezero, "is_moving_onezero": is_moving_onezero}
    options.update(tile_position=tile_position, tile_size=tile_size, perf_mode=perf_mode)
    return build("matmul", dst, stationary, moving, adds, spelled="nc_matmul", **options)


def tensor_reduce(
    dst: Region,
    op: str,
    data: Region,
    axis: Whole | tuple[Whole, ...] | list[Whole],
    negate: Number = False,
    keepdims: bool = False,
) -> Call:
    """Reduce dimensions `axis` of `data` (trailing and free); negated when `negate`.

    `dst` has what remains, counted in elements, so that `keepdims` changes nothing.
    """
    axes = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    return build("tensorreduce", dst, data, op, negate, *axes, spelled="tensor_reduce")


def tensor_tensor(dst: Region, data1: Region, data2: Region, op: str, engine: str = "unknown") -> Call:
    """`dst = data1 op data2`, element by element; at most one operand is in PSUM."""
    return pairwise(dst, data1, data2, op, engine, "tensor_tensor")


def tensor_scalar(
    dst: Region,
    data: Region,
    op0: str,
    operand0: Region | Number,
    reverse0: Number = False,
    op1: str | None = None,
    operand1: Region | Number | None = None,
    reverse1: Number = False,
    engine: str = "unknown",
) -> Call:
    """`dst = (data op0 operand0) op1 operand1`; operands are numbers or one float32 per partition, the second step is optional."""
    if op1 is None or operand1 is None:
        if op1 is not None or operand1 is not None:
            refuse("nki.tensor_scalar takes `op1` and `operand1` together")
        return by_scalar(dst, data, operand0, op0, reverse0, engine, "tensor_scalar")
    steps = (operand0, operand1, op0, op1, reverse0, reverse1)
    return build("scalar_tensor_scalar", dst, data, *steps, spelled="tensor_scalar", engine=engine)


def tensor_scalar_reduce(
    dst: Region,
    data: Region,
    op0: str,
    operand0: Region | Number,
    reduce_op: str,
    reduce_res: Region,
    reverse0: Number = False,
    reduce_cmd: str = "reset_reduce",
) -> Call:
    """`dst = data op0 operand0`, and `reduce_res` its reduction per partition."""
    operands = (reduce_res, dst, data, operand0, op0, reduce_op, reverse0)
    return build("tensorscalar_reduce", *operands, spelled="tensor_scalar_reduce", reduce_cmd=reduce_cmd)


def shared_identity_matrix(dst: Region, n: Whole) -> Call:
    """`dst` becomes the identity matrix of `n` rows."""
    return build("identity", dst, n, spelled="shared_identity_matrix")
