"""A block as a Python function: its statements, and the step to the next blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.dtype import VOID
from .cut import Barrier, Block, Branch, Counted, End, Enter, Goto, Step, Wait
from .emit_base import Code
from .emit_stmt import RETURNED, StmtEmitter
from .facts import row_of

__all__ = ["EXIT", "BlockEmitter"]

EXIT = -1
EXIT_EARLY = -2


class BlockEmitter(StmtEmitter):
    """Emits one block as a Python function."""

    def function(self) -> Code:
        """The lines of the block's function."""
        self.items(self.source.items, self.terminator)
        tail: Code = []
        if self.uses_esc:
            self.prelude.append("esc = np.zeros(n, np.int32)")
            tail += [f"leave(out, esc, {RETURNED}, {EXIT_EARLY}, ())"]
            tail += [f"leave(out, esc, {c}, {to}, {key}, {self._spins(to)})" for to, (c, key) in self.codes.items()]
        registers = [r for r in self.pool.registers.values() if self.source.index in r.blocks]
        before, after = self._registers(registers)
        head = f"def block_{self.source.index}(S, cx, ck, tid, n, key):"
        return [head, [*before, *self.prelude, "out = []", *self.scope.code, *tail, *after, "return out"]]

    def _spins(self, target: int) -> bool:
        back = self.source.continue_to
        return back is not None and back.index == target and self.source.spins

    def _registers(self, registers: Sequence[Any]) -> tuple[Code, Code]:
        before, after = [], []
        for register in registers:
            for name in [register.name, *(name for name, _, _ in register.arrays)]:
                before.append(f"{name} = S.{name}[..., tid]")
                after.append(f"keep(S, '{name}', tid, {name})")
        return before, after

    # ---- to the next blocks -----------------------------------------------------------------------------------------

    def goto(self, target: Block, *, spin: bool = False, key: str | None = None) -> None:
        """The active threads go on at `target`."""
        self.line(f"out.append(({target.index}, {key or self.key_text(target)}, {self.level.p}, {spin}))")

    def terminator(self) -> None:
        """What ends the block."""
        _TERMINATORS[type(self.source.term)](self, self.source.term)

    def _end(self, term: End) -> None:
        self.line(f"out.append(({EXIT}, (), {self.level.p}, False))")

    def _goto(self, term: Goto) -> None:
        self.goto(term.target, spin=term.spin)

    def _branch(self, term: Branch) -> None:
        condition = self.expr(term.condition)
        if condition.same:
            self.branches(condition.text, lambda: self.goto(term.yes), lambda: self.goto(term.no))
            return
        chosen = self.temp(condition.text, "c")
        self.narrowed(chosen, lambda: self.goto(term.yes))
        self.narrowed(f"~{chosen}", lambda: self.goto(term.no))

    def _barrier(self, term: Barrier) -> None:
        row = row_of(term.call)
        assert row is not None
        assert row.effect.barrier is not None
        names = [operand.name for operand in row.operands]

        def operand(name: str | None) -> str:
            if name is None:
                return "None"
            if name in names:
                return self.expr(term.call.args[names.index(name)]).text
            return repr(term.call.attr(name))

        barrier = row.effect.barrier
        if row.meaning is not None and not row.answers:
            self.expr(term.call)  # it checks what it is given, and who comes
        site = self.site(term.call, "barrier", None, VOID, term.span, name=row.name)
        self.line(
            f"cx.at({site}, {self.level.p}).wait_at({term.target.index}, {self.key_text(term.target)}, {barrier.level!r}, "
            f"{operand(barrier.identifier)}, {operand(barrier.count)})"
        )

    def _wait(self, term: Wait) -> None:
        value = self.expr(term.call)
        done = self.temp(f"np.broadcast_to({value.text}, ({self.count()},)).astype(bool)", "c")
        self.narrowed(done, lambda: self.goto(term.target))
        self.narrowed(f"~{done}", lambda: self.goto(self.source, spin=True))

    def _enter(self, term: Enter) -> None:
        loop = term.counted.loop
        assert term.counted.body is not None
        body = term.counted.body
        if term.counted.keyed:
            start, extent = self.expr(loop.start).text, self.expr(loop.extent).text
            key = self.key_text(body, term.counted, start)
            self.branches(f"{extent} > 0", lambda: self.goto(body, key=key), lambda: self.goto(term.counted.join))
            return
        name = self.pool.name(loop.var)
        start = self.temp(self.array(loop.start))
        stop = self.temp(f"({start} + {self.expr(loop.extent).text})")
        step = self.temp(self.array(loop.step))
        for suffix, value in (("", start), ("_stop", stop), ("_step", step)):
            self.save(name + suffix, value)
        self._more(term.counted, start, stop, step, False)

    def _more(self, counted: Counted, value: str, stop: str, step: str, spin: bool) -> None:
        assert counted.body is not None
        body = counted.body
        chosen = self.temp(f"np.where({step} > 0, {value} < {stop}, {value} > {stop})", "c")
        self.narrowed(chosen, lambda: self.goto(body, spin=spin))
        self.narrowed(f"~{chosen}", lambda: self.goto(counted.join))

    def _step(self, term: Step) -> None:
        counted, loop = term.counted, term.counted.loop
        assert counted.body is not None
        body = counted.body
        if counted.keyed:
            start, extent, step = (self.expr(part).text for part in (loop.start, loop.extent, loop.step))
            following = self.temp(f"{self.same_names[id(loop.var)]} + {step}")
            key = self.key_text(body, counted, following)
            self.branches(
                f"{following} < {start} + {extent}",
                lambda: self.goto(body, key=key, spin=term.spin),
                lambda: self.goto(counted.join),
            )
            return
        name = self.pool.name(loop.var)
        old, stop, step = (self.fetch(name + suffix, per_thread=True) for suffix in ("", "_stop", "_step"))
        value = self.temp(f"({old} + {step})")
        self.save(name, value)
        self._more(counted, value, stop, step, term.spin)


_TERMINATORS: dict[type[Any], Callable[[Any, Any], None]] = {
    End: BlockEmitter._end,
    Goto: BlockEmitter._goto,
    Branch: BlockEmitter._branch,
    Barrier: BlockEmitter._barrier,
    Wait: BlockEmitter._wait,
    Enter: BlockEmitter._enter,
    Step: BlockEmitter._step,
}
