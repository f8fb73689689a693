"""Constants and plain data as text."""

from __future__ import annotations

import math

from ...ir import BOOL, FLOAT32, INT32, DType, Expr, FloatImm, IntImm, PointerType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["constant", "dtype_text", "is_number", "number", "plain_data"]


def is_number(expr: Expr) -> bool:
    """Whether `expr` is a constant."""
    return isinstance(expr, IntImm | FloatImm)


def number(expr: Any, expected: DType | None) -> str:
    """A constant where a Python number becomes `expected` (None: what its Python type says)."""
    kind = expr.dtype
    if isinstance(expr, FloatImm):
        if not math.isfinite(expr.value):
            return constant(expr)
        return repr(expr.value) if kind is (expected or FLOAT32) else constant(expr)
    if kind is BOOL:
        return constant(expr)
    return str(expr.value) if kind is (expected or INT32) else constant(expr)


def constant(expr: Any) -> str:
    """A constant with its type."""
    kind = expr.dtype.name
    if isinstance(expr, FloatImm):
        if math.isnan(expr.value):
            return f'T.{kind}("nan")'
        if math.isinf(expr.value):
            return f'T.{kind}("{"-" if expr.value < 0 else ""}inf")'
        return f"T.{kind}({expr.value!r})"
    return f"T.{kind}({bool(expr.value) if kind == 'bool' else expr.value})"


def dtype_text(dtype: DType) -> str:
    """A type as an annotation."""
    if isinstance(dtype, PointerType):
        if dtype.pointee is None and dtype.scope == "global":
            return "T.handle"
        if dtype.by_value and str(dtype.pointee) == "tensormap":
            return "T.TensorMap()"
        parts = [f'"{dtype.pointee}"' if dtype.pointee is not None else "None"]
        parts += [f'"{dtype.scope}"'] if dtype.scope != "global" else []
        return f"T.handle({', '.join(parts)})"
    return f"T.{dtype.name}"


def plain_data(value: Any) -> str:
    """Plain data: numbers, text, tuples, dictionaries."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{plain_data(k)}: {plain_data(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        inner = ", ".join(plain_data(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return f"[{', '.join(plain_data(item) for item in value)}]"
    if isinstance(value, str):
        return quoted(value)
    fields = record_fields(value)
    if fields is not None:
        return f"{record_name(value)}({', '.join(f'{key}={plain_data(item)}' for key, item in fields.items())})"
    if type(value).__name__ == "Target":
        return f"T.target({quoted(str(value))})"
    return repr(value)


def record_fields(value: Any) -> dict[str, Any] | None:
    """What a record that passes leave, such as `Launch`, says beyond its defaults; None for anything else."""
    record = getattr(value, "plain", None)
    return None if record is None else {key: item for key, item in record().items() if item not in (None, (), {}, 0)}


def record_name(value: Any) -> str:
    """The function that makes such a record."""
    return f"T.tirx.{type(value).__name__}"


def quoted(text: str) -> str:
    """Text in double quotes."""
    body = repr(text)
    if body[0] == '"':
        return body
    inner = body[1:-1].replace("\\'", "'").replace('"', '\\"')
    return f'"{inner}"'
