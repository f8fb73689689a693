"""Annotated assignments: `x: Tx.int32 = e`, `x: Tx.let = e`, `x: Tx.float32[4]`."""

from __future__ import annotations

from ..ir import DType, Var
from .assign import UNBOUND, assign, bind_value, is_kernel_value, is_number, meta_var, new_scalar
from .builder.state import builder, refuse
from .builder.types import DtypeConstructor, LetAnnotation, LocalVectorAnnotation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["declared"]

_PYTHON = {bool: DType("bool"), int: DType("int32"), float: DType("float32")}


def declared(name: str, kind: Any, value: Any) -> Any:
    """What `name: kind = value` gives; `value` is None when there is none."""
    if isinstance(value, meta_var):
        return value.value
    if isinstance(kind, LetAnnotation):
        return _let(name, kind, value)
    if isinstance(kind, LocalVectorAnnotation):
        return _vector(name, kind, value)
    dtype = _dtype(kind)
    if dtype is None:
        return _plain(name, kind, value)
    if dtype.is_handle or dtype.kind == "opaque":
        return bind_value(name, _needed(name, value), dtype)
    if dtype.kind == "void":
        refuse(f"`{name}` cannot be void", "declare it with a type that has values")
    if value is not None and not is_number(value) and not is_kernel_value(value):
        refuse(f"`{name}` is declared as {dtype} and gets {_described(value)}", "assign a number or a kernel value")
    return new_scalar(name, dtype, value)


def _dtype(kind: Any) -> DType | None:
    if isinstance(kind, DtypeConstructor):
        return kind.dtype
    if isinstance(kind, Var):  # `x: Tx.handle("float32")` is a fresh variable of that type
        return kind.dtype
    if isinstance(kind, DType):
        return kind
    return _PYTHON.get(kind) if isinstance(kind, type) else None


def _let(name: str, kind: LetAnnotation, value: Any) -> Any:
    value = _needed(name, value)
    if not (is_number(value) or is_kernel_value(value)):
        refuse(
            f"`{name}` is declared with Tx.let and gets {_described(value)}",
            "drop the annotation to keep a Python value",
        )
    return bind_value(name, value, kind.dtype)


def _vector(name: str, kind: LocalVectorAnnotation, value: Any) -> Any:
    if value is not None:
        refuse(f"the vector `{name}` cannot be initialised where it is declared", "declare it, then store its elements")
    made = kind.allocate()
    builder().name_value(made, name)
    return made


def _plain(name: str, kind: Any, value: Any) -> Any:
    """An annotation for readers and type checkers only."""
    if value is None:
        refuse(f"the annotation of `{name}` is no type of the kernel language", f"write a type, e.g. {name}: Tx.int32")
    if isinstance(kind, str):
        refuse(f"{kind!r} is no type", f"write {name}: Tx.{kind}" if kind.isidentifier() else "e.g. Tx.int32")
    return assign(name, UNBOUND, value)


def _needed(name: str, value: Any) -> Any:
    if value is None:
        refuse(f"`{name}` is bound once and needs its value here", f"write {name}: ... = value")
    return value


def _described(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 30 else text[:27] + '...'}"
