"""The blocks that a running function has open, and where its names got their values.

A kernel's `if` and loops run their bodies once while the kernel is built, whatever happens on the device. So a Python value
must not change in there if it can be seen outside, and what is made in there does not exist outside.
"""

from __future__ import annotations

from ....support.span import here
from ...assign import UNBOUND, is_kernel_value
from ...builder.state import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, NoReturn

    from ....support.span import Span

__all__ = ["Block", "Blocks"]


class Block:
    """An open block, named after its keyword; a `with` runs exactly once, the others as often as the device decides."""

    __slots__ = ("is_open", "kind", "span")

    def __init__(self, kind: Literal["if", "for", "while", "with"]) -> None:
        self.kind = kind
        self.span: Span | None = here(2)
        self.is_open = True

    def __str__(self) -> str:
        return f"the `{self.kind}` of line {self.span.line if self.span else '?'}"


class Blocks:
    """Blocks and names of one running function."""

    __slots__ = ("declared", "hidden", "homes", "open", "shown")

    def __init__(self) -> None:
        self.open: list[Block] = []
        self.homes: dict[str, Block | None] = {}
        self.declared: dict[str, int] = {}
        self.hidden: dict[str, list[tuple[Any, Block | None]]] = {}
        self.shown: dict[str, Any] = {}  # names whose variable holds what a closed block declared

    def enter(self, kind: Literal["if", "for", "while", "with"]) -> Block:
        """Open a block."""
        block = Block(kind)
        self.open.append(block)
        return block

    def leave(self, block: Block) -> None:
        """Close a block and what an error left open inside it."""
        while self.open:
            last = self.open.pop()
            last.is_open = False
            if last is block:
                break

    def innermost(self) -> Block | None:
        """The innermost block; None at the outermost level of the function."""
        return self.open[-1] if self.open else None

    def conditional(self, since: int = 0) -> Block | None:
        """The innermost block that a device may skip or repeat, among those after the first `since`."""
        return next((block for block in reversed(self.open[since:]) if block.kind != "with"), None)

    # ---- names ------------------------------------------------------------------------------------------------

    def is_alive(self, name: str) -> bool:
        """Whether the block in which `name` got its value is still open."""
        home = self.homes.get(name)
        return home is None or home.is_open

    def settle(self, name: str, *, made_here: bool) -> None:
        """`name` got its value now; `made_here`: the value exists only inside the innermost block."""
        self.homes[name] = self.innermost() if made_here else self.conditional()
        self.shown.pop(name, None)

    def check_rebinding(self, name: str, old: Any) -> None:
        """Refuse to give `name` another Python value in a block that the device may skip or repeat."""
        block = self.conditional()
        if block is None or old is UNBOUND or self.homes.get(name) is block or self._inside(name, block):
            return
        if is_kernel_value(old):
            pointer = old.dtype.is_handle
            refuse(
                f"`{name}` never changes: it is a parameter or bound once, and {block} assigns to it",
                "use another name inside the block"
                if pointer
                else f"copy it to a variable before the block, e.g. {name}_now: Tx.{old.dtype} = {name}",
            )
        number = isinstance(old, bool | int | float)
        refuse(
            f"`{name}` is a value of Python, not of the kernel, and cannot change inside {block}",
            f"make it a kernel variable before the block (`{name} = {old}`)"
            if number
            else "use another name inside the block",
        )

    def declare(self, name: str, old: Any, number: int) -> None:
        """`name` is declared by the statement `number`: refused twice in one block, hides an outer one till the block ends."""
        here = name in self.homes and self.homes[name] is self.innermost() and old is not UNBOUND
        if here and self.declared.get(name, number) != number:  # the same statement again: a loop that Python unrolls
            refuse(f"`{name}` is declared twice in one block", f"assign to it without an annotation: {name} = ...")
        self.declared[name] = number
        if old is not UNBOUND and not here:
            self.hidden.setdefault(name, []).append((old, self.homes.get(name)))

    def current(self, name: str, value: Any) -> Any:
        """What `name` stands for, where its variable holds `value`: what a block hid is seen again after it."""
        if name in self.shown:
            value = self.shown[name]
        while value is not UNBOUND and not self.is_alive(name):
            if not self.hidden.get(name):
                return UNBOUND
            value, self.homes[name] = self.hidden[name].pop()
            self.shown[name] = value
        return value

    def _inside(self, name: str, block: Block) -> bool:
        """Whether `name` got its value in a block inside the conditional one (a `with`)."""
        home = self.homes.get(name)
        return home is not None and home.is_open and self.open.index(home) > self.open.index(block)

    def refuse_unbound(self, name: str) -> NoReturn:
        """A variable is read that has no value here."""
        home = self.homes.get(name)
        if home is None:
            refuse(f"`{name}` is used before it has a value", f"assign it first, e.g. {name}: Tx.int32 = 0")
        refuse(
            f"`{name}` has a value only inside {home}, which has ended",
            f"declare it before the block, e.g. {name}: Tx.int32 = 0, and assign it inside",
        )
