"""What an assignment in a kernel means.

`assign` decides by what is assigned (`new`) and what the name holds (`old`; a value whose block has ended counts as none):

| new                                        | old: nothing, or a Python value  | old: a mutable scalar            |
|--------------------------------------------|----------------------------------|----------------------------------|
| number (Python or NumPy)                   | new scalar: bool, int32, float32 | store                            |
| expression, mutable scalar                 | new scalar of its dtype          | store                            |
| variable or scalar that has no name yet    | takes the name                   | store                            |
| pointer expression                         | bound once, immutable            | refused                          |
| expression without a value (`void`)        | refused                          | refused                          |
| `Tx.meta_var(v)`                           | `v`, a Python value              | `v`                              |
| buffer, region, layout, function, class    | Python value; a buffer without a | Python value                     |
| instance, str, list, tuple, dict, None ... | name takes this one              |                                  |

Variables without a name are those that `Tx.thread_id()`, `Tx.int32()`, `Tx.alloc_local()` ... just made. A tuple is
unpacked only when the author unpacks it. Which blocks may rebind a name is decided by the caller (`Scope`).
"""

from __future__ import annotations

from ..ir import (
    Alloc,
    Bind,
    Buffer,
    BufferRegion,
    DType,
    Expr,
    Scalar,
    StringImm,
    Tuple,
    Var,
    as_expr,
    cast,
    const,
    current_span,
)  # fmt: skip
from ..support.words import an
from .builder.launch import LaunchFrame
from .builder.state import builder, refuse
from .builder.types import is_fresh
from .meta import name_members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = [
    "UNBOUND",
    "Unbound",
    "assign",
    "bind_value",
    "give_name",
    "is_kernel_value",
    "is_number",
    "meta_var",
    "new_scalar",
    "stores",
]


class Unbound:
    """What a variable holds before its first assignment."""

    def __repr__(self) -> str:
        return "<no value>"


UNBOUND = Unbound()


class meta_var:  # noqa: N801 - the language's name
    """Keeps a Python value a Python value: `x = Tx.meta_var(5)` makes no scalar. `.value` is what it holds."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value.value if isinstance(value, meta_var) else value

    def __iter__(self) -> Iterator[meta_var]:
        return (meta_var(item) for item in self.value)

    def __tirx_expr__(self) -> Expr:
        return as_expr(self.value)


def is_number(value: Any) -> bool:
    """Whether `value` is a Python or NumPy number."""
    if isinstance(value, bool | int | float):
        return True
    return getattr(value, "ndim", None) == 0 and hasattr(value, "item") and isinstance(value.item(), bool | int | float)


def is_kernel_value(value: Any) -> bool:
    """Whether `value` is known only when the kernel runs: an expression, a mutable scalar, or what stands for one."""
    if isinstance(value, Expr | Scalar):
        return True
    return hasattr(type(value), "__tirx_expr__") and not isinstance(value, Buffer | meta_var)


def stores(old: Any, new: Any) -> bool:
    """Whether assigning `new` over `old` stores to a mutable scalar instead of rebinding the name."""
    if not isinstance(old, Scalar) or isinstance(new, meta_var):
        return False
    return is_number(new) or (is_kernel_value(new) and not isinstance(new, _PLAIN))


_PLAIN = (BufferRegion, Tuple, StringImm)  # expressions that are operands, not values


def assign(name: str, old: Any, new: Any) -> Any:
    """What `name` holds after `name = new`; emits the statements that this takes. See the table above."""
    if isinstance(new, meta_var):
        return new.value
    if isinstance(new, LaunchFrame):
        new = new.vars[0]
    if stores(old, new):
        if new is not old:
            if not is_number(new):  # a number takes the type of what it is stored in
                _check_value(name, new)
            old.assign(new)
        return old
    if is_number(new):
        if isinstance(old, Buffer):
            refuse(
                f"`{name}` is a buffer, and would become a number",
                f"write an element, e.g. {name}[i] = {new}; fill all with Tx.tile.fill({name}, {new}); or use another name",
            )
        return new_scalar(name, as_expr(new).dtype, new)
    if not is_kernel_value(new) or isinstance(new, _PLAIN) or _takes_name(new):
        give_name(new, name)
        return new
    expr = _check_value(name, new)
    if expr.dtype.is_handle or expr.dtype.kind == "opaque":
        return bind_value(name, expr)
    return new_scalar(name, expr.dtype, expr)


def give_name(value: Any, name: str) -> None:
    """Name what `value` is or holds after the variable that it is assigned to."""
    if getattr(type(value), "__tirx_meta__", False):
        name_members(builder(), value, name)
    else:
        builder().name_value(value, name)


def _takes_name(value: Any) -> bool:
    """Whether a variable or scalar was just made and has no name of the author's yet."""
    item = value.buffer if isinstance(value, Scalar) else value
    return is_fresh(item) or (isinstance(item, Var | Buffer) and id(item) in builder().names.invented)


def _check_value(name: str, value: Any) -> Expr:
    expr = as_expr(value)
    if expr.dtype.kind == "void":
        refuse(f"`{name}` is assigned a call that gives no value", "write the call on a line of its own")
    return expr


def new_scalar(name: str, dtype: DType, value: Any = None) -> Scalar:
    """A mutable scalar with this name in the current block, and its first value when there is one."""
    owner = builder()
    buffer = Buffer(owner.fresh_name(name), (1,), dtype, scope="local", is_scalar=True)
    # Not through `emit`: the allocation must not come between a call with an effect and the store that takes its value.
    owner.top.stmts.append(Alloc(buffer, span=current_span()))
    scalar = Scalar(buffer)
    if value is not None:
        scalar.assign(value)
    return scalar


def bind_value(name: str, value: Any, dtype: DType | None = None) -> Var:
    """An immutable variable with this name."""
    expr = as_expr(value) if dtype is None else _converted(name, value, dtype)
    owner = builder()
    var = Var(owner.fresh_name(name), expr.dtype, span=current_span())
    owner.emit(Bind(var, expr, span=current_span()))
    return var


def _converted(name: str, value: Any, dtype: DType) -> Expr:
    if is_number(value):
        return const(value if isinstance(value, bool | int | float) else value.item(), dtype)
    expr = as_expr(value)
    if expr.dtype is dtype or (expr.dtype.is_handle and dtype.is_handle):
        return expr
    if expr.dtype.is_handle or dtype.is_handle:
        refuse(f"`{name}` is declared as {dtype} and gets {an(expr.dtype)}", "use Tx.reinterpret(dtype, value)")
    return cast(expr, dtype)
