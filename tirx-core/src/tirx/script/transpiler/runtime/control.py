"""`if`, `for`, `while` of a running function: Python's way when Python knows the answer, a frame of the builder otherwise."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator

from ....ir import BOOL, Break, Continue, Expr, Scalar, current_span, emit, logical_not, truth
from ...assign import is_kernel_value, new_scalar
from ...builder.control import Else, If, Then, While
from ...builder.loops import serial
from ...builder.state import Frame, refuse
from .blocks import Block, Blocks
from .operators import Mark, python_truth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Branch", "Loop", "WhileLoop", "counted"]

MOST_ITERATIONS = 100_000
"""A loop that Python runs more often than this while a kernel is built is taken for one that never ends."""


class Branch:
    """`if condition`: `then` and `orelse` say which sides are built."""

    __slots__ = ("block", "blocks", "frame", "orelse", "side", "then")

    def __init__(self, blocks: Blocks, condition: Any) -> None:
        known = python_truth(condition)
        self.blocks = blocks
        self.then = known is not False
        self.orelse = known is not True
        self.frame: Frame | None = None
        self.side: Frame | None = None
        self.block: Block | None = None
        if known is None:
            self.frame = If(truth(condition))
            self.frame.__enter__()

    def enter_then(self) -> None:
        """What follows runs when the condition holds."""
        if self.frame is not None:
            self._enter(Then())

    def enter_orelse(self) -> None:
        """What follows runs when it does not."""
        if self.frame is not None:
            self._enter(Else())

    def _enter(self, side: Frame) -> None:
        self.block, self.side = self.blocks.enter("if"), side
        side.__enter__()

    def leave(self) -> None:
        """The side is built."""
        if self.block is not None and self.side is not None:
            self.blocks.leave(self.block)
            self.side.__exit__(None, None, None)

    def close(self) -> None:
        """Both sides are built."""
        if self.frame is not None:
            self.frame.__exit__(None, None, None)


class Loop:
    """`for ... in source`: a loop of the kernel when `source` is a loop frame, unrolled by Python otherwise.

    `next()` says whether the body runs, for `item`: once for a loop of the kernel, whose frame it opens and closes. `close()` closes
    it after a `break`. `spelling` is how the author wrote the loop variable; `may_break`: a `break` decides whether an `else` runs.
    """

    __slots__ = ("block", "blocks", "broken", "depth", "frame", "item", "items", "runs", "spelling")

    def __init__(self, blocks: Blocks, source: Any, spelling: str, may_break: bool) -> None:
        self.blocks = blocks
        self.spelling = spelling
        self.depth = len(blocks.open)
        self.block: Block | None = None
        self.item: Any = None
        self.runs = 0
        self.broken: Scalar | None = None
        self.frame: Frame | None = source if isinstance(source, Frame) and source.is_loop else None
        self.items: Iterator[Any] = iter(())
        if self.frame is None:
            self.items = _iterator(source)
        elif may_break:
            self.broken = new_scalar("broken", BOOL, False)

    def next(self) -> bool:
        """Whether the body runs now."""
        self.runs += 1
        if self.frame is not None:
            return self._once(self.frame)
        if self.runs > MOST_ITERATIONS:
            refuse(
                f"this loop over {self.spelling} is unrolled by Python and has not ended after {MOST_ITERATIONS} iterations",
                "write `for i in range(...)` or Tx.serial(...) for a loop that runs on the device",
            )
        try:
            self.item = next(self.items)
        except StopIteration:
            return False
        return True

    def _once(self, frame: Frame) -> bool:
        if self.block is not None:
            self.close()
            return False
        self.block = self.blocks.enter("while" if isinstance(self, WhileLoop) else "for")
        self.item = frame.__enter__()
        return True

    def close(self) -> None:
        """No further turn."""
        if self.block is not None and self.block.is_open and self.frame is not None:
            self.blocks.leave(self.block)
            self.frame.__exit__(None, None, None)

    def leave(self) -> bool:
        """`break`. Whether Python leaves the loop as well: nothing after it in the body is reached."""
        if self.frame is None:
            return self._python_leaves("break")
        if len(getattr(self.frame, "vars", ())) > 1:
            refuse("`break` leaves only the innermost loop of Tx.grid", "write one `for` for each extent")
        if self.broken is not None:
            self.broken.assign(True)
        emit(Break(span=current_span()))
        return self._is_unconditional()

    def go_on(self) -> bool:
        """`continue`. Whether Python goes on as well."""
        if self.frame is None:
            return self._python_leaves("continue")
        emit(Continue(span=current_span()))
        return self._is_unconditional()

    def completed(self) -> Branch:
        """The branch around the `else` of the loop."""
        return Branch(self.blocks, True if self.broken is None else logical_not(self.broken.__tirx_expr__()))

    def _is_unconditional(self) -> bool:
        return self.blocks.conditional() is self.block

    def _python_leaves(self, word: str) -> bool:
        block = self.blocks.conditional(self.depth)
        if block is not None:
            refuse(
                f"`{word}` depends on {block}, which only the device decides, but its loop is unrolled by Python",
                "write `for i in range(...)` or Tx.serial(...) for a loop that runs on the device",
            )
        return True


class WhileLoop(Loop):
    """`while`: a loop of the kernel when the condition is a kernel value or literally true."""

    __slots__ = ("forever", "mark", "may_break")

    def __init__(self, blocks: Blocks, forever: bool, may_break: bool) -> None:
        super().__init__(blocks, (), "its condition", False)
        self.forever = forever
        self.may_break = may_break
        self.mark = Mark()

    def next(self) -> bool:
        """Whether the condition is looked at."""
        if self.frame is not None:
            self.close()
            return False
        self.runs += 1
        if self.runs > MOST_ITERATIONS:
            refuse(
                f"the condition of this loop is a value of Python and still true after {MOST_ITERATIONS} iterations",
                "count with a kernel variable, e.g. i: Tx.int32 = 0",
            )
        return True

    def test(self, condition: Any) -> bool:
        """Whether the body runs now."""
        if not self.forever and not is_kernel_value(condition):
            return bool(condition)
        if self.runs > 1:
            refuse(
                "the condition of this loop was a value of Python and has become a kernel value",
                "make it a kernel variable before the loop, or keep it one of Python with Tx.meta_var(...)",
            )
        self.mark.check(
            "the condition of this `while` does more than give a value, and would do it only once",
            "write `while True:` and leave it with `if ...: break`",
        )
        if self.may_break:
            self.broken = new_scalar("broken", BOOL, False)
        self.frame = While(truth(condition))
        return self._once(self.frame)


def _iterator(source: Any) -> Iterator[Any]:
    if isinstance(source, Frame):
        refuse(f"{source.what} is no loop", "loop over range(...), Tx.serial(...), Tx.unroll(...), Tx.grid(...)")
    if isinstance(source, Expr | Scalar):
        refuse("a kernel value cannot be iterated", "loop over an index: for i in range(n)")
    if not isinstance(source, Iterable) and not hasattr(source, "__iter__"):
        refuse(f"`for` needs a loop or a list, not {type(source).__name__} {source!r}", "write `for i in range(n)`")
    return iter(source)


def counted(function: Any) -> Any:
    """What the name `range` in `for ... in range(...)` stands for: a serial loop where it is Python's own."""
    return _range if function is builtins.range else function


def _range(start: Any, stop: Any = None, step: Any = None, **keywords: Any) -> Frame:
    """`range(...)` as a loop of the kernel."""
    if step is not None:
        keywords["step"] = step
    frame: Frame = serial(start, stop, **keywords)
    return frame
