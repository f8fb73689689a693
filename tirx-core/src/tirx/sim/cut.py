"""Cutting a device function into blocks.

Cuts stand only at operations that wait, and at back edges of loops that contain one (or that may spin on memory). In functions
where threads may be left behind at such places, what makes the threads of a warp meet begins a block. What lies between stays
structured. A loop whose bounds are the same for all threads has its counter in the *key* of its blocks, as a Python integer;
other loops keep one per thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import Attr, Break, Call, Continue, Evaluate, Expr, For, If, Node, Return, Seq, Stmt, While, walk
from ..support.span import Span
from .facts import Facts, blocking, expressions, gathers, row_of
from .inline import FUNCTION

__all__ = ["Barrier", "Block", "Branch", "Counted", "End", "Enter", "Goto", "Step", "Wait", "cut", "leading_to"]


class Counted:
    """A cut loop. `keyed`: its counter is part of the key; else each thread has its own, kept under the loop variable."""

    __slots__ = ("body", "join", "keyed", "latch", "loop")

    def __init__(self, loop: For, keyed: bool, join: Block) -> None:
        self.loop = loop
        self.keyed = keyed
        self.join = join
        self.body: Block | None = None
        self.latch: Block | None = None


class Block:
    """Statements that run without waiting, then a terminator. `keys` are the keyed loops around it.

    `gathers`: threads of one warp meet in it, and should come to it together.
    """

    __slots__ = (
        "break_to", "continue_to", "gathers", "index", "items", "keys", "loop", "path", "return_to", "spins", "term",
    )  # fmt: skip

    def __init__(self, keys: tuple[Counted, ...]) -> None:
        self.index = -1
        self.items: list[Stmt] = []
        self.term: Any = End()
        self.keys = keys
        self.path: tuple[Any, ...] = ()
        self.break_to: Block | None = None
        self.continue_to: Block | None = None
        self.return_to: Block | None = None
        self.gathers = False
        self.spins = False
        self.loop: Stmt | None = None


class End:
    """The end of the function."""


class Goto:
    """On to a block; `spin` marks the back edge of a loop that may wait for other threads."""

    def __init__(self, target: Block, spin: bool = False) -> None:
        self.target, self.spin = target, spin


class Branch:
    """To one of two blocks, each thread by its condition."""

    def __init__(self, condition: Expr, yes: Block, no: Block, span: Span | None) -> None:
        self.condition, self.yes, self.no, self.span = condition, yes, no, span


class Barrier:
    """Wait for the others of `call`'s level, then go on."""

    def __init__(self, call: Call, target: Block, span: Span | None) -> None:
        self.call, self.target, self.span = call, target, span


class Wait:
    """Ask the meaning of `call` until it answers true, then go on."""

    def __init__(self, call: Call, target: Block, span: Span | None) -> None:
        self.call, self.target, self.span = call, target, span


class Enter:
    """Begin a cut `for` loop."""

    def __init__(self, counted: Counted) -> None:
        self.counted = counted


class Step:
    """Next iteration of a cut `for` loop."""

    def __init__(self, counted: Counted, spin: bool) -> None:
        self.counted, self.spin = counted, spin


def cut(facts: Facts) -> list[Block]:
    """The blocks of a function; the first is the entry."""
    cutter = _Cutter(facts)
    last = cutter.run(facts.func.body, cutter.begin(Block(())))
    if last is not None:
        last.term = End()
    return cutter.blocks


def leading_to(block: Block, blocks: list[Block]) -> frozenset[int]:
    """The blocks from which threads may still come to one, itself only if it lies in a loop."""
    before: dict[int, list[int]] = {}
    for other in blocks:
        for target in _onward(other):
            before.setdefault(target.index, []).append(other.index)
    found: set[int] = set()
    left = [block.index]
    while left:
        for index in before.get(left.pop(), ()):
            if index not in found:
                found.add(index)
                left.append(index)
    return frozenset(found)


def _onward(block: Block) -> list[Block]:
    """Where threads may go on behind a block."""
    term = block.term
    targets: list[Block | None]
    if isinstance(term, Branch):
        targets = [term.yes, term.no]
    elif isinstance(term, Enter | Step):
        targets = [term.counted.body, term.counted.join]
    else:
        targets = [getattr(term, "target", None), block if isinstance(term, Wait) else None]
    targets += [block.break_to, block.continue_to, block.return_to]
    return [target for target in targets if target is not None]


