"""Calls that a guard operand decides about, as branches: what follows knows no guards.

before  copy(A[i], guard)
after   if guard: copy(A[i])
"""

from __future__ import annotations

from ..intrinsic import Intrinsic
from ..ir import Call, Evaluate, Expr, If, PrimFunc, cast, mask_of, rewrite, walk

__all__ = ["unguarded"]

_CALLS = mask_of(Call)


def unguarded(func: PrimFunc) -> PrimFunc:
    """`func` with branches where calls have guards; itself when none has."""
    if not any(_guard(node) is not None for node in walk(func.body, _CALLS)):
        return func
    found: PrimFunc | None = func._memo.get("unguarded")
    if found is None:
        body = rewrite(func.body, {Evaluate: _branch}, mask=_CALLS)
        found = func._memo["unguarded"] = func.with_body(body)  # type: ignore[arg-type]
    return found


def _branch(stmt: Evaluate) -> If | None:
    call = stmt.value
    guard = _guard(call)
    if guard is None or not isinstance(call, Call):
        return None
    left = tuple(arg for arg in call.args if arg is not guard)
    condition = guard if guard.dtype.is_bool else cast(guard, "bool")
    made = Call(call.dtype, call.op.without_guard(), left, call.attrs, span=call.span)  # type: ignore[attr-defined]
    return If(condition, Evaluate(made, span=stmt.span), None, span=stmt.span)


def _guard(node: object) -> Expr | None:
    """The condition under which a call happens."""
    if not isinstance(node, Call) or not isinstance(node.op, Intrinsic):
        return None
    pairs = zip(node.args, node.op.operands, strict=False)
    return next((arg for arg, operand in pairs if operand.kind == "guard"), None)
