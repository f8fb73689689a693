"""Which threads are active at each statement of a kernel: conditions, loops, and threads that have left."""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis import Declaration, Extents
from ..arith import Analyzer
from ..intrinsic import Intrinsic
from ..ir import (
    And,
    Bind,
    Break,
    Call,
    Continue,
    Expr,
    For,
    If,
    IntImm,
    Not,
    Or,
    PrimFunc,
    Return,
    Stmt,
    TileCall,
    Var,
    While,
    mask_of,
)  # fmt: skip
from ..support.span import Span
from ..tile.active import ActiveSet, Unclear
from ..tile.space import THREAD, Space
from ..tile.uniform import Values, leaves
from .ranged import Ranged

__all__ = ["Flow"]

_LEAVING = mask_of(Return, Break, Continue)


class Flow(Ranged):
    """A walk that knows the active threads: `active` before each statement, None where nobody gets to. `tile` handles calls."""

    def __init__(
        self, func: PrimFunc, body: Stmt, space: Space, found: Iterable[Declaration], extents: Extents | None
    ) -> None:
        super().__init__(func)
        self.space = space
        self.extents = extents
        self.values = Values(space)
        self.active: ActiveSet | None = ActiveSet(space)
        for item in found:
            self.declare(item)
        self.values.learn(body)
        self._ranges: dict[tuple[int, int], tuple[int, int, int] | None] = {}

    def tile(self, call: TileCall) -> list[Stmt]:
        """What takes the place of a call."""
        raise TypeError(f"{type(self).__name__} must define tile()")

    def declare(self, item: Declaration | Bind) -> None:
        """Take note of scope ids and their ranges, or of what is computed from them."""
        if isinstance(item, Bind):
            self.values.bound[id(item.var)] = (item.var, item.value)
            return
        self.values.declare(item)
        dims = self.extents.dims(item.parent, item.child) if self._sized(item) and self.extents is not None else ()
        for var, size in zip(item.vars, dims[item.first :], strict=False):
            if not isinstance(item.node, For):
                self.analyzer.bind(var, 0, size - 1 if isinstance(size, int) else None)

    def _sized(self, item: Declaration) -> bool:
        return self.extents is not None and (item.parent, item.child) in self.extents.facts

    def known(self, active: ActiveSet) -> Analyzer:
        """What is known here of loop variables and bindings, and of ids in the active threads."""
        found = self.analyzer.child()
        for var in self.values.variables():
            memo = (active.mask, id(var))
            if memo not in self._ranges:
                values = self.values.vector(var)
                self._ranges[memo] = None if values is None else active.bounds(values)
            known = self._ranges[memo]
            if known is not None:
                low, high, step = known
                found.bind(var, low, high)
                if step > 1:
                    found.bind_residue(var, step, low % step)
        return found

    # ---- statements -------------------------------------------------------------------------------------------------

    def statement(self, stmt: Stmt) -> Stmt | list[Stmt]:
        """Narrow, go inside, widen."""
        if isinstance(stmt, TileCall):
            return self.tile(stmt)
        if isinstance(stmt, Return | Break | Continue):
            self.active = None
            return stmt
        if isinstance(stmt, Bind):
            self.learn(stmt)
            return stmt
        if not stmt.mask & (TileCall.BIT | _LEAVING):
            return stmt
        if isinstance(stmt, While):
            return self._while(stmt)
        return super().statement(stmt)

    def branch(self, stmt: If) -> Stmt:
        """Each side with its threads; behind it those that have not left."""
        before = self.active
        if before is None:
            return super().branch(stmt)  # type: ignore[return-value]  # it answers one statement
        yes, no = (
            self.where(before, stmt.condition, stmt.span),
            self.where(before, stmt.condition, stmt.span, holds=False),
        )
        then, yes_after = self._side(stmt.then, yes, stmt.condition, holds=True)
        orelse, no_after = (
            self._side(stmt.orelse, no, stmt.condition, holds=False) if stmt.orelse is not None else (None, no)
        )
        self.active = self._behind(before, (yes, yes_after), (no, no_after))
        if then is stmt.then and orelse is stmt.orelse:
            return stmt
        return stmt.rebuild(then=then, orelse=orelse)

    def _side(self, body: Stmt, active: ActiveSet, condition: Expr, *, holds: bool) -> tuple[Stmt, ActiveSet | None]:
        outer = self.enter()
        self.active = None if active.is_empty else active
        self.analyzer.assume(condition, holds)
        made = self.body(body)
        self.analyzer = outer
        return made, self.active

    @staticmethod
    def _behind(
        before: ActiveSet, yes: tuple[ActiveSet, ActiveSet | None], no: tuple[ActiveSet, ActiveSet | None]
    ) -> ActiveSet | None:
        """Who goes on behind a branch, given who entered each side and who came out."""
        (yes_in, yes_out), (no_in, no_out) = yes, no
        if (yes_out is yes_in or yes_in.is_empty) and (no_out is no_in or no_in.is_empty):
            return before
        if yes_out is None or no_out is None:
            return no_out if yes_out is None else yes_out
        return yes_out.joined(no_out, yes_in, no_in, before)

    def loop(self, loop: For) -> Stmt:
        """The body with the threads that iterate."""
        before = self.active
        if before is None or loop.kind == "thread_binding":
            return self._plain_loop(loop)
        inside = self._iterating(before, loop)
        self.active = self._without_leavers(inside, loop.body, (Break, Return))
        made = self._plain_loop(loop)
        self.active = self._without_leavers(before, loop.body, (Return,), loop.extent, loop.step)
        return made

    def _plain_loop(self, loop: For) -> Stmt:
        made = super().loop(loop)
        assert isinstance(made, Stmt)
        return made

    def _while(self, stmt: While) -> Stmt:
        before = self.active
        if before is None:
            return stmt
        inside = self.where(before, stmt.condition, stmt.span)
        self.active = self._without_leavers(inside, stmt.body, (Break, Return))
        outer = self.enter()
        self.analyzer.assume(stmt.condition)
        body = self.body(stmt.body)
        self.analyzer = outer
        self.active = self._without_leavers(before, stmt.body, (Return,), stmt.condition)
        return stmt.rebuild(body=body)

    def _iterating(self, active: ActiveSet, loop: For) -> ActiveSet:
        """Threads that run the body: they must agree on how often."""
        if (
            isinstance(loop.extent, IntImm)
            and isinstance(loop.step, IntImm)
            and loop.extent.value * loop.step.value > 0
        ):
            return active
        reason = Unclear(f"how often the loop over `{loop.var.name}` runs", THREAD, loop.span)
        extent, step = self.values.vector(loop.extent), self.values.vector(loop.step)
        if extent is None or step is None or not all(step):
            return active.unknown(
                reason.at(self.space.inner(self.values.level(loop.extent), self.values.level(loop.step)))
            )
        counts = [max(-(-size // by), 0) for size, by in zip(extent, step, strict=True)]
        some = active.where(counts, Unclear(f"the loop over `{loop.var.name}`", THREAD, loop.span))
        return some.unknown(reason.at(self.space.level_of(counts, some.mask)))

    def _without_leavers(self, active: ActiveSet, body: Stmt, kinds: tuple[type[Stmt], ...], *more: Expr) -> ActiveSet:
        """The threads of which some may have left in an iteration, if anything of `kinds` makes them; `more` decides too."""
        found = list(leaves(body))
        first = next((leave for leave, _ in found if isinstance(leave, kinds)), None)
        if first is None:
            return active
        for condition in dict.fromkeys((*more, *(item for _, path in found for item in path))):
            what = f"the `{type(first).__name__.lower()}`"
            active = active.unknown(Unclear(what, self.values.level(condition), first.span))
        return active

    # ---- conditions -------------------------------------------------------------------------------------------------

    def where(self, active: ActiveSet, condition: Expr, span: Span | None, *, holds: bool = True) -> ActiveSet:
        """The active threads for which `condition` is `holds`."""
        if isinstance(condition, Not):
            return self.where(active, condition.a, span, holds=not holds)
        if isinstance(condition, And if holds else Or):
            return self.where(self.where(active, condition.a, span, holds=holds), condition.b, span, holds=holds)
        reason = Unclear(condition, THREAD, span, negated=not holds)
        values = self.values.vector(condition)
        if values is not None:
            return active.where(values if holds else [not item for item in values], reason)
        if isinstance(condition, Call) and isinstance(condition.op, Intrinsic):
            return self._where_call(active, condition, reason)
        return active.unknown(reason.at(self.values.level(condition)))

    def _where_call(self, active: ActiveSet, call: Call, reason: Unclear) -> ActiveSet:
        row, holds = call.op, not reason.negated
        assert isinstance(row, Intrinsic)
        if row.name == "likely":
            return self.where(active, call.args[0], reason.span, holds=holds)
        if row.effect.elects is not None and holds:
            return active.chosen(row.effect.elects, THREAD, reason)
        if row.name in ("filter", "selector"):
            return self._where_promised(active, call, reason)
        return active.unknown(reason.at(self.values.level(call)))

    def _where_promised(self, active: ActiveSet, call: Call, reason: Unclear) -> ActiveSet:
        """`filter(id, condition)` and `selector(id, condition)`: the condition chooses by the id, `selector` one value of it."""
        var, condition = call.args
        holds = not reason.negated
        item, _ = self.values.ids.get(id(var), (None, 0)) if isinstance(var, Var) else (None, 0)
        if item is None or self.values.vector(condition) is not None:
            return self.where(active, condition, reason.span, holds=holds)
        if call.op.name == "selector" and holds:
            return active.chosen(item.parent, item.child, reason)
        return active.unknown(reason.at(item.child))
