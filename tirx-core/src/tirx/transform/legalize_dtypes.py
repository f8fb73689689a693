"""Arithmetic on types that the target only stores is done in float32, rounded after each operation.

before  c = a + b                                              (bfloat16, on a target without bfloat16 arithmetic)
after   c = Tx.cast(Tx.float32(a) + Tx.float32(b), "bfloat16")

Loads, stores, choices and bindings keep their type. Rounding after each operation is what the operation means, so
results are those of the simulator, bit for bit. Needs: a target on every function.
"""

from __future__ import annotations

from ..intrinsic import Intrinsic
from ..ir import (
    FLOAT32,
    Add,
    And,
    Binary,
    Call,
    Cast,
    Compare,
    Div,
    DType,
    Expr,
    FloatImm,
    IRModule,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Or,
    PrimFunc,
    Sub,
    rewrite,
)  # fmt: skip
from ..target import Capabilities
from .pipeline import Pass, PassContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["legalize_dtypes"]

_ARITHMETIC = (Add, Sub, Mul, Div, Mod, Min, Max)
_FAMILIES = {"float", "number"}


class _Legalizer:
    """Rules for a target with these capabilities."""

    def __init__(self, has: Capabilities) -> None:
        self.has = has
        self.rules: dict[type[Any], Any] = {
            **dict.fromkeys(_ARITHMETIC, self._arithmetic),
            **{kind: self._compare for kind in Compare.__subclasses__() if kind not in (And, Or)},
            Neg: self._negate,
            Call: self._call,
        }

    def _foreign(self, dtype: DType) -> bool:
        return dtype.is_float and dtype.scalar_name not in self.has.arithmetic

    def _arithmetic(self, node: Binary) -> Expr | None:
        if not self._foreign(node.dtype):
            return None
        return _back(type(node)(_up(node.a), _up(node.b), span=node.span), node.dtype)

    def _compare(self, node: Compare) -> Expr | None:
        return type(node)(_up(node.a), _up(node.b), span=node.span) if self._foreign(node.a.dtype) else None

    def _negate(self, node: Neg) -> Expr | None:
        return _back(Neg(_up(node.a), span=node.span), node.dtype) if self._foreign(node.dtype) else None

    def _call(self, node: Call) -> Expr | None:
        """Functions of any float type; those that name their types know them."""
        row = node.op
        if not isinstance(row, Intrinsic) or not row.effect.is_pure or not node.args:
            return None
        floats = [arg.dtype for arg in node.args if arg.dtype.is_float]
        generic = all(item.kind == "value" and _FAMILIES.issuperset(item.dtypes) for item in row.operands)
        if (
            not floats
            or not generic
            or not any(map(self._foreign, floats))
            or not all(item.dtypes for item in row.operands)
        ):
            return None
        args = tuple(_up(arg) if self._foreign(arg.dtype) else arg for arg in node.args)
        dtype = FLOAT32.with_lanes(node.dtype.lanes) if self._foreign(node.dtype) else node.dtype
        return _back(Call(dtype, row, args, node.attrs, span=node.span), node.dtype)


def _up(expr: Expr) -> Expr:
    dtype = FLOAT32.with_lanes(expr.dtype.lanes)
    if isinstance(expr, FloatImm) and expr.dtype.holds(expr.value):
        return FloatImm(expr.value, dtype, span=expr.span)
    return Cast(dtype, expr, span=expr.span)


def _back(expr: Expr, dtype: DType) -> Expr:
    return expr if expr.dtype is dtype else Cast(dtype, expr, span=expr.span)


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with arithmetic that the target has."""
    return module.map(lambda func: _function(func, context))


def _function(func: PrimFunc, context: PassContext) -> PrimFunc:
    has = func.attrs.get("target", context.target).capabilities
    if has.arithmetic >= has.dtypes:
        return func
    return func.with_body(rewrite(func.body, _Legalizer(has).rules))


legalize_dtypes = Pass("legalize_dtypes", run, requires=("target",))
