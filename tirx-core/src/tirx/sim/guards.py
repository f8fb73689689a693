"""Calls that a guard operand decides about, as branches, and those that leave the function: what follows knows neither.

before  copy(A[i], guard); leave(guard)
after   if guard: copy(A[i])
        if guard: return
"""

from __future__ import annotations

from ..intrinsic import Intrinsic
from ..ir import Call, Evaluate, Expr, If, PrimFunc, Return, Stmt, cast, mask_of, rewrite, walk

__all__ = ["unguarded"]

_CALLS = mask_of(Call)


def unguarded(func: PrimFunc) -> PrimFunc:
    """`func` with branches where calls have guards; itself when none has."""
    if not any(_guard(node) is not None or _leaves(node) for node in walk(func.body, _CALLS)):
        return func
    found: PrimFunc | None = func._memo.get("unguarded")
    if found is None:
        body = rewrite(func.body, {Evaluate: _branch}, mask=_CALLS)
        found = func._memo["unguarded"] = func.with_body(body)
    return found


def _branch(stmt: Evaluate) -> Stmt | None:
    call = stmt.value
    guard = _guard(call)
    if not isinstance(call, Call) or (guard is None and not _leaves(call)):
        return None
    done = Return(None, span=stmt.span)
    if guard is None:
        return done
    left = tuple(arg for arg in call.args if arg is not guard)
    condition = guard if guard.dtype.is_bool else cast(guard, "bool")
    if _leaves(call):
        return If(condition, done, None, span=stmt.span)
    made = Call(call.dtype, call.op.without_guard(), left, call.attrs, span=call.span)  # type: ignore[attr-defined]
    return If(condition, Evaluate(made, span=stmt.span), None, span=stmt.span)


def _leaves(node: object) -> bool:
    """Whether a call leaves the function."""
    return isinstance(node, Call) and isinstance(node.op, Intrinsic) and node.op.effect.kind == "control"


def _guard(node: object) -> Expr | None:
    """The condition under which a call happens."""
    if not isinstance(node, Call) or not isinstance(node.op, Intrinsic):
        return None
    pairs = zip(node.args, node.op.operands, strict=False)
    return next((arg for arg, operand in pairs if operand.kind == "guard"), None)
