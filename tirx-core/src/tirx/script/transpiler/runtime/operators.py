"""`and`, `or`, `not`, `in`, `is`, chained comparisons, `a if c else b`, and builtins that ask for truth.

On Python values they are Python's own. Where a kernel value takes part they build an expression with the same meaning. The
rewritten text evaluates operands one after the other and keeps what came before on a stack here.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable

from ....intrinsic.core.control import if_then_else
from ....ir import BOOL, Alloc, Decl, Expr, IntImm, as_expr, const, logical_and, logical_not, logical_or, truth
from ....ir.ops import BINARY
from ....support.words import an
from ...assign import is_kernel_value, meta_var
from ...builder.state import Builder, builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Mark", "Operators", "python_truth"]

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "@": operator.imatmul, "&": operator.iand, "|": operator.ior,
    "^": operator.ixor, "<<": operator.ilshift, ">>": operator.irshift,
}  # fmt: skip


def python_truth(value: Any) -> bool | None:
    """Whether a condition is true as far as Python knows; None for one that only the device knows."""
    if isinstance(value, meta_var):
        value = value.value
    if isinstance(value, IntImm):
        return bool(value.value)
    return None if is_kernel_value(value) else bool(value)


class Mark:
    """A place among the statements of the open block."""

    __slots__ = ("count", "owner")

    def __init__(self) -> None:
        self.owner: Builder = builder()
        self.count = len(self.owner.top.stmts)

    def check(self, message: str, hint: str) -> None:
        """Refuse when statements were made since, other than declarations."""
        if any(not isinstance(stmt, Alloc | Decl) for stmt in self.owner.top.stmts[self.count :]):
            refuse(message, hint)


class Operators:
    """The operators of one running function."""

    __slots__ = ("_marks", "_stack")

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._marks: list[Mark | None] = []

    def settled(self) -> Any:
        """The value that an operator had before its last operand, which decided it."""
        return self._stack.pop()

    def _operand(self, what: str) -> None:
        """The last operand was evaluated, although the device may skip it: it must not have made statements."""
        mark = self._marks.pop()
        if mark is not None:
            mark.check(f"{what} does more than give a value, and would do it always", "write an `if` statement")

    # ---- and, or, not -----------------------------------------------------------------------------------------

    def goes_on_and(self, left: Any) -> bool:
        """Whether the right side of `left and ...` counts."""
        return self._goes_on(left, python_truth(left) is not False)

    def _goes_on(self, left: Any, more: bool) -> bool:
        self._stack.append(left)
        if more:
            self._marks.append(Mark() if is_kernel_value(left) else None)
        return more

    def value_and(self, right: Any) -> Any:
        """`left and right` where the value counts: as in Python one of the operands."""
        left = self._stack[-1]
        if _are_truths(left, right) or python_truth(left) is not None:
            return self.join_and(right)
        self._operand("the right side of `and`")
        return if_then_else(truth(self._stack.pop()), right, left)

    def value_or(self, right: Any) -> Any:
        """`left or right` where the value counts."""
        left = self._stack[-1]
        if _are_truths(left, right) or python_truth(left) is not None:
            return self.join_or(right)
        self._operand("the right side of `or`")
        return if_then_else(truth(self._stack.pop()), left, right)

    def join_and(self, right: Any) -> Any:
        """`left and right` where only the truth counts."""
        left = self._stack.pop()
        self._operand("the right side of `and`")
        if python_truth(left):
            return right
        known = None if is_kernel_value(right) else bool(right)
        if known is None:
            return logical_and(left, right)
        return truth(left) if known else const(False, BOOL)

    def goes_on_or(self, left: Any) -> bool:
        """Whether the right side of `left or ...` counts."""
        return self._goes_on(left, python_truth(left) is not True)

    def join_or(self, right: Any) -> Any:
        """`left or right` where only the truth counts."""
        left = self._stack.pop()
        self._operand("the right side of `or`")
        if python_truth(left) is False:
            return right
        known = None if is_kernel_value(right) else bool(right)
        if known is None:
            return logical_or(left, right)
        return const(True, BOOL) if known else truth(left)

    def not_(self, value: Any) -> Any:
        """`not value`."""
        known = python_truth(value)
        return logical_not(as_expr(value)) if known is None else not known

    # ---- comparisons ------------------------------------------------------------------------------------------

    def compare_first(self, left: Any, word: str, right: Any) -> bool:
        """The first link of `left < right < ...`: whether the rest counts."""
        self._stack.append(right)
        return self._linked(self._compare(left, word, right))

    def compare_next(self, word: str, right: Any) -> bool:
        """A middle link."""
        before, left = self._stack.pop(), self._stack.pop()
        self._stack.append(right)
        return self._linked(self._both(before, self._compare(left, word, right)))

    def compare_last(self, word: str, right: Any) -> Any:
        """The last link: the value of the chain."""
        before, left = self._stack.pop(), self._stack.pop()
        return self._both(before, self._compare(left, word, right))

    def _linked(self, result: Any) -> bool:
        """Keep the result so far above the operand that the next link compares with; drop that when it is decided."""
        if python_truth(result) is False:
            self._stack[-1] = result
            return False
        self._stack.append(result)
        return True

    def _both(self, before: Any, after: Any) -> Any:
        self.goes_on_and(before)
        return self.join_and(after)

    def _compare(self, left: Any, word: str, right: Any) -> Any:
        if word in COMPARE:
            return COMPARE[word](left, right)
        found = self.contains(left, right) if word in ("in", "not in") else self.is_(left, right)
        return self.not_(found) if word in ("not in", "is not") else found

    def contains(self, item: Any, container: Any) -> Any:
        """`item in container`: with kernel values, whether it equals one of the elements."""
        if isinstance(container, range) and is_kernel_value(item):
            return _in_range(as_expr(item), container)
        kernel = is_kernel_value(item)
        if kernel and isinstance(container, str | bytes):
            refuse("a kernel value is no part of a text", "compare it with numbers")
        if not kernel and not (isinstance(container, tuple | list) and any(map(is_kernel_value, container))):
            return item in container
        if is_kernel_value(container) or not isinstance(container, Iterable):
            refuse(f"`in` needs a list of values, not {an(_kind(container))}", "compare with the elements one by one")
        return self._any(item == other for other in container)

    def is_(self, left: Any, right: Any) -> bool:
        """`left is right`; a kernel value compared with a number this way is a mistake."""
        for one, other in ((left, right), (right, left)):
            if is_kernel_value(one) and isinstance(other, bool | int | float):
                refuse("`is` asks whether two objects of Python are the same", "compare kernel values with `==`")
        return left is right

    # ---- conditional expressions ------------------------------------------------------------------------------

    def wants_true(self, condition: Any) -> bool:
        """Whether the first side of `a if condition else b` is evaluated."""
        self._stack.append(condition)
        known = python_truth(condition)
        self._marks.append(Mark() if known is None else None)
        return known is not False

    def wants_false(self) -> bool:
        """Whether the second side is evaluated."""
        return python_truth(self._stack[-1]) is not True

    def choose(self, yes: Any, no: Any) -> Any:
        """`yes if condition else no`."""
        condition = self._stack.pop()
        self._operand("a side of `... if ... else ...`")
        known = python_truth(condition)
        if known is not None:
            return yes if known else no
        return if_then_else(truth(condition), yes, no)

    # ---- builtins and updates ---------------------------------------------------------------------------------

    def builtin(self, function: Any) -> Any:
        """`function`, or the version of a builtin that also takes kernel values."""
        return next((made for original, made in self._builtins() if function is original), function)

    def _builtins(self) -> tuple[tuple[Any, Any], ...]:
        return (
            (builtins.min, lambda *args, **kw: _extreme(builtins.min, "min", args, kw)),
            (builtins.max, lambda *args, **kw: _extreme(builtins.max, "max", args, kw)),
            (builtins.any, self._any),
            (builtins.all, self._all),
        )

    def _any(self, items: Iterable[Any]) -> Any:
        found: Any = False
        for item in items:
            if python_truth(item):
                return True
            if python_truth(item) is None:
                found = truth(item) if found is False else logical_or(found, item)
        return found

    def _all(self, items: Iterable[Any]) -> Any:
        found: Any = True
        for item in items:
            if python_truth(item) is False:
                return False
            if python_truth(item) is None:
                found = truth(item) if found is True else logical_and(found, item)
        return found

    def inplace(self, old: Any, word: str, value: Any) -> Any:
        """`old word= value`; an operator of kernel values gives a new value, a list is changed in place as in Python."""
        return INPLACE[word](old, value)


def _are_truths(left: Any, right: Any) -> bool:
    """Whether both operands are bool: then the value is the truth."""
    return all(
        isinstance(item, bool) or (is_kernel_value(item) and as_expr(item).dtype.is_bool) for item in (left, right)
    )


def _extreme(function: Callable[..., Any], name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    items = args if len(args) != 1 else tuple(args[0])
    if keywords or not any(map(is_kernel_value, items)):
        return function(*args, **keywords)
    found = items[0]
    for item in items[1:]:
        found = BINARY[name](found, item)
    return found


def _in_range(item: Expr, values: range) -> Expr:
    if not values:
        return const(False, BOOL)
    low, high = min(values[0], values[-1]), max(values[0], values[-1])
    inside = logical_and(item >= low, item <= high)
    step = abs(values.step)
    return truth(inside if step == 1 else logical_and(inside, (item - low) % step == 0))


def _kind(value: Any) -> str:
    return "kernel value" if is_kernel_value(value) else type(value).__name__
