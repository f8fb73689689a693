"""Statements of one block as text: branches and loops under sets of active threads.

Threads that leave early (`break`, `continue`, `return`) get a code in the array `esc`; what follows runs for those whose code
is still 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir import (
    Alloc,
    Assert,
    Attr,
    Bind,
    Break,
    BufferStore,
    Continue,
    Decl,
    Evaluate,
    Expr,
    For,
    If,
    Launch,
    Return,
    Seq,
    Stmt,
    StringImm,
    Var,
    While,
)  # fmt: skip
from ..ir.dtype import VOID
from .cut import Block, Counted
from .emit_base import Code, Val
from .emit_call import CallEmitter
from .inline import FUNCTION
from .pool import Pool

__all__ = ["RETURNED", "StmtEmitter"]

RETURNED = 1


class StmtEmitter(CallEmitter):
    """Emits the statements of one block."""

    def __init__(self, pool: Pool, block: Block, bindings: dict[int, Expr], saved: set[int]) -> None:
        super().__init__(pool, block.index)
        self.source = block
        self.saved = saved
        self.spilled = lambda var: bindings.get(id(var))
        self.loops: list[tuple[int, int]] = []
        self.functions: list[int] = []
        self.codes: dict[int, tuple[int, str]] = {}
        self.next_code = RETURNED + 1
        self.uses_esc = False
        for number, counted in enumerate(block.keys):
            self.same_names[id(counted.loop.var)] = f"key[{number}]"

    # ---- sequences --------------------------------------------------------------------------------------------------

    def items(self, stmts: Sequence[Stmt], finish: Callable[[], None] | None = None) -> None:
        """Statements in order; after one that threads may leave by, the rest runs for those that stayed."""
        for position, stmt in enumerate(stmts):
            self.statement(stmt)
            if escapes(stmt):
                rest = stmts[position + 1 :]
                if rest or finish is not None:
                    self.narrowed(self._staying(), lambda rest=rest: self.items(rest, finish))  # type: ignore[misc]
                return
        if finish is not None:
            finish()

    def _staying(self) -> str:
        return "esc == 0" if self.level.parent is None else f"esc[{self.level.p}] == 0"

    def statement(self, stmt: Stmt) -> None:
        """One statement."""
        if isinstance(stmt, Seq):
            self.items(stmt.stmts)
        elif isinstance(stmt, Attr):
            self._function(stmt) if stmt.key == FUNCTION else self.statement(stmt.body)
        elif isinstance(stmt, BufferStore):
            self.store(stmt)
        else:
            _STATEMENTS[type(stmt)](self, stmt)

    def line_changed(self) -> None:
        """In blocks of loops that may spin, writes count as progress."""
        if self.source.spins:
            self.line("S.changed = True")

    def _bind(self, stmt: Bind) -> None:
        value = self.expr(stmt.value)
        if value.text == "None":
            return
        self._define(stmt.var, value, self.facts.differs(stmt.value))

    def _define(self, var: Var, value: Val, differs: bool) -> None:
        if differs and value.same:
            value = Val(f"spread({value.text}, {self.count()}, {self.pool.dtype(var.dtype)}, {var.dtype.lanes})", False)
        name = self.define(var, not differs)
        self.line(f"{name} = {value.text}{'.copy()' if value.alias else ''}")
        if differs and id(var) in self.saved:
            self.save(name)

    def save(self, name: str, value: str | None = None) -> None:
        """Keep a per-thread value for later blocks."""
        threads = "tid" if self.level.parent is None else f"pick(tid, {self.level.p})"
        self.line(f"save(S, '{name}', {threads}, {value or name})")

    def _alloc(self, stmt: Alloc) -> None:
        root = self.facts.roots[id(stmt.buffer.data)]
        if root.kind == "register":
            register = self.register(stmt.buffer, root)
            if register.checked:
                self.line(f"i_{register.name}[..., {self.level.p}] = False")

    def _decl(self, stmt: Decl) -> None:
        root = self.facts.roots.get(id(stmt.buffer.data))
        if stmt.source is not None and root is not None and root.kind == "pointer":
            self._define(stmt.buffer.data, self.expr(stmt.source), self.facts.differs(stmt.source))

    def _evaluate(self, stmt: Evaluate) -> None:
        value = self.expr(stmt.value)
        if not value.text.isidentifier():
            self.line(value.text)

    def _assert(self, stmt: Assert) -> None:
        condition = self.array(stmt.condition)
        message = "".join(part.value for part in stmt.message if isinstance(part, StringImm))
        site = self.site(stmt, "assert", None, VOID, name=message)
        self.line(f"ck.require({site}, {condition}, {self.level.p})")

    def _function(self, stmt: Attr) -> None:
        """The body of a function that was called: `return` leaves it, not the kernel."""
        code = self._new_code()
        self.functions.append(code)
        loops, self.loops = self.loops, []
        self.statement(stmt.body)
        self.loops = loops
        self.functions.pop()
        if returns(stmt.body):
            self._rejoin(code)

    def _return(self, stmt: Return) -> None:
        if self.functions:
            self._escape(self.functions[-1])
        elif self.source.return_to is not None:
            self._escape(self._code_to(self.source.return_to))
        else:
            self._escape(RETURNED)

    def _escape(self, code: int) -> None:
        self.uses_esc = True
        self.line(f"esc[{self.level.p}] = {code}")

    def _break(self, stmt: Break) -> None:
        if self.loops:
            self._escape(self.loops[-1][0])
        else:
            assert self.source.break_to is not None
            self._escape(self._code_to(self.source.break_to))

    def _continue(self, stmt: Continue) -> None:
        if self.loops:
            self._escape(self.loops[-1][1])
        else:
            assert self.source.continue_to is not None
            self._escape(self._code_to(self.source.continue_to))

    def _code_to(self, target: Block) -> int:
        if target.index not in self.codes:
            self.codes[target.index] = (self._new_code(), self.key_text(target))
        return self.codes[target.index][0]

    def key_text(self, target: Block, counted: Counted | None = None, value: str = "") -> str:
        """The key of a block that follows: counters of the keyed loops around it."""
        parts = [value if loop is counted else self.same_names[id(loop.loop.var)] for loop in target.keys]
        return f"({', '.join(parts)},)" if parts else "()"

    def _new_code(self) -> int:
        self.next_code += 1
        return self.next_code

    def _launch(self, stmt: Launch) -> None:
        self.line("cx.unmodelled('a launch inside a kernel')")

    # ---- branches ---------------------------------------------------------------------------------------------------

    def _if(self, stmt: If) -> None:
        condition = self.expr(stmt.condition)
        orelse = stmt.orelse
        if condition.same:
            self.branches(
                condition.text,
                lambda: self.statement(stmt.then),
                None if orelse is None else lambda: self.statement(orelse),
            )
            return
        chosen = self.temp(condition.text, "c")
        self.narrowed(chosen, lambda: self.statement(stmt.then))
        if orelse is not None:
            self.narrowed(f"~{chosen}", lambda: self.statement(orelse))

    # ---- loops ------------------------------------------------------------------------------------------------------

    def _for(self, loop: For) -> None:
        leaves = escapes(loop.body)
        if id(loop.var) in self.facts.variant:
            self._masked_for(loop)
        elif leaves:
            self._same_for_leaving(loop)
        else:
            self._same_for(loop, lambda: self.statement(loop.body))

    def _same_for(self, loop: For, body: Callable[[], None]) -> None:
        start, extent, step = (self.expr(part).text for part in (loop.start, loop.extent, loop.step))
        stop = extent if start == "0" else f"{start} + {extent}"
        name = self.pool.name(loop.var)

        def run() -> None:
            self.same_names[id(loop.var)] = name
            self.var_scope[id(loop.var)] = self.scope
            body()

        self.inner(f"for {name} in range({start}, {stop}, {step}):", run)

    def _same_for_leaving(self, loop: For) -> None:
        codes = self._new_code(), self._new_code()
        self.uses_esc = True

        def body() -> None:
            q = self.temp(f"narrow({self._staying()})", "q")
            self.line(f"if {q} is None: break")
            outer = self.open_level(q)
            self.loops.append(codes)
            self.statement(loop.body)
            self.loops.pop()
            self._rejoin(codes[1])
            entry, code = self.close_level(outer)
            self.scope.code += [*entry, *code]

        self._same_for(loop, body)
        self._rejoin(codes[0])

    def _rejoin(self, code: int) -> None:
        self.line(f"rejoin(esc, {self.level.p}, {code})")

    def _masked_for(self, loop: For) -> None:
        counter = self.temp(f"np.array({self.array(loop.start)})", "i")
        stop = self.temp(f"({counter} + {self.expr(loop.extent).text})")
        step_value = self.expr(loop.step)
        step = step_value.text if step_value.same else self.temp(step_value.text)
        sign = self.facts.analyzer.bounds(loop.step)
        upward = sign.low is not None and sign.low > 0

        def condition() -> str:
            here = self.level.q
            self.line(f"{name} = {counter}[{here}]")
            limit = f"{stop}[{here}]"
            if upward:
                return f"{name} < {limit}"
            each = step if step_value.same else f"{step}[{here}]"
            return f"np.where({each} > 0, {name} < {limit}, {name} > {limit})"

        def advance() -> None:
            each = step if step_value.same else f"{step}[{self.level.q}]"
            self.line(f"{counter}[{self.level.q}] += {each}")

        name = self.pool.name(loop.var)
        self._masked_loop(condition, loop.body, advance, loop, {id(loop.var): name}, [f"{name} = {counter}[@]"])

    def _while(self, loop: While) -> None:
        self._masked_loop(lambda: self.expr(loop.condition).text, loop.body, lambda: None, loop, {}, [])

    def _masked_loop(
        self,
        condition: Callable[[], str],
        body: Stmt,
        advance: Callable[[], None],
        loop: Stmt,
        names: dict[Any, str],
        again: list[str],
    ) -> None:
        """A loop that threads leave one after the other; `q` is the set of those still in it."""
        leaves = escapes(body)
        codes = (self._new_code(), self._new_code()) if leaves else (0, 0)
        turns = self.temp("0", "turns")
        q = self.temp("ALL", "q")
        outer = self.open_level(q)
        level = self.level
        level.names.update(names)
        test = condition()
        check, self.scope = self.scope.code, type(self.scope)(level, None)
        self.loops.append(codes)
        self.uses_esc = self.uses_esc or leaves
        self.statement(body)
        self.loops.pop()
        if leaves:
            self._rejoin(codes[1])
        advance()
        if leaves:
            self.line(f"q_ = narrow(esc[{level.p}] == 0)")
            self.line("if q_ is None: break")
            self.scope.code += ["if q_ is not ALL:", [f"{q} = pick({q}, q_)", *level.entry]]
        entry, code = self.close_level(outer)
        site = self.site(loop, "loop", None, VOID)
        self._place_loop(
            level.p, q, test, [entry, check, code], [item.replace("@", q) for item in again], (turns, site)
        )
        if leaves:
            self._rejoin(codes[0])

    def _place_loop(
        self, p: str, q: str, test: str, parts: list[Code], again: list[str], guard: tuple[str, str]
    ) -> None:
        entry, check, code = parts
        turns, site = guard
        self.scope.code += entry
        self.line("while True:")
        self.scope.code.append(
            [
                *check,
                f"q_ = narrow({test})",
                "if q_ is None: break",
                "if q_ is not ALL:",
                [f"{q} = pick({q}, q_)", *entry, *again],
                f"{turns} += 1",
                f"if {turns} > S.patience and cx.at({site}, {p}).endless(): break",
                *code,
            ]
        )


def escapes(stmt: Stmt) -> bool:
    """Whether threads may leave the statement other than by its end."""
    if isinstance(stmt, Break | Continue | Return):
        return True
    if isinstance(stmt, Attr) and stmt.key == FUNCTION:
        return False
    inner = [child for child in stmt.children() if isinstance(child, Stmt)]
    if isinstance(stmt, For | While):
        return any(returns(child) for child in inner)
    return any(escapes(child) for child in inner)


def returns(stmt: Stmt) -> bool:
    """Whether threads may leave the function inside a statement."""
    if isinstance(stmt, Attr) and stmt.key == FUNCTION:
        return False
    return isinstance(stmt, Return) or any(returns(child) for child in stmt.children() if isinstance(child, Stmt))


_STATEMENTS: dict[type[Stmt], Callable[[Any, Any], None]] = {
    Bind: StmtEmitter._bind,
    Alloc: StmtEmitter._alloc,
    Decl: StmtEmitter._decl,
    Evaluate: StmtEmitter._evaluate,
    Assert: StmtEmitter._assert,
    Return: StmtEmitter._return,
    Break: StmtEmitter._break,
    Continue: StmtEmitter._continue,
    If: StmtEmitter._if,
    For: StmtEmitter._for,
    While: StmtEmitter._while,
    Launch: StmtEmitter._launch,
}
