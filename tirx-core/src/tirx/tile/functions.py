"""Functions of a tile's positions: what the author gives as a lambda becomes variables and an expression of them."""

from __future__ import annotations

from ..ir import INT32, Buffer, BufferRegion, Expr, IndexFunction, Scalar, Var, as_expr, current_span
from ..support.errors import ScriptError
from ..support.words import an

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["index_function"]


def index_function(what: str, name: str, value: Any, rank: int) -> IndexFunction:
    """`value` called with one variable for each of `rank` dimensions."""
    if isinstance(value, IndexFunction):
        _expect(what, name, len(value.vars), rank)
        return value
    if not callable(value) or isinstance(value, Expr | Scalar | Buffer | BufferRegion):
        raise ScriptError(
            f"`{name}` of {what} is {an(type(value).__name__)}, not a function",
            span=current_span(),
            hint=f"it takes the positions in the tile: lambda {', '.join(_names(rank))}: ...",
        )
    variables = tuple(Var(item, INT32, span=current_span()) for item in _parameters(what, name, value, rank))
    return IndexFunction(variables, as_expr(value(*variables)), span=current_span())


def _parameters(what: str, name: str, value: Any, rank: int) -> list[str]:
    """Names of the parameters of `value`, which must take as many as there are dimensions."""
    code = getattr(value, "__code__", None)
    if code is None or code.co_flags & 0x04:  # *args takes any number
        return _names(rank)
    first = 1 if getattr(value, "__self__", None) is not None else 0
    found = list(code.co_varnames[first : code.co_argcount])
    optional = len(value.__defaults__ or ())
    if not len(found) - optional <= rank <= len(found):
        _expect(what, name, len(found), rank)
    return found[:rank]


def _expect(what: str, name: str, count: int, rank: int) -> None:
    if count != rank:
        raise ScriptError(
            f"`{name}` of {what} takes {count} position{'s' if count != 1 else ''}, and the tile has {rank} "
            f"dimension{'s' if rank != 1 else ''}",
            span=current_span(),
            hint=f"write lambda {', '.join(_names(rank))}: ...",
        )


def _names(rank: int) -> list[str]:
    return ["i", "j", "k", "l"][:rank] if rank <= 4 else [f"i{number}" for number in range(rank)]
