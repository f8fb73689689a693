"""From a call of an instruction to the function that says what it does, and back.

A meaning is `function(op, *values)`: values are arrays in the NumPy type of their PTX type, over the active threads (packed types
with their lanes as a second axis); a value that is the same for all may have one row. It answers the written operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from tirx.intrinsic import SimContext
from tirx.support.late import load_object

from ...ptx.forms import Form, form_of
from ...ptx.types import PtxType

__all__ = ["NUMPY", "WARP", "Op", "run"]

WARP = 32

NUMPY: dict[str, tuple[Any, int]] = {  # element type, lanes
    **{f"b{bits}": (np.dtype(f"uint{bits}"), 1) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (np.dtype(f"uint{bits}"), 1) for bits in (8, 16, 32, 64)},
    **{f"s{bits}": (np.dtype(f"int{bits}"), 1) for bits in (8, 16, 32, 64)},
    **{f"f{bits}": (np.dtype(f"float{bits}"), 1) for bits in (16, 32, 64)},
    "tf32": (np.dtype(np.float32), 1), "bf16": (np.dtype(ml_dtypes.bfloat16), 1), "b128": (np.dtype(np.uint64), 2),
    "pred": (np.dtype(bool), 1), "f16x2": (np.dtype(np.float16), 2), "bf16x2": (np.dtype(ml_dtypes.bfloat16), 2),
    "f32x2": (np.dtype(np.float32), 2), "u16x2": (np.dtype(np.uint16), 2), "s16x2": (np.dtype(np.int16), 2),
    "u8x4": (np.dtype(np.uint8), 4), "s8x4": (np.dtype(np.int8), 4),
    "e2m1x2": (np.dtype(np.uint8), 1), "e2m1x4": (np.dtype(np.uint16), 1),
    **{f"{name}x{lanes}": (np.dtype(np.uint8), lanes) for lanes in (2, 4)
       for name in ("e4m3", "e5m2", "e2m3", "e3m2", "ue8m0", "ue5m3", "s2f6")},
}  # fmt: skip


class Op:
    """The instruction that runs: its modifiers by slot, its context, and the values of immediates."""

    __slots__ = ("ctx", "form", "values")

    def __init__(self, ctx: SimContext, form: Form) -> None:
        self.ctx = ctx
        self.form = form
        self.values: Mapping[str, str] = form.values

    def get(self, slot: str) -> str:
        """The modifier in a slot; empty where there is none."""
        return self.values.get(slot, "")

    def has(self, slot: str) -> bool:
        """Whether a slot is filled."""
        return slot in self.values

    def where(self, chosen: Any) -> Op:
        """The instruction for those of its active threads only."""
        return Op(self.ctx.where(chosen), self.form)

    def alone(self, at: Any) -> Op:
        """The instruction for active thread number `at` only."""
        return self.where(np.arange(self.count) == at)

    def each(self) -> list[Op]:
        """The instruction of each active thread for itself."""
        return [self.alone(at) for at in range(self.count)]

    @property
    def title(self) -> str:
        """The mnemonic up to its state space or group of ctas: `cp.async.bulk.tensor.2d`."""
        words = self.form.mnemonic.split(".")
        first = next(
            (
                at
                for at, word in enumerate(words)
                if at > 1 and word.split("::")[0] in ("shared", "global", "cta_group")
            ),
            len(words),
        )
        return ".".join(words[:first])

    @property
    def count(self) -> int:
        """Number of active threads."""
        return self.ctx.count

    def full(self, value: Any) -> Any:
        """A value with a row for each active thread."""
        made = np.asarray(value)
        if made.ndim == 0:
            return np.full(self.count, made)
        return made if made.shape[0] == self.count else np.broadcast_to(made, (self.count, *made.shape[1:]))


class _Plan:
    """How the values of a form come in: a converter for each that is read, and its function."""

    __slots__ = ("aligned", "converters", "form", "function", "waits")

    def __init__(self, form: Form) -> None:
        self.form = form
        self.function: Callable[..., Any] = load_object(form.function or "")
        self.waits = form.effect.kind == "wait"  # its meaning says who may go on
        words = form.mnemonic.split(".")
        self.aligned = "aligned" in words or (words[0] == "bar" and "warp" not in words)
        read = [part for part in form.parts if part.rw != "w"]
        self.converters = [_as_is if part.type is None else _converter(part.type) for part in read]


@cache
def _plan(mnemonic: str, variant: int) -> _Plan:
    return _Plan(form_of(mnemonic, variant))


def run(ctx: SimContext, *values: Any, form: str, variant: int = 0, preserve_dst: bool = False) -> Any:
    """The meaning of every form."""
    plan = _plan(form, variant)
    taken = [convert(value) for convert, value in zip(plan.converters, values, strict=True)]
    op = Op(ctx, plan.form)
    if plan.aligned:
        _together(op)
    answer = plan.function(op, *taken)
    if plan.waits:
        return answer
    return answer if isinstance(answer, tuple) else (answer,)


def _together(op: Op) -> None:
    """`.aligned`: a finding where a thread of a warp is somewhere else. One that has ended is missed by barriers alone."""
    lanes = np.asarray(op.ctx.id("thread", "warp"))
    if len(lanes) % WARP == 0 and (lanes.reshape(-1, WARP) == np.arange(WARP)).all():
        return
    present = op.ctx.collect(np.ones(op.count, bool))[1]
    if op.form.effect.barrier is None:
        wanted = np.asarray(op.ctx.exist("warp"))
    else:
        first = np.asarray(op.ctx.id("thread", "cta")) - lanes
        wanted = first[:, None] + np.arange(present.shape[1]) < op.ctx.width("thread", "cta")
    lacking = (wanted & ~present).any(axis=1)
    if lacking.any():
        op.ctx.finding("absent_lane", f"not all lanes of the warp take part in {op.form.mnemonic}", lacking)


def _as_is(value: Any) -> Any:
    return value


def _converter(kind: PtxType) -> Callable[[Any], Any]:
    dtype, lanes = NUMPY[kind.name]
    return lambda value: typed(value, dtype, lanes)


def typed(value: Any, dtype: Any, lanes: int) -> Any:
    """A register's value as a PTX type: the same bits, or the number where it comes from a wider register."""
    made = np.asarray(value)
    if made.dtype == dtype and (lanes == 1) == (made.ndim < 2):
        return made
    if (made.ndim < 2 and lanes == 1 and made.dtype.itemsize != dtype.itemsize) or dtype.kind == "b":
        return made.astype(dtype)
    if made.ndim == 0:
        made = made.reshape(1)
    if made.ndim == 1 and made.dtype.kind == "i" and made.dtype.itemsize > dtype.itemsize * lanes:
        made = made.astype(f"u{dtype.itemsize * lanes}")  # a Python number
    shape = (made.shape[0],) if lanes == 1 else (made.shape[0], lanes)
    return np.ascontiguousarray(made).view(dtype).reshape(shape)
