"""Choice, hints to the compiler, and narrowing of the active threads."""

from __future__ import annotations

from ...ir import BOOL, Expr, Select, as_expr, cast, current_span, truth, unify
from ...support.words import an
from ..call import call
from ..row import Intrinsic, Operand
from .build import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["assume", "filter", "if_then_else", "likely", "selector"]

_WHERE = "tirx.sim.meanings.control:"
_CONDITION = Operand("condition", dtypes=("bool",))

_IF_THEN_ELSE = Intrinsic(
    "if_then_else", [_CONDITION, Operand("true_value"), Operand("false_value")], "arg:true_value",
    doc="one of two values; only the chosen one is evaluated", meaning=_WHERE + "if_then_else",
)  # fmt: skip
_LIKELY = Intrinsic("likely", [_CONDITION], "same", doc="a condition that mostly holds", meaning=_WHERE + "likely")
_ASSUME = Intrinsic(
    "assume", [_CONDITION], "void", "opaque", doc="a promise to the compiler; false is undefined behaviour",
    meaning=_WHERE + "assume",
)  # fmt: skip
_FILTER = Intrinsic(
    "filter", [Operand("var", dtypes=("integer",)), _CONDITION], "bool",
    doc="the condition, and a promise that it chooses threads by the scope id `var`", meaning=_WHERE + "filter",
)  # fmt: skip
_SELECTOR = Intrinsic(
    "selector", [Operand("var", dtypes=("integer",)), _CONDITION], "bool",
    doc="the condition, and a promise that it holds for one value of the scope id `var`", meaning=_WHERE + "selector",
)  # fmt: skip
ROWS = (_IF_THEN_ELSE, _LIKELY, _ASSUME, _FILTER, _SELECTOR)


def if_then_else(condition: Any, true_value: Any, false_value: Any) -> Any:
    """`true_value` if `condition` else `false_value`; only the chosen one is evaluated. A Python condition chooses at once."""
    if isinstance(condition, bool):
        return true_value if condition else false_value
    chosen = truth(condition)
    yes, no = unify(true_value, false_value)
    if chosen.dtype.lanes > 1:
        return Select(chosen, yes, no, span=current_span())
    return call(_IF_THEN_ELSE, chosen, yes, no)


def likely(condition: Any) -> Expr:
    """`condition`, which mostly holds."""
    return call(_LIKELY, truth(condition))


def assume(condition: Any) -> Expr:
    """Promise the compiler that `condition` holds here."""
    return call(_ASSUME, truth(condition))


def filter(var: Any, pred: Any) -> Expr:  # the language's name
    """`pred`, and a promise that it chooses threads by the scope id `var`."""
    return call(_FILTER, _id(var), _condition(var, pred))


def selector(var: Any, pred: Any) -> Expr:
    """`pred`, and a promise that it holds for exactly one value of the scope id `var`."""
    return call(_SELECTOR, _id(var), _condition(var, pred))


def _id(var: Any) -> Expr:
    expr = as_expr(var)
    if not expr.dtype.is_integer:
        refuse(
            f"threads are chosen by a scope id, not by {an(expr.dtype)}",
            "give a variable such as the one of Tx.lane_id()",
        )
    return expr


def _condition(var: Any, pred: Any) -> Expr:
    if callable(pred) and not isinstance(pred, Expr):
        pred = pred(var)
    value = truth(pred)
    return value if value.dtype is BOOL else cast(value, BOOL)
