"""Operations made of others: the parts are tile calls themselves, and each finds its own variant."""

from __future__ import annotations

from .. import script as Tx
from ..tile import Variant
from .folding import WORKSPACE
from .reduce import PARTIALS, THREAD_REDUCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ir import TileCall
    from ..tile.context import DispatchContext

__all__ = ["fused_variants"]

# Names that operations have as operators of a fused one.
OPERATIONS = {"max": "maximum", "min": "minimum"}


def _scope(call: TileCall) -> Any:
    return getattr(Tx, call.scope)


def _settle(result: Any, context: DispatchContext) -> None:
    """Everybody sees `result` before somebody reads what another thread wrote."""
    if result.buffer.scope_name != "local" and context.threads > 1:
        context.sync()


def emit_unary_reduce(call: TileCall, context: DispatchContext) -> None:
    """`unary_output = f(input)`, then `reduce_output = fold(unary_output)`."""
    result = call.operand("unary_output")
    given = {name: call.operand(name) for name in ("bias", "scale") if call.operand(name) is not None}
    getattr(_scope(call), call.attr("unary_op"))(result, call.operand("unary_input"), **given)
    _reduce(call, context, result)


def emit_binary_reduce(call: TileCall, context: DispatchContext) -> None:
    """`binary_output = a op b`, then `reduce_output = fold(binary_output)`."""
    result = call.operand("binary_output")
    operation = OPERATIONS.get(call.attr("binary_op"), call.attr("binary_op"))
    getattr(_scope(call), operation)(result, call.operand("binary_input1"), call.operand("binary_input2"))
    _reduce(call, context, result)


def _reduce(call: TileCall, context: DispatchContext, result: Any) -> None:
    _settle(result, context)
    fold = getattr(_scope(call), call.attr("reduce_op"))
    fold(call.operand("reduce_output"), result, axes=call.attr("reduce_axes"), **_exchange(context))


def _exchange(context: DispatchContext) -> dict[str, Any]:
    """What the call gave for the reduction."""
    found: dict[str, Any] = {"thread_reduce": True} if context.config["thread_reduce"] else {}
    partials = context.workspace(WORKSPACE)
    return found if partials is None else {**found, "workspace": {WORKSPACE: partials}}


def emit_reduce_negate(call: TileCall, context: DispatchContext) -> None:
    """`output = -fold(input)`; with `accum` it is the negative of what was folded before."""
    output, accum = call.operand("output"), call.attr("accum")
    scope = _scope(call)
    if accum:
        scope.mul(output, output, -1)
        _settle(output, context)
    fold = getattr(scope, call.attr("reduce_op"))
    fold(output, call.operand("input"), axes=call.attr("reduce_axes"), accum=accum, **_exchange(context))
    _settle(output, context)
    scope.mul(output, output, -1)


_EMIT = {
    "unary_reduce": emit_unary_reduce, "binary_reduce": emit_binary_reduce, "reduce_negate": emit_reduce_negate,
}  # fmt: skip


def fused_variants(kind: str) -> tuple[Variant, ...]:
    """The rows of the fused operations for `kind`."""
    return tuple(
        Variant(
            operation,
            kind,
            "parts",
            emit=emit,
            config=(THREAD_REDUCE,),
            workspace=PARTIALS,
            doc="the operations that it is made of, one after the other",
        )
        for operation, emit in _EMIT.items()
    )
