"""Calls with an effect: each is executed once, in the order in which the author made them.

A call is an expression, and may end up inside a statement (`B[0] = Tx.atomic_add(p, 1)`), or nowhere (`Tx.fence()`), or in
several places (`old = Tx.atomic_add(p, 1)`, then `old` twice). Before a statement is appended, calls that were noted and are
no part of it become statements of their own; a value that is used again is bound to a variable.
"""

from __future__ import annotations

from ...ir import Bind, Call, Evaluate, Node, Stmt, Var, post_order, rewrite
from ...support.errors import ScriptError
from ...support.span import here
from .bytecode import assigned_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeVar

    from .state import Builder, Frame

    N = TypeVar("N", bound=Node)

__all__ = ["Effects"]


class _Use:
    """Where a call's value went: `holder` is the statement, or the open frame whose header has it, inside `frame`."""

    __slots__ = ("frame", "holder")

    def __init__(self, frame: Frame, holder: Any) -> None:
        self.frame = frame
        self.holder = holder


class Effects:
    """The calls of one function that have an effect."""

    __slots__ = ("known", "names", "pending", "reads", "uses", "values")

    def __init__(self) -> None:
        self.known: dict[int, Call] = {}  # by identity; the reference keeps the identity taken
        self.names: dict[int, str] = {}  # what the author calls the value
        self.pending: dict[int, Call] = {}
        self.uses: dict[int, _Use] = {}
        self.values: dict[int, Var] = {}  # calls that became variables
        self.reads: set[int] = set()  # those variables that somebody reads

    def note(self, call: Call) -> None:
        """A call was made; calls among its arguments are now part of it."""
        for inner in self._calls_in(call):
            self.pending.pop(id(inner), None)
        self.known[id(call)] = self.pending[id(call)] = call
        if call.dtype.kind != "void":
            self.names[id(call)] = next(iter(assigned_names(1)), "") or call.op.name.rpartition(".")[2]

    def flush(self, owner: Builder) -> None:
        """Make statements of all calls that nothing has taken."""
        waiting, self.pending = list(self.pending.values()), {}
        for call in waiting:
            self._become_statement(owner, call)

    def settle(self, owner: Builder, node: N, holder: Any) -> N:
        """`node`, about to be appended as `holder`: earlier effects first, values that became variables replaced."""
        if not self.known:
            return node
        inside = self._calls_in(node)
        if not (inside or self.pending):
            return node
        if isinstance(holder, Stmt) or not holder.repeats_header:
            self._make_room(owner, inside)
        else:
            self._make_room(owner, [], keep=inside)
        for call in inside:
            if id(call) in self.uses and id(call) not in self.values:
                self._bind_earlier(owner, call)
            elif id(call) not in self.values:
                self.uses[id(call)] = _Use(owner.top, holder)
        made = self._replaced(node)
        if made is not node and holder is node:
            self._moved(node, made)
        return made

    def _make_room(self, owner: Builder, inside: list[Call], keep: Sequence[Call] = ()) -> None:
        """Statements of the pending calls that must run before the one that contains `inside`."""
        waiting, self.pending = list(self.pending.values()), {}
        if [id(call) for call in inside if id(call) not in self.uses] == [id(call) for call in waiting]:
            return  # the statement takes them all, once each, in order
        kept = {id(call) for call in keep}
        last = _last_in_order(waiting, inside)
        for call in waiting[:-last] if last else waiting:
            if id(call) not in kept:
                self._become_statement(owner, call)

    def _become_statement(self, owner: Builder, call: Call) -> None:
        """`call` as a statement: bound to a variable when it has a value that may still be used."""
        made = self._replaced(call)
        if call.dtype.kind == "void":
            owner.top.stmts.append(Evaluate(made, span=call.span))
            return
        owner.top.stmts.append(self._bound(owner, call, made))

    def _bound(self, owner: Builder, call: Call, value: Call) -> Bind:
        var = self.values[id(call)] = Var("v", call.dtype, span=call.span)
        owner.claim(var, self.names[id(call)])
        return Bind(var, value, span=call.span)

    def _bind_earlier(self, owner: Builder, call: Call) -> None:
        """A value is used again: bind it before the statement that used it first."""
        use = self.uses.pop(id(call))
        if use.frame not in owner.stack:
            raise ScriptError(
                f"the value of {call.op.name} is used where it is not known: the block in which it was made is closed",
                span=here(2),
                hint="store it to a scalar that lives outside the block",
                notes=[f"it was made at {call.span}"],
            )
        stmts = use.frame.stmts
        at = next((i for i, item in enumerate(stmts) if item is use.holder), len(stmts))
        stmts.insert(at, self._bound(owner, call, self._replaced(call)))
        if at + 1 < len(stmts) and isinstance(stmts[at + 1], Stmt):
            old = stmts[at + 1]
            stmts[at + 1] = self._replaced(old)
            self._moved(old, stmts[at + 1])
        elif not isinstance(use.holder, Stmt):
            use.holder.exprs = tuple(self._replaced(item) for item in use.holder.exprs)

    def closed(self, frame: Frame, stmt: Stmt) -> None:
        """`frame` became `stmt`: calls in its header are now in there."""
        self._moved(frame, stmt)

    def finished(self, stmts: list[Any]) -> list[Any]:
        """Statements of a closed frame: variables that nobody reads are dropped, their calls stay."""
        unread = {id(var) for var in self.values.values()} - self.reads
        return [
            Evaluate(item.value, span=item.span) if isinstance(item, Bind) and id(item.var) in unread else item
            for item in stmts
        ]

    def _moved(self, old: Any, new: Any) -> None:
        for use in self.uses.values():
            if use.holder is old:
                use.holder = new

    def _replaced(self, node: N) -> N:
        if not self.values or not node.mask & Call.BIT:
            return node
        return rewrite(node, {}, enter={Call: self._variable})

    def _variable(self, call: Call) -> Var | None:
        var = self.values.get(id(call))
        if var is not None:
            self.reads.add(id(var))
        return var

    def _calls_in(self, node: Node) -> list[Call]:
        """Noted calls below `node` in the order of evaluation; a call that occurs twice is there twice."""
        if not node.mask & Call.BIT:
            return []
        return [item for item in post_order(node, Call.BIT) if id(item) in self.known and item is not node]  # type: ignore[misc]


def _last_in_order(waiting: list[Call], inside: list[Call]) -> int:
    """How many of the last `waiting` calls the next statement takes, once each and in their order."""
    taken = [id(call) for call in inside]
    most = min(len(waiting), len(taken))
    for count in range(most, 0, -1):
        tail = [id(call) for call in waiting[-count:]]
        if [item for item in taken if item in set(tail)] == tail:
            return count
    return 0
