"""One intrinsic of CUDA: its row, and how CUDA C++ writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirx.intrinsic import Barrier, Effect, Emission, Intrinsic, Operand, Requirement
from tirx.ir import Call

__all__ = ["Entry", "Rule", "pointer", "sync", "value"]

Rule = str | Callable[[Any, Call, Sequence[str]], str]

_SIM = "tirx_cuda.sim."


class Entry:
    """An intrinsic and its emission."""

    __slots__ = ("emission", "row")

    def __init__(
        self,
        name: str,
        operands: Sequence[Operand],
        result: Any,
        effect: Effect | str,
        rule: Rule,
        doc: str,
        *,
        meaning: str | None,
        helpers: Sequence[str] = (),
        includes: Sequence[str] = (),
        requires: Requirement | None = None,
        attrs: dict[str, Any] | None = None,
        accuracy: str = "exact",
        variadic: bool = False,
        form: Sequence[str] = (),
        namespace: str = "cuda",
        source: str = "",
    ) -> None:
        where = None if meaning is None else _SIM + meaning
        full = f"{namespace}.{name}"
        self.row = Intrinsic(
            full,
            operands,
            result,
            effect,
            doc=doc,
            attrs=attrs,
            meaning=where,
            accuracy=accuracy,
            variadic=variadic,
            form=form,
            source=source,
        )
        self.emission = Emission(full, "cuda", rule, requires=requires, helpers=helpers, includes=includes)


def value(name: str, *dtypes: str, lanes: Sequence[int] = (), default: Any = Operand.REQUIRED) -> Operand:
    """An operand of some types."""
    return Operand(name, dtypes=dtypes, lanes=lanes, default=default)


def pointer(name: str, rw: str = "r", scope: Sequence[str] = ()) -> Operand:
    """An address, and whether what lies there is read (`r`), written (`w`), or both."""
    return Operand(name, "pointer", rw=rw, scope=scope)


def sync(level: str, **operands: str) -> Effect:
    """The effect of a barrier."""
    return Effect("sync", Barrier(level, **operands))
