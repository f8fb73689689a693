"""Whether a device computes what the simulator says: every function of plain values that the backend writes, in one kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ... import script as Tx
from ...backend import find, registry
from ...driver import compile as compile_kernel
from ...driver import simulate
from ...intrinsic import Intrinsic, Operand, call
from ...ir import Expr, PrimFunc
from ...support.errors import TirxError
from ...support.span import add_author_file
from ...target import Target
from .check import COMPILED, ConformanceCheck, Gap
from .running import no_device
from .subject import Subject

__all__ = ["CHECKS", "offered"]

add_author_file(__file__)

SIZE = 64
STEPS = 32
"""Steps of the last place that the two may differ by where neither promises to be exact: the sum of what libraries allow."""
MODEL = 0.01
"""The same for meanings that only model the machine, relative."""

_ELEMENT = {"float": "float32", "number": "float32", "integer": "int32", "int": "int32", "uint": "uint32"}


class Trial:
    """A function with its operands: `types` of arrays, None for numbers that a kernel is built with."""

    __slots__ = ("row", "types")

    def __init__(self, row: Intrinsic, types: Sequence[str | None]) -> None:
        self.row = row
        self.types = tuple(types)

    def expr(self, arrays: dict[str, Any], at: Any) -> Expr:
        """The call; the second operand of a type is the second row of its array, and so on."""
        operands: list[Any] = []
        for name in self.types:
            operands.append(0 if name is None else arrays[name][self.types[: len(operands)].count(name), at])
        return call(self.row, *operands)


def offered(subject: Subject) -> list[Intrinsic]:
    """The intrinsics that its kinds offer: its own, and those of others for which it has emissions."""
    names = [row.name for row in subject.rows("intrinsics")] + [row.intrinsic for row in subject.rows("emissions")]
    found = (find("intrinsics", name) for name in dict.fromkeys(names))
    return [row for row in found if row is not None]


def _trial(row: Intrinsic, target: Target) -> Trial | None:
    """How to try a function of plain values; None for what does more."""
    if row.effect.kind != "pure" or row.meaning is None or row.variadic or not row.answers or not row.operands:
        return None
    types = [_type(item) for item in row.operands]
    if any(name == "" or (name is not None and name not in target.capabilities.dtypes) for name in types):
        return None
    return Trial(row, types) if any(types) else None


def _type(item: Operand) -> str | None:
    """The element type to try an operand with; None for a constant, empty for what is no plain value."""
    if item.kind == "constant":
        return None
    if item.kind != "value" or (item.lanes and 1 not in item.lanes):
        return ""
    listed = item.dtypes[0] if item.dtypes else "float32"
    return _ELEMENT.get(listed, listed if listed.startswith(("int", "uint", "float")) else "")


def _arrays() -> dict[str, Any]:
    """Three rows of values of each type: with zero, with both signs where there are, none large."""
    turns = [np.random.default_rng(seed).permutation(SIZE) for seed in range(3)]
    rows = np.stack([np.linspace(-3, 3, SIZE)[turn] for turn in turns])
    signed = np.stack([np.arange(-20, SIZE - 20)[turn] for turn in turns])
    return {
        **{name: rows.astype(name) for name in ("float32", "float64", "float16")},
        **{name: signed.astype(name) for name in ("int8", "int16", "int32", "int64")},
        **{name: np.abs(signed).astype(name) for name in ("uint8", "uint16", "uint32", "uint64")},
    }


def _kernel(trials: Sequence[Trial]) -> tuple[PrimFunc, list[str]]:
    """A kernel that computes each of them for 64 values, and the types of its arguments: results are the first, as float32."""
    inputs = sorted({name for trial in trials for name in trial.types if name is not None})

    def body(*arrays: Any) -> None:
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([SIZE])
        given = dict(zip(inputs, arrays[1:], strict=True))
        for number, trial in enumerate(trials):
            arrays[0][number, tx] = Tx.cast(trial.expr(given, tx), arrays[0].dtype)

    space: dict[str, Any] = {"body": body}
    names = ["results", *(f"of_{name}" for name in inputs)]
    exec(f"def conform_functions({', '.join(names)}): body({', '.join(names)})", space)  # noqa: S102 - names of types
    types = [Tx.Buffer((len(trials), SIZE), "float32"), *(Tx.Buffer((3, SIZE), name) for name in inputs)]
    made: PrimFunc = Tx.trace(space["conform_functions"], *types)
    return made, inputs


def _both(trials: Sequence[Trial], target: Target) -> tuple[Any, Any]:
    """What the device and the simulator compute."""
    kernel, inputs = _kernel(trials)
    results = [np.full((len(trials), SIZE), np.nan, np.float32) for _ in range(2)]
    values = _arrays()
    compile_kernel(kernel, target)(results[0], *(values[name] for name in inputs))
    simulate(kernel, results[1], *(values[name] for name in inputs), target=target)
    return results[0], results[1]


def _agree(subject: Subject) -> Iterator[str]:
    devices = {row.kind: row for row in registry().rows("devices").values()}
    for target in subject.targets:
        row = devices.get(target.kind.name)
        reason = "it has no devices" if row is None else no_device(row)
        if not subject.has_threads(target):
            reason = f"kind `{target.kind.name}` has no threads"
        if reason:
            yield Gap(reason)
            continue
        trials = [trial for item in offered(subject) if (trial := _trial(item, target)) is not None]
        yield from _together(trials, target)


def _together(trials: Sequence[Trial], target: Target) -> Iterator[str]:
    """All in one kernel; where that cannot run, each half by itself, until the one at fault is alone."""
    if not trials:
        yield Gap(f"no function of plain values is written for `{target.kind.name}`")
        return
    try:
        native, simulated = _both(trials, target)
    except TirxError as error:
        if len(trials) == 1:
            yield Gap(f"{trials[0].row.name} on {target}: {error.message.splitlines()[0]}")
            return
        middle = len(trials) // 2
        yield from _together(trials[:middle], target)
        yield from _together(trials[middle:], target)
        return
    for trial, left, right in zip(trials, native, simulated, strict=True):
        yield from _compared(trial.row, left, right, target)


def _compared(row: Intrinsic, native: Any, simulated: Any, target: Target) -> Iterator[str]:
    same = (native == simulated) | (np.isnan(native) & np.isnan(simulated))
    with np.errstate(all="ignore"):
        far = np.abs(native - simulated)
        allowed = {"exact": 0.0, "model": MODEL * np.maximum(np.abs(simulated), 1)}.get(
            row.accuracy, STEPS * np.spacing(np.maximum(np.abs(simulated), 2.0**-10))
        )
    wrong = ~(same | (far <= allowed))
    if wrong.any():
        at = int(np.argmax(wrong))
        few = f"{int(wrong.sum())} of {SIZE} values"
        yield f"`{row.name}` on {target}: the device answers {native[at]:g}, the simulator {simulated[at]:g} ({few})"


CHECKS = (
    ConformanceCheck(
        "intrinsics.agree",
        _agree,
        "a device computes what the simulator says, function by function",
        "correct the emission or the meaning; where both may round, say so in `accuracy`",
        after=(*COMPILED, "device.runs"),
    ),
)
