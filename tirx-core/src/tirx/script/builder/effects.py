"""Calls with an effect: each is executed once, in the order in which the author made them.

A call is an expression, and may end up inside a statement (`B[0] = Tx.atomic_add(p, 1)`), or nowhere (`Tx.fence()`), or in
several places (`old = Tx.atomic_add(p, 1)`, then `old` twice). Before a statement is appended, calls that were noted and are
no part of it become statements of their own; a value that is used again is bound to a variable, before the statement that used
it first. While the function is open its statements hold the calls themselves; `resolve` puts the variables in at the end.
"""

from __future__ import annotations

from ...ir import Bind, Call, Evaluate, Node, Stmt, Var, While, rewrite
from ...support.errors import ScriptError
from ...support.span import here
from .bytecode import assigned_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .state import Builder, Frame

__all__ = ["Effects"]


class _Use:
    """Where a call's value went: `holder` is the statement, or the open frame whose header has it, inside `frame`."""

    __slots__ = ("frame", "holder")

    def __init__(self, frame: Frame, holder: Any) -> None:
        self.frame = frame
        self.holder = holder


class Effects:
    """The calls of one function that have an effect."""

    __slots__ = ("known", "names", "pending", "uses", "values")

    def __init__(self) -> None:
        self.known: dict[int, Call] = {}  # by identity; the reference keeps the identity taken
        self.names: dict[int, str] = {}  # what the author calls the value
        self.pending: dict[int, Call] = {}  # made, and in no statement yet
        self.uses: dict[int, _Use] = {}
        self.values: dict[int, Var] = {}  # calls that became variables

    # ---- while the function is open -------------------------------------------------------------------------------

    def note(self, owner: Builder, call: Call) -> None:
        """A call was made. Calls among its arguments are part of it; what was made before them happens before it."""
        inside = self._calls_in(call.args)
        if inside and self.pending:
            self._absorb(owner, inside)
        self.known[id(call)] = self.pending[id(call)] = call
        if call.dtype.kind != "void":
            self.names[id(call)] = next(iter(assigned_names(1)), "") or call.op.name.rpartition(".")[2]

    def flush(self, owner: Builder) -> None:
        """Make statements of all calls that nothing has taken."""
        self._make_room(owner, [])

    def settle(self, owner: Builder, nodes: Iterable[Node], holder: Any) -> None:
        """`holder`, a statement or a frame with `nodes` in it, is about to be appended: effects that come before it."""
        if not self.known:
            return
        inside = self._calls_in(nodes)
        if not isinstance(holder, Stmt) and holder.repeats_header:  # a condition keeps its calls: they run again
            taken = {id(call) for call in inside}
            waiting = [call for key, call in self.pending.items() if key not in taken]
            self.pending = {}
            self._become_statements(owner, waiting)
        else:
            self._make_room(owner, inside)
        self._used(owner, inside, holder)

    def closed(self, frame: Frame, stmt: Stmt) -> None:
        """`frame` became `stmt`: calls in its header are now in there."""
        for use in self.uses.values():
            if use.holder is frame:
                use.holder = stmt

    def _absorb(self, owner: Builder, inside: Sequence[Call]) -> None:
        """A new call has `inside` among its arguments: the last pending ones become part of it, others come before it."""
        waiting = list(self.pending.values())
        kept = _last_in_order(waiting, inside)
        tail = waiting[len(waiting) - kept :]
        part = {id(item) for item in (*tail, *self._calls_in(arg for item in tail for arg in item.args))}
        others = [id(item) for item in inside if id(item) not in part and id(item) not in self.values]
        if not others:
            self.pending = {id(item): item for item in waiting[: len(waiting) - kept]}
            return
        places = [number for number, item in enumerate(waiting) if id(item) in others]
        hidden = any(item not in self.pending and item not in self.uses for item in others)  # inside a pending call
        count = len(waiting) if hidden else max(places, default=-1) + 1
        self.pending = {id(item): item for item in waiting[count:]}
        self._become_statements(owner, waiting[:count])

    def _make_room(self, owner: Builder, inside: Sequence[Call]) -> None:
        """Statements of the pending calls, except the last ones if `inside` holds exactly them, once each and in order."""
        waiting, self.pending = list(self.pending.values()), {}
        kept = _last_in_order(waiting, inside)
        self._become_statements(owner, waiting[: len(waiting) - kept])

    def _become_statements(self, owner: Builder, calls: Iterable[Call]) -> None:
        for call in calls:
            owner.top.stmts.append(self._statement(owner, call))

    def _statement(self, owner: Builder, call: Call) -> Stmt:
        """`call` as a statement: bound to a variable when it has a value that may still be used."""
        inside = self._calls_in(call.args)
        made: Stmt
        if call.dtype.kind == "void":
            made = Evaluate(call, span=call.span)
        else:
            made = Bind(self._variable_for(owner, call), call, span=call.span)
        self._used(owner, inside, made)
        return made

    def _variable_for(self, owner: Builder, call: Call) -> Var:
        var = self.values[id(call)] = Var("v", call.dtype, span=call.span)
        owner.claim(var, self.names[id(call)])
        return var

    def _used(self, owner: Builder, inside: Sequence[Call], holder: Any) -> None:
        """`holder` has the calls `inside`: those that were used before are bound before their first use."""
        for call in inside:
            if id(call) in self.uses and id(call) not in self.values:
                self._bind_earlier(owner, call)
            elif id(call) not in self.values:
                self.uses[id(call)] = _Use(owner.top, holder)

    def _bind_earlier(self, owner: Builder, call: Call) -> None:
        """Bind `call`, and what is evaluated before it in the same statement, before that statement."""
        use = self.uses[id(call)]
        if not any(use.frame is frame for frame in owner.stack) or _repeats(use.holder):
            raise ScriptError(
                f"the value of {call.op.name} is used where it is not known: the block in which it was made is closed",
                span=here(2),
                hint="store it to a scalar that lives outside the block",
                notes=[f"it was made at {call.span}"],
            )
        own = {id(item) for item in self._calls_in(call.args)}
        binds = []
        for item in self._calls_in(self._header(use.holder)):
            if id(item) not in own and id(item) not in self.values:
                self.uses.pop(id(item), None)
                binds.append(Bind(self._variable_for(owner, item), item, span=item.span))
            if item is call:
                break
        stmts = use.frame.stmts
        at = next((number for number, item in enumerate(stmts) if item is use.holder), len(stmts))
        stmts[at:at] = binds

    def _header(self, holder: Any) -> Iterable[Node]:
        """The expressions that `holder` evaluates itself: of a block, those in its header; of our own bindings, the operands."""
        if isinstance(holder, Bind) and isinstance(holder.value, Call) and id(holder.value) in self.values:
            return holder.value.args
        if isinstance(holder, Stmt):
            return [child for child in holder.children() if not isinstance(child, Stmt)]
        exprs: Iterable[Node] = holder.exprs
        return exprs

    def _calls_in(self, nodes: Iterable[Node]) -> list[Call]:
        """Noted calls below `nodes` in the order of evaluation, a call that occurs twice twice; not below variables."""
        if not self.known:
            return []
        stack: list[tuple[Any, bool]] = [(node, False) for node in nodes if node.mask & Call.BIT]
        stack.reverse()
        found: list[Call] = []
        while stack:
            node, done = stack.pop()
            if done:
                found.append(node)
            elif node.mask & Call.BIT and id(node) not in self.values:
                if id(node) in self.known:
                    stack.append((node, True))
                stack.extend((child, False) for child in reversed(list(node.children())))
        return found

    # ---- at the end -----------------------------------------------------------------------------------------------

    def resolve(self, body: Stmt) -> Stmt:
        """The finished body with variables where their values are used; calls whose value nobody reads stay statements."""
        if not self.values:
            return body
        own = {id(var) for var in self.values.values()}
        read: set[int] = set()

        def variable(call: Call) -> Var | None:
            var = self.values.get(id(call))
            if var is not None:
                read.add(id(var))
            return var

        def binding(stmt: Bind) -> Bind | None:
            call = stmt.value
            if id(stmt.var) not in own or not isinstance(call, Call):
                return None
            args = tuple(rewrite(arg, {}, enter={Call: variable}) for arg in call.args)
            return Bind(stmt.var, call.rebuild(args=args), span=stmt.span)

        def statement(stmt: Bind) -> Stmt | None:
            unread = id(stmt.var) in own and id(stmt.var) not in read
            return Evaluate(stmt.value, span=stmt.span) if unread else None

        return rewrite(rewrite(body, {}, enter={Call: variable, Bind: binding}), {Bind: statement})


def _repeats(holder: Any) -> bool:
    return isinstance(holder, While) if isinstance(holder, Stmt) else bool(holder.repeats_header)


def _last_in_order(waiting: Sequence[Call], inside: Sequence[Call]) -> int:
    """How many of the last `waiting` calls are in `inside`, once each and in their order."""
    taken = [id(call) for call in inside]
    for count in range(min(len(waiting), len(taken)), 0, -1):
        tail = [id(call) for call in waiting[-count:]]
        if [item for item in taken if item in tail] == tail:
            return count
    return 0
