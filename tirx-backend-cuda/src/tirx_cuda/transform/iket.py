"""Annotations of the profiler become its events where they are asked for, and nothing elsewhere.

before  Tx.cuda.iket.range_push("load")              token = Tx.cuda.iket.range_start("step")
after   Tx.cuda.iket.official_event(1, "...")        token = Tx.cuda.iket.official_event(2, "...")
else                                                 token = 0

Needs: device functions. Leaves: no annotations.
"""

from __future__ import annotations

from tirx.ir import Call, Evaluate, Expr, IRModule, Node, PrimFunc, StringImm, const, mask_of, rewrite, walk
from tirx.support.errors import TargetError
from tirx.transform.pipeline import Pass, PassContext

from ..capabilities import needs
from ..iket_events import MARK, POP, PUSH, TOKEN, EventTable, declarations, recording
from ..namespaces.iket import official_event

__all__ = ["lower_iket"]

_KINDS = {"mark": MARK, "range_push": PUSH, "range_start": TOKEN}
_PREFIX = "cuda.iket."


def _word(node: Node) -> str:
    """The name of an annotation; empty for anything else."""
    name = node.op.name if isinstance(node, Call) else ""
    word = name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else ""
    return "" if word == "official_event" else word


def _dropped(node: Evaluate) -> list[Node] | None:
    return [] if _word(node.value) else None


def _silent(node: Call) -> Expr | None:
    return const(0, "uint32") if _word(node) in ("range_start", "sentinel_token") else None


def _event(table: EventTable, node: Call) -> Expr | None:
    word = _word(node)
    if not word:
        return None
    if word == "sentinel_token":
        return const(0, "uint32")
    if word == "range_pop":
        return _at(node, official_event(POP))
    first, *payload = node.args
    value = payload[0] if payload else None
    if word == "range_end":
        return _at(node, official_event(first, payload=value))
    assert isinstance(first, StringImm)
    event = table.event(first.value, _KINDS[word], "" if value is None else value.dtype.name, node.span)
    return _at(node, official_event(event.number, declarations(event), value))


def _at(node: Call, made: Call) -> Call:
    return Call(made.dtype, made.op, made.args, made.attrs, span=node.span)


def _function(func: PrimFunc, table: EventTable) -> PrimFunc:
    mask = mask_of(Call)
    if not any(_word(node) for node in walk(func.body, mask)):
        return func
    if recording():
        return func.with_body(rewrite(func.body, {Call: lambda node: _event(table, node)}, mask=mask))
    return func.with_body(rewrite(func.body, {Call: _silent}, enter={Evaluate: _dropped}, mask=mask))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without annotations."""
    table = EventTable()
    if recording() and not needs("elect").holds(context.target):
        raise TargetError("the profiler has no events on this target", hint=f"it needs {needs('elect').text}")
    return module.map(lambda func: _function(func, table))


lower_iket = Pass("lower_iket", run)