class _Cutter:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.blocks: list[Block] = []
        self.prefix: list[Any] = []
        self.keys: tuple[Counted, ...] = ()
        self.loops: list[tuple[Block, Any]] = []
        self.position = 0
        self.functions: list[Block] = []

    def begin(self, block: Block) -> Block:
        """Give a block its place in program order."""
        block.index = len(self.blocks)
        block.path = (*self.prefix, self.position)
        self.position += 1
        if self.loops:
            block.break_to, block.continue_to = self.loops[-1]
        block.return_to = self.functions[-1] if self.functions else None
        self.blocks.append(block)
        return block

    def new(self) -> Block:
        """A block inside the same keyed loops, without a place yet."""
        return Block(self.keys)

    def run(self, stmt: Stmt, block: Block | None) -> Block | None:
        """Append `stmt`; the block where control goes on, None when it never does."""
        if block is None:
            return None
        if isinstance(stmt, Seq):
            for item in stmt.stmts:
                block = self.run(item, block)
            return block
        if isinstance(stmt, Attr) and stmt.key == FUNCTION and id(stmt) in self.facts.cut:
            return self._function(stmt, block)
        if isinstance(stmt, Attr) and stmt.key != FUNCTION:
            return self.run(stmt.body, block)
        if id(stmt) in self.facts.cut:
            return self._cut(stmt, block)
        if isinstance(stmt, Break | Continue) and self.loops:
            target = self.loops[-1][0] if isinstance(stmt, Break) else self._latch()
            block.term = Goto(target)
            return None
        if isinstance(stmt, Return) and self.functions:
            block.term = Goto(self.functions[-1])
            return None
        block = self._gathering(block, [stmt])
        block.items.append(stmt)
        return None if isinstance(stmt, Return) else block

    def _function(self, stmt: Attr, block: Block) -> Block:
        """The body of a function that was called; `return` leads behind it."""
        after = self.new()
        self.functions.append(after)
        loops, self.loops = self.loops, []
        inner = self.new()
        block.term = Goto(inner)
        self._close(self.run(stmt.body, self.begin(inner)), after)
        self.loops = loops
        self.functions.pop()
        return self.begin(after)

    def _gathering(self, block: Block, parts: Sequence[Node]) -> Block:
        """The block for `parts`: one that begins here where the threads of a warp meet in them, and some may be late."""
        if block.gathers or not self.facts.parks or not any(gathers(node) for part in parts for node in walk(part)):
            return block
        if block.items:
            alone = self.new()
            block.term = Goto(alone)
            block = self.begin(alone)
        block.gathers = True
        return block

    def _latch(self) -> Block:
        latch: Block = self.loops[-1][1]
        return latch

    def _cut(self, stmt: Stmt, block: Block) -> Block | None:
        for call in [node for expr in expressions(stmt) for node in walk(expr) if blocking(node)]:
            assert isinstance(call, Call)
            if not isinstance(stmt, While):
                block = self._wait(call, block, stmt)
        if not isinstance(stmt, While):
            block = self._gathering(block, expressions(stmt))
        if isinstance(stmt, If):
            return self._if(stmt, block)
        if isinstance(stmt, For):
            return self._for(stmt, block)
        if isinstance(stmt, While):
            return self._while(stmt, block)
        if not _only_waits(stmt):
            block.items.append(stmt)
        return block

    def _wait(self, call: Call, block: Block, stmt: Stmt) -> Block:
        after = self.new()
        row = row_of(call)
        assert row is not None
        if row.effect.kind == "wait":
            if block.items or block.index == 0:
                alone = self.new()
                block.term = Goto(alone)
                block = self.begin(alone)
            block.term = Wait(call, after, call.span or stmt.span)
        else:
            block.term = Barrier(call, after, call.span or stmt.span)
        return self.begin(after)

    def _if(self, stmt: If, block: Block) -> Block:
        then, join = self.new(), self.new()
        orelse = self.new() if stmt.orelse is not None else join
        block.term = Branch(stmt.condition, then, orelse, stmt.span)
        self._close(self.run(stmt.then, self.begin(then)), join)
        if stmt.orelse is not None:
            self._close(self.run(stmt.orelse, self.begin(orelse)), join)
        return self.begin(join)

    def _close(self, block: Block | None, target: Block, spin: bool = False) -> None:
        if block is not None:
            block.term = Goto(target, spin)

    def _for(self, loop: For, block: Block) -> Block:
        keyed = id(loop.var) not in self.facts.variant and self._steps_up(loop)
        join = self.new()
        counted = Counted(loop, keyed, join)
        if not keyed:
            self.facts.variant.add(id(loop.var))
        spin = self.facts._may_spin(loop)
        outer = self.keys, self.prefix, self.position
        if keyed:
            self.keys = (*self.keys, counted)
            self.prefix = [*self.prefix, self.position, counted]
            self.position = 0
        counted.body, counted.latch = self.new(), self.new()
        counted.body.loop = loop
        block.term = Enter(counted)
        self.loops.append((join, counted.latch))
        self._close(self.run(loop.body, self.begin(counted.body)), counted.latch)
        self.loops.pop()
        self.begin(counted.latch).term = Step(counted, spin)
        counted.latch.spins = spin
        self.keys, self.prefix, position = outer
        self.position = position + 1 if keyed else self.position
        return self.begin(join)

    def _steps_up(self, loop: For) -> bool:
        low = self.facts.analyzer.bounds(loop.step).low
        return low is not None and low > 0

    def _while(self, loop: While, block: Block) -> Block:
        header, body, join = self.new(), self.new(), self.new()
        block.term = Goto(header)
        spin = self.facts._may_spin(loop)
        self.begin(header)
        test = header
        for call in [node for node in walk(loop.condition) if blocking(node)]:
            assert isinstance(call, Call)
            test = self._wait(call, test, loop)
        test = self._gathering(test, [loop.condition])
        test.term = Branch(loop.condition, body, join, loop.span)
        self.loops.append((join, header))
        first = len(self.blocks)
        self._close(self.run(loop.body, self.begin(body)), header, spin)
        self.loops.pop()
        for member in self.blocks[first:]:
            member.spins = member.spins or spin
        header.spins = spin
        header.loop = loop
        return self.begin(join)


def _only_waits(stmt: Stmt) -> bool:
    """Whether a statement is nothing but a call that waits, whose meaning does nothing more."""
    value = getattr(stmt, "value", None)
    row = row_of(value) if isinstance(value, Call) else None
    return row is not None and isinstance(stmt, Evaluate) and (row.effect.kind == "wait" or not row.answers)
