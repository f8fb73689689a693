"""Calls of things by name: functions of the target, rows of any backend; and what only lowering introduces."""

from __future__ import annotations

from ... import backend
from ...ir import Call, DType, Expr
from ...support.words import an
from ..call import call
from ..row import Intrinsic, Operand
from .build import builtin, by_dtype, named_dtype, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["call_extern", "call_intrin", "call_pure_extern", "launch_index"]


def _dtype_attr(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    return DType(attrs["dtype"])


_ARGUMENTS = [Operand("name", "text"), Operand("args")]
_EXTERN = Intrinsic(
    "call_extern", _ARGUMENTS, _dtype_attr, "opaque", attrs={"dtype": "void"}, variadic=True,
    form=("dtype", "name", "args"),
    doc="a function of the target's own language, which may do anything",
)  # fmt: skip
_PURE_EXTERN = Intrinsic(
    "call_pure_extern", _ARGUMENTS, _dtype_attr, "pure", attrs={"dtype": "void"}, variadic=True,
    form=("dtype", "name", "args"),
    doc="a function of the target's own language that only computes a value",
)  # fmt: skip
_LAUNCH_INDEX = Intrinsic(
    "tirx.launch_index", [], "int32", attrs={"axis": "cta.x"}, doc="position along a launch axis",
    meaning="tirx.sim.meanings.control:launch_index",
)  # fmt: skip
ROWS = (_EXTERN, _PURE_EXTERN, _LAUNCH_INDEX)

call_extern, call_pure_extern = by_dtype(_EXTERN), by_dtype(_PURE_EXTERN)
launch_index = builtin(_LAUNCH_INDEX)


def call_intrin(dtype: DType | str, name: str, *args: Any, attrs: dict[str, Any] | None = None) -> Call:
    """The call of the intrinsic `name` (`"exp"`, `"acme.vote"`) of core or a backend; its result must be of type `dtype`."""
    short = name.removeprefix("tirx.") if not _find(name) else name
    row = _find(short)
    if row is None:
        refuse(f"there is no intrinsic `{name}`", backend.hint_for("intrinsics", short))
    made = call(row, *args, **(attrs or {}))
    if made.dtype != named_dtype(dtype) and DType(dtype) is not made.dtype:
        refuse(f"{name} gives {an(made.dtype)}, not {an(named_dtype(dtype))}", f'give "{made.dtype}" as the type')
    return made


def _find(name: str) -> Intrinsic | None:
    found: Intrinsic | None = backend.find("intrinsics", name)
    return found
