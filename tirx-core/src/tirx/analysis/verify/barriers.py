"""Barriers that some threads reach and others provably do not.

A condition over scope ids is tried for every thread of the group that must meet. Conditions over data are left to the
simulator.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...intrinsic import effect_of
from ...ir import Bind, Call, Evaluate, Expr, For, If, Seq, Stmt, While, variables
from ...support.errors import Diagnostic
from ..evaluate import evaluate
from ..extents import Extents
from .facts import Facts, Kernel, line_of

__all__ = ["check"]

_MOST_THREADS = 4096


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    for kernel in facts.kernels:
        extents = kernel.extents
        if extents is not None and not extents.problems and any(map(_level, kernel.all(Call))):
            yield from _Divergence(kernel, extents).statement(kernel.entry.body, ())


def _level(call: Call) -> str | None:
    """The level whose members all wait for each other in this call."""
    barrier = effect_of(call).barrier
    if barrier is None or barrier.identifier is not None or barrier.count is not None:
        return None
    return barrier.level


class _Divergence:
    """Walks statements with the conditions around them."""

    def __init__(self, kernel: Kernel, extents: Extents) -> None:
        self.extents = extents
        self.ids = {id(var): (item, position) for item in kernel.known for position, var in enumerate(item.vars)}
        self.values: dict[int, int | Expr] = {}

    def statement(self, stmt: Stmt, around: tuple[Expr, ...]) -> Iterator[Diagnostic]:
        if isinstance(stmt, Seq):
            for item in stmt.stmts:
                yield from self.statement(item, around)
        elif isinstance(stmt, Bind):
            self.values[id(stmt.var)] = stmt.value
        elif not stmt.has(Call):
            return
        elif isinstance(stmt, Evaluate):
            yield from self._barrier(stmt, around)
        else:
            inner = around + _decides(stmt)
            for child in stmt.children():
                if isinstance(child, Stmt):
                    yield from self.statement(child, inner)

    def _barrier(self, stmt: Evaluate, around: tuple[Expr, ...]) -> Iterator[Diagnostic]:
        call = stmt.value
        level = _level(call) if isinstance(call, Call) else None
        if level is None or level not in self.extents.active:
            return
        for condition in around:
            if self._divides(condition, level):
                yield Diagnostic(
                    f"not all threads of the {level} reach this barrier: the condition{line_of(condition.span)} divides them",
                    stmt.span,
                    hint="move the barrier out of the branch, or let every thread take it",
                )
                return

    def _divides(self, condition: Expr, level: str) -> bool:
        """Whether some threads of one `level` take the branch and others do not."""
        inner = self.extents.active[-1]
        threads = self.extents.total(level, inner)
        varying = self._varying(condition, level)
        if not varying or not isinstance(threads, int) or threads > _MOST_THREADS:
            return False
        seen: set[int] = set()
        for thread in range(threads):
            values = {**self.values, **{key: self._id(key, thread) for key in varying}}
            found = evaluate(condition, {key: value for key, value in values.items() if value is not None})
            if found is not None:
                seen.add(found)
            if len(seen) > 1:
                return True
        return False

    def _varying(self, condition: Expr, level: str) -> list[int]:
        """Ids in the condition that differ between threads of one `level`."""
        order = self.extents.active.index
        found: list[int] = []
        stack = [condition]
        while stack:
            for var in variables(stack.pop()):
                key = id(var)
                bound = self.values.get(key)
                if isinstance(bound, Expr):
                    stack.append(bound)
                elif key in self.ids and order(self.ids[key][0].parent) >= order(level):
                    found.append(key)
        return found

    def _id(self, key: int, thread: int) -> int | None:
        """The id of the `thread`-th thread of the group."""
        item, position = self.ids[key]
        inner = self.extents.active[-1]
        own = self.extents.total(item.child, inner)
        dims = self.extents.dims(item.parent, item.child)
        if not isinstance(own, int) or not all(isinstance(size, int) for size in dims):
            return None
        index = thread // own
        for size in dims[: item.first + position]:
            index //= size if isinstance(size, int) else 1
        size = dims[item.first + position] if item.first + position < len(dims) else 1
        return index % size if isinstance(size, int) else None


def _decides(stmt: Stmt) -> tuple[Expr, ...]:
    """What decides how often the body of a statement runs."""
    if isinstance(stmt, If | While):
        return (stmt.condition,)
    return (stmt.start, stmt.extent, stmt.step) if isinstance(stmt, For) and stmt.kind != "thread_binding" else ()
