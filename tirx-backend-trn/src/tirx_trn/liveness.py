"""From where to where in a kernel each on-chip tile holds something that is still needed.

A tile that was allocated outside a loop and is used inside it is needed through the whole loop: its value may travel from one turn to
the next. A tile allocated inside is new in every turn.
"""

from __future__ import annotations

from tirx.ir import Alloc, Attr, Buffer, Call, Evaluate, For, If, Seq, Stmt

from .kernel import is_instruction, operands_of
from .layout import is_on_chip

__all__ = ["Range", "ranges"]


class Range:
    """`buffer` is needed from instruction number `first` to `last`; `calls` are those two instructions."""

    __slots__ = ("alloc", "buffer", "calls", "first", "last")

    def __init__(self, alloc: Alloc, first: int, last: int, calls: tuple[Call, Call]) -> None:
        self.alloc = alloc
        self.buffer: Buffer = alloc.buffer
        self.first = first
        self.last = last
        self.calls = calls

    def overlaps(self, other: Range) -> bool:
        """Whether both are needed at some instruction."""
        return self.first <= other.last and other.first <= self.last


class _Use:
    """What is known of one tile while the kernel is read: the loops around its allocation, and its accesses."""

    __slots__ = ("alloc", "depth", "first", "last", "seen")

    def __init__(self, alloc: Alloc, depth: int) -> None:
        self.alloc = alloc
        self.depth = depth
        self.first = self.last = -1
        self.seen: list[Call] = []


class _Reader:
    """Numbers the instructions and notes which tiles each touches."""

    def __init__(self) -> None:
        self.time = 0
        self.uses: dict[int, _Use] = {}
        self.loops: list[int] = []  # numbers of the first instruction of each enclosing loop
        self.open: list[list[_Use]] = []  # per enclosing loop, tiles from outside that it uses

    def visit(self, stmt: Stmt) -> None:
        """One statement."""
        if isinstance(stmt, Seq):
            for item in stmt.stmts:
                self.visit(item)
        elif isinstance(stmt, Alloc):
            if is_on_chip(stmt.buffer):
                self.uses[id(stmt.buffer.data)] = _Use(stmt, len(self.loops))
        elif isinstance(stmt, Evaluate):
            if isinstance(stmt.value, Call) and is_instruction(stmt.value):
                self._instruction(stmt.value)
        elif isinstance(stmt, For):
            self._loop(stmt)
        elif isinstance(stmt, Attr):
            self.visit(stmt.body)
        elif isinstance(stmt, If):
            self.visit(stmt.then)
            if stmt.orelse is not None:
                self.visit(stmt.orelse)

    def _loop(self, stmt: For) -> None:
        self.loops.append(self.time)
        self.open.append([])
        self.visit(stmt.body)
        self.loops.pop()
        for use in self.open.pop():
            use.last = max(use.last, self.time - 1)

    def _instruction(self, call: Call) -> None:
        for _, value in operands_of(call):
            use = self.uses.get(id(value.buffer.data)) if hasattr(value, "buffer") else None
            if use is None:
                continue
            outside = use.depth < len(self.loops)
            start = self.loops[use.depth] if outside else self.time
            use.first = start if use.first < 0 else min(use.first, start)
            use.last = max(use.last, self.time)
            use.seen.append(call)
            if outside:
                self.open[use.depth].append(use)
        self.time += 1


def ranges(stmt: Stmt) -> list[Range]:
    """The ranges of all tiles that instructions of `stmt` use, in the order of their allocation."""
    reader = _Reader()
    reader.visit(stmt)
    found = [use for use in reader.uses.values() if use.first >= 0]
    return [Range(use.alloc, use.first, use.last, (use.seen[0], use.seen[-1])) for use in found]
