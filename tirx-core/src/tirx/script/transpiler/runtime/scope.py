"""The runtime of one call of a rewritten function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ....ir import Assert, Buffer, Return, Scalar, StringImm, as_expr, current_span, emit, truth
from ...annotation import declared
from ...assign import UNBOUND, assign, give_name, is_kernel_value, meta_var, stores
from ...builder.state import Frame, builder, refuse
from ...builder.statements import assertion_message, expression_statement
from .blocks import Block, Blocks
from .control import Branch, Loop, WhileLoop, counted
from .kept import kept
from .operators import INPLACE, Operators, python_truth
from .result import in_device, returned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Scope"]


class Scope(Operators):
    """Names, blocks and operators of one call. `caller` holds the variables that an unhygienic macro starts from."""

    __slots__ = ("blocks", "caller", "name")

    unbound = UNBOUND
    slice = slice

    def __init__(self, name: str, caller: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.name = name
        self.blocks = Blocks()
        self.caller = caller or {}

    # ---- names ------------------------------------------------------------------------------------------------

    def read(self, name: str, value: Any) -> Any:
        """The value of a variable, which must have one here."""
        found = self.blocks.current(name, value)
        if found is UNBOUND:
            self.blocks.refuse_unbound(name)
        return found

    def inherited(self, name: str) -> Any:
        """The value that the caller's variable `name` has."""
        return self.caller.get(name, UNBOUND)

    def assign(self, name: str, old: Any, new: Any) -> Any:
        """`name = new`."""
        old = self.blocks.current(name, old)
        if not stores(old, new):
            self.blocks.check_rebinding(name, old)
        made = assign(name, old, new)
        if made is not old or made is UNBOUND:
            self.blocks.settle(name, made_here=_is_local(made))
        return made

    def bind(self, name: str, old: Any, value: Any) -> Any:
        """`name` stands for `value` as it is: loop variables, what `with` gives, imports, nested functions."""
        value = value.value if isinstance(value, meta_var) else value
        give_name(value, name)
        self.blocks.settle(name, made_here=is_kernel_value(value) or isinstance(value, Buffer))
        return value

    def annotated(self, name: str, old: Any, number: int, kind: Any, value: Any) -> Any:
        """`name: kind = value`; `number` tells statements of the function apart."""
        self.blocks.declare(name, self.blocks.current(name, old), number)
        made = declared(name, kind, value)
        self.blocks.settle(name, made_here=_is_local(made))
        return made

    def declare(self, name: str, old: Any, number: int, kind: Any) -> Any:
        """`name: kind`, without a value."""
        return self.annotated(name, old, number, kind, None)

    def keep(self, value: Any, *written: Any) -> Any:
        """`value` for several targets, of which all but the last write to `written`."""
        return kept(value, written)

    def at_once(self, items: Sequence[Any], *written: tuple[Any, ...]) -> list[Any]:
        """The items for targets that write to `written`, each as it is before the first is stored."""
        return [kept(item, [each for part in written[:index] for each in part]) for index, item in enumerate(items)]

    def unpack(self, value: Any, count: int, star: int) -> Sequence[Any]:
        """The items of `value` for `count` targets, the one at `star` (-1: none) taking the rest as a list."""
        if is_kernel_value(value) or not isinstance(value, Iterable):
            kind = "a kernel value" if is_kernel_value(value) else f"{type(value).__name__}"
            refuse(
                f"{kind} cannot be unpacked into {count} names",
                "give one value for each name; ids have as many as extents, e.g. `bx, by = Tx.cta_id([4, 2])`",
            )
        items = list(value)
        least = count if star < 0 else count - 1
        if len(items) < least or (star < 0 and len(items) > count):
            refuse(
                f"{len(items)} value{'s' if len(items) != 1 else ''} cannot be unpacked into "
                f"{'at least ' if star >= 0 else ''}{least} name{'s' if least != 1 else ''}",
                "give one value for each name",
            )
        if star < 0:
            return items
        end = len(items) - (count - star - 1)
        return [*items[:star], items[star:end], *items[end:]]

    # ---- attributes and items ---------------------------------------------------------------------------------

    def set_attribute(self, value: Any, owner: Any, name: str) -> None:
        """`owner.name = value`: a store when a mutable scalar is there."""
        old: Any = getattr(owner, name, UNBOUND)
        if stores(old, value):
            old.assign(value)
            return
        self._check_in_place(f"attribute `{name}`", old)
        give_name(value, name)
        setattr(owner, name, value.value if isinstance(value, meta_var) else value)

    def set_item(self, value: Any, owner: Any, index: Any) -> None:
        """`owner[index] = value`: a store when `owner` is a buffer, or holds a mutable scalar there."""
        if isinstance(owner, Buffer | Scalar):
            if isinstance(value, str):
                refuse(f"text is stored to `{owner.name}`", "store a number or a kernel value")
            owner[index] = value
            return
        old = _item(owner, index)
        if stores(old, value):
            old.assign(value)
            return
        self._check_in_place("an item of a list", old)
        owner[index] = value.value if isinstance(value, meta_var) else value

    def update_attribute(self, owner: Any, name: str, word: str, value: Any) -> None:
        """`owner.name word= value`."""
        self.set_attribute(INPLACE[word](getattr(owner, name), value), owner, name)

    def update_item(self, owner: Any, index: Any, word: str, value: Any) -> None:
        """`owner[index] word= value`."""
        self.set_item(INPLACE[word](owner[index], value), owner, index)

    def _check_in_place(self, what: str, old: Any) -> None:
        block = self.blocks.conditional()
        if block is not None and old is not UNBOUND and not is_kernel_value(old):
            refuse(
                f"{what} is a value of Python, not of the kernel, and cannot change inside {block}",
                "hold a mutable scalar there, e.g. Tx.local_scalar(dtype)",
            )

    # ---- control flow -----------------------------------------------------------------------------------------

    def if_(self, condition: Any) -> Branch:
        """`if condition`."""
        return Branch(self.blocks, condition)

    def for_(self, source: Any, spelling: str, may_break: bool) -> Loop:
        """`for spelling in source`."""
        return Loop(self.blocks, source, spelling, may_break)

    def while_(self, forever: bool, may_break: bool) -> WhileLoop:
        """`while`; `forever` when the condition is literally true."""
        return WhileLoop(self.blocks, forever, may_break)

    def range_(self, function: Any) -> Any:
        """What `range` stands for in `for ... in range(...)`."""
        return counted(function)

    def with_(self, context: Any) -> Any:
        """`with context`."""
        if not hasattr(type(context), "__enter__"):
            refuse(
                f"{type(context).__name__} cannot be used in `with`",
                "assign it: s = Tx.alloc_shared(...)"
                if isinstance(context, Buffer)
                else "use a frame such as Tx.attr(...) or Tx.hint(...)",
            )
        return _Within(self.blocks, context)

    def leave_function(self, value: Any, has_value: bool) -> bool:
        """`return` of a kernel. Whether Python leaves as well."""
        if in_device():
            refuse(
                "a kernel gives no value" if has_value else "`return` is not possible in device code",
                "write the result to a buffer parameter" if has_value else "end the thread with Tx.thread_return()",
            )
        emit(Return(returned(value) if has_value else None, span=current_span()))
        return self.blocks.conditional() is None

    def result(self, value: Any) -> Any:
        """`return value` of an inline function."""
        block = self.blocks.conditional()
        if block is not None:
            refuse(
                f"`return` depends on {block}, which only the device decides",
                "assign to a variable that is declared before the block, and return it at the end",
            )
        return value.value if isinstance(value, meta_var) else value

    def raising(self) -> None:
        """Before `raise`."""
        block = self.blocks.conditional()
        if block is not None:
            refuse(
                f"`raise` depends on {block}, which only the device decides, and would happen while the kernel is built",
                "use `assert` for a check on the device; `raise` is for conditions that Python knows",
            )

    def assert_(self, condition: Any, message: Any = "assertion failed") -> None:
        """`assert condition, message`."""
        known = python_truth(condition)
        kind, parts = assertion_message(message)
        if known is False:
            refuse(f"assertion failed while the kernel was built: {' '.join(map(str, parts))}")
        if known is None:
            operands = tuple(StringImm(item) if isinstance(item, str) else as_expr(item) for item in parts)
            emit(Assert(truth(condition), operands, kind, span=current_span()))

    def evaluate(self, value: Any) -> None:
        """An expression as a statement."""
        if isinstance(value, Frame) and value.is_loop and not any(item is value for item in builder().top.stmts):
            refuse(f"{value.what} does nothing by itself", "write `for i in ...:`")
        expression_statement(value)


class _Within:
    """A `with` block: the author's context, and a block of the function."""

    __slots__ = ("block", "blocks", "context", "item")

    def __init__(self, blocks: Blocks, context: Any) -> None:
        self.blocks = blocks
        self.context = context
        self.item: Any = None
        self.block: Block | None = None

    def __enter__(self) -> None:
        frame = self.context
        conditional = isinstance(frame, Frame) and getattr(frame, "conditional", frame.is_loop)
        self.block = self.blocks.enter("if" if conditional else "with")
        self.item = frame.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        assert self.block is not None
        self.blocks.leave(self.block)
        return self.context.__exit__(kind, error, trace)


def _is_local(value: Any) -> bool:
    """Whether a value exists only in the block that made it."""
    return is_kernel_value(value) or isinstance(value, Buffer)


def _item(owner: Any, index: Any) -> Any:
    try:
        return owner[index]
    except (LookupError, TypeError):
        return UNBOUND
