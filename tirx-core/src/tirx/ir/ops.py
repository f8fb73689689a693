"""Operators of expressions, and of everything that stands for one (mutable scalars).

The mixin only knows names of operations; `build.py`, which knows the nodes, fills the table.
"""

from __future__ import annotations

from collections.abc import Callable

from ..support.errors import ScriptError
from .context import current_span

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["ExprOps"]

BINARY: dict[str, Callable[[Any, Any], Any]] = {}
UNARY: dict[str, Callable[[Any], Any]] = {}


class ExprOps:
    """Python's operators build IR. `==` builds a comparison, truth and indexing are errors that say what to write."""

    __slots__ = ()

    __hash__ = object.__hash__
    __array_ufunc__ = None  # NumPy leaves its operators to ours, and refuses its functions

    def __add__(self, other: Any) -> Any:
        return BINARY["add"](self, other)

    def __radd__(self, other: Any) -> Any:
        return BINARY["add"](other, self)

    def __sub__(self, other: Any) -> Any:
        return BINARY["sub"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return BINARY["sub"](other, self)

    def __mul__(self, other: Any) -> Any:
        return BINARY["mul"](self, other)

    def __rmul__(self, other: Any) -> Any:
        return BINARY["mul"](other, self)

    def __truediv__(self, other: Any) -> Any:
        return BINARY["div"](self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return BINARY["div"](other, self)

    def __floordiv__(self, other: Any) -> Any:
        return BINARY["floordiv"](self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return BINARY["floordiv"](other, self)

    def __mod__(self, other: Any) -> Any:
        return BINARY["floormod"](self, other)

    def __rmod__(self, other: Any) -> Any:
        return BINARY["floormod"](other, self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __and__(self, other: Any) -> Any:
        return BINARY["bitwise_and"](self, other)

    def __rand__(self, other: Any) -> Any:
        return BINARY["bitwise_and"](other, self)

    def __or__(self, other: Any) -> Any:
        return BINARY["bitwise_or"](self, other)

    def __ror__(self, other: Any) -> Any:
        return BINARY["bitwise_or"](other, self)

    def __xor__(self, other: Any) -> Any:
        return BINARY["bitwise_xor"](self, other)

    def __rxor__(self, other: Any) -> Any:
        return BINARY["bitwise_xor"](other, self)

    def __lshift__(self, other: Any) -> Any:
        return BINARY["shift_left"](self, other)

    def __rlshift__(self, other: Any) -> Any:
        return BINARY["shift_left"](other, self)

    def __rshift__(self, other: Any) -> Any:
        return BINARY["shift_right"](self, other)

    def __rrshift__(self, other: Any) -> Any:
        return BINARY["shift_right"](other, self)

    def __lt__(self, other: Any) -> Any:
        return BINARY["lt"](self, other)

    def __le__(self, other: Any) -> Any:
        return BINARY["le"](self, other)

    def __gt__(self, other: Any) -> Any:
        return BINARY["gt"](self, other)

    def __ge__(self, other: Any) -> Any:
        return BINARY["ge"](self, other)

    def __eq__(self, other: object) -> Any:
        return BINARY["eq"](self, other)

    def __ne__(self, other: object) -> Any:
        return BINARY["ne"](self, other)

    def __neg__(self) -> Any:
        return UNARY["neg"](self)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        return UNARY["bitwise_not"](self)

    def __abs__(self) -> Any:
        return UNARY["abs"](self)

    def astype(self, dtype: Any) -> Any:
        """The value converted to `dtype`, as `Tx.cast(value, dtype)`."""
        return BINARY["cast"](self, dtype)

    def __pow__(self, other: Any) -> NoReturn:
        _refuse("`**` is not defined on kernel values", "write Tx.pow(base, exponent), or multiply")

    __rpow__ = __pow__

    def __matmul__(self, other: Any) -> Any:
        if getattr(other, "is_axis", False):
            return NotImplemented  # `n @ laneid`: a stride of a layout, which the axis makes
        return self.__rmatmul__(other)

    def __rmatmul__(self, other: Any) -> NoReturn:
        _refuse("`@` is not defined on kernel values", "use a tile operation such as Tx.tile.gemm")

    def __bool__(self) -> bool:
        _refuse(
            "a kernel value has no truth value while the kernel is being built",
            "branch with `if` inside a parsed kernel or with Tx.If, select with Tx.if_then_else, combine with Tx.And / Tx.Or",
        )

    def __index__(self) -> int:
        _refuse(
            "a kernel value is not a Python integer while the kernel is being built",
            "loop with Tx.serial or Tx.unroll, keep tables in buffers instead of lists, or pass the number as a Tx.constexpr parameter",
        )

    def __int__(self) -> int:
        _refuse(
            "a kernel value is not a Python integer while the kernel is being built",
            "convert it in the kernel: Tx.int32(x)",
        )

    def __float__(self) -> float:
        _refuse(
            "a kernel value is not a Python float while the kernel is being built",
            "convert it in the kernel: Tx.float32(x)",
        )

    def __round__(self, digits: int | None = None) -> NoReturn:
        _refuse("Python cannot round a kernel value", "write Tx.round(x) or Tx.nearbyint(x)")

    def __len__(self) -> int:
        _refuse("a kernel value has no length", "use the buffer's .shape")

    def __iter__(self) -> NoReturn:
        _refuse("a kernel value cannot be iterated", "index its elements one by one")


def _refuse(message: str, hint: str) -> NoReturn:
    raise ScriptError(message, span=current_span(), hint=hint)
