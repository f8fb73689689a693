"""Making the call of a tile operation from what the author wrote: operands, plain keywords, and keywords for its variant.

Everything that can be known without the target is checked here, at the author's line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir import (
    INT32,
    Buffer,
    BufferLoad,
    BufferRegion,
    DType,
    Expr,
    FloatImm,
    IndexFunction,
    IntImm,
    Scalar,
    TileCall,
    Var,
    as_expr,
    cast,
    const,
    current_span,
)  # fmt: skip
from ..ir.convert import is_lossless
from ..ir.tiles import namespace
from ..support.errors import ScriptError
from ..support.words import an
from .config import config_value
from .functions import index_function
from .levels import level_of
from .row import KEYWORDS, TileAttr, TileOp, TileOperand
from .text import may_be_absent, parameters

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["tile_call"]

_NUMBERS = (bool, int, float)


def tile_call(row: TileOp, scope: str | None, args: Sequence[Any], keywords: Mapping[str, Any]) -> TileCall:
    """The call of `row` with `args` and `keywords` by the threads of `scope` (None: each thread for itself)."""
    return _Maker(row, scope).make(args, keywords)


class _Maker:
    """Makes one call; knows how the author spelled it, for messages."""

    def __init__(self, row: TileOp, scope: str | None) -> None:
        self.row = row
        self.scope = scope
        self.what = f"Tx.{namespace(scope)}.{row.name}"
        self.span = current_span()

    def make(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> TileCall:
        given = self.named(args, keywords)
        operands = self.operands(given)
        attrs = tuple(sorted((item.name, self.attr(item, given, operands)) for item in self.row.attrs))
        config = {key: value for key, value in keywords.items() if key not in given and key not in KEYWORDS}
        workspace = self.workspace(keywords.get("workspace"))
        chosen = sorted(item for item in config.items() if item[1] is not None)
        values = {key: config_value(self.what, key, value) for key, value in chosen}
        call = TileCall(
            self.row, level_of(self.what, self.scope, keywords.get("scope")), tuple(operands), tuple(operands.values()),
            attrs, self.dispatch(keywords.get("dispatch")), tuple(workspace), tuple(workspace.values()), tuple(values),
            tuple(values.values()), span=self.span,
        )  # fmt: skip
        self.check(call)
        return call

    def check(self, call: TileCall) -> None:
        check = self.row.check
        if call.dispatch is not None:
            check = _own_check(call) or check
        if check is not None:
            check(call)

    # ---- who is given what ------------------------------------------------------------------------------------------

    def named(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        form = self.row.form
        if len(args) > len(form):
            self.refuse(f"{self.what} is called with {len(args)} arguments", self.signature())
        given = dict(zip(form, args, strict=False))
        for name in form:
            if name in keywords:
                if name in given:
                    self.refuse(f"{self.what} gets `{name}` twice: by position and by name", self.signature())
                given[name] = keywords[name]
        for item, _ in parameters(self.row):
            if item.name not in given and not may_be_absent(item):
                self.refuse(f"{self.what} is called without `{item.name}`", self.signature())
        return given

    def signature(self) -> str:
        return f"its arguments are ({', '.join(text for _, text in parameters(self.row))})"

    # ---- operands ---------------------------------------------------------------------------------------------------

    def operands(self, given: Mapping[str, Any]) -> dict[str, Expr]:
        found: dict[str, Expr] = {}
        written_first = sorted(self.row.operands, key=lambda item: "w" not in item.rw)
        for item in written_first:  # numbers take their type from what is written
            value = given.get(item.name)
            if value is not None:
                found[item.name] = self.operand(item, value, found)
            elif not item.optional:
                self.refuse(f"`{item.name}` of {self.what} is None", self.signature())
            elif item.default is not None:
                found[item.name] = found[item.default]
        return {item.name: found[item.name] for item in self.row.operands if item.name in found}

    def operand(self, item: TileOperand, value: Any, found: Mapping[str, Expr]) -> Expr:
        if "tile" in item.kinds and (isinstance(value, Buffer | BufferRegion) or "scalar" not in item.kinds):
            return self.tile(item, value)
        written = next(iter(found.values()), None)
        if "function" in item.kinds:
            assert isinstance(written, BufferRegion)
            return index_function(self.what, item.name, value, len(written.extents))
        if not isinstance(value, (Expr, Scalar, *_NUMBERS)) and not hasattr(value, "item"):
            self.refuse(f"`{item.name}` of {self.what} is {_kind(value)}", f"it takes {_wanted(item)}")
        dtype = DType(item.dtype) if item.dtype else written.dtype if written is not None else None
        return self.scalar(item, value, dtype)

    def tile(self, item: TileOperand, value: Any) -> BufferRegion:
        if isinstance(value, Scalar):
            value = value.buffer
        if isinstance(value, Buffer):
            return value.region()
        if isinstance(value, BufferRegion):
            return value
        if isinstance(value, BufferLoad):
            one = const(1, INT32)
            return BufferRegion(value.buffer, value.indices, (one,) * len(value.indices), span=value.span)
        role = "written" if "w" in item.rw else "read"
        hint = f"it takes {_wanted(item)}"
        if item is self.row.operands[0] and self.row.name in ("cast", "max", "min"):
            hint = f"Tx.{self.row.name} without a scope is the function of scalars"
        return self.refuse(f"`{item.name}` of {self.what} is a tile that is {role}, not {_kind(value)}", hint)

    def scalar(self, item: TileOperand, value: Any, dtype: DType | None) -> Expr:
        if dtype is None:
            return as_expr(value)
        element = dtype.element
        if isinstance(value, _NUMBERS):
            return self.number(item, value, element)
        expr = as_expr(value, element)
        if isinstance(expr, IntImm | FloatImm):  # typed constants count as the numbers that they are
            return self.number(item, expr.value, element)
        if expr.dtype.lanes != 1 or not (is_lossless(expr.dtype, element) or element.is_bool):
            self.refuse(
                f"`{item.name}` of {self.what} is {an(expr.dtype)}, and the tile holds {element}",
                f'convert it: Tx.cast(x, "{element}")',
            )
        return cast(expr, element) if not element.is_bool or expr.dtype.is_bool else expr != 0

    def number(self, item: TileOperand, value: Any, element: DType) -> Expr:
        if element.is_bool:
            return const(bool(value), element)
        if isinstance(value, float) and not element.is_float and not value.is_integer():
            self.refuse(
                f"`{item.name}` of {self.what} is {value!r}, and the tile holds {element}", "give a whole number"
            )
        return const(value, element)

    # ---- keywords ---------------------------------------------------------------------------------------------------

    def attr(self, item: TileAttr, given: Mapping[str, Any], operands: Mapping[str, Expr]) -> Any:
        value = given.get(item.name, item.default)
        if value is TileAttr.REQUIRED or value is None:
            self.refuse(f"`{item.name}` of {self.what} is None", self.signature())
        if item.convert is None and not _is_a(value, item.type):
            self.refuse(f"`{item.name}` of {self.what} is {_kind(value)}", f"it takes {_types_text(item.type)}")
        if item.convert is None:
            return value
        try:
            return item.convert(value, operands)
        except ScriptError as error:
            self.refuse(f"`{item.name}` of {self.what} is {error.message}", error.hint)

    def dispatch(self, value: Any) -> str | None:
        if value is not None and not (isinstance(value, str) and value):
            self.refuse(f"`dispatch` of {self.what} is {_kind(value)}", 'it names a variant: dispatch="..."')
        return value

    def workspace(self, value: Any) -> dict[str, Expr]:
        if value is None:
            return {}
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            self.refuse(f"`workspace` of {self.what} is {_kind(value)}", 'it names buffers: workspace={"name": buffer}')
        found: dict[str, Expr] = {}
        for name, item in sorted(value.items()):
            if not isinstance(item, Buffer | BufferRegion):
                self.refuse(f"`workspace[{name!r}]` of {self.what} is {_kind(item)}", "a workspace is a buffer")
            found[name] = item.region() if isinstance(item, Buffer) else item
        return found

    def refuse(self, message: str, hint: str | None) -> NoReturn:
        raise ScriptError(message, span=self.span, hint=hint)


def _is_a(value: Any, kind: type | tuple[type, ...]) -> bool:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _types_text(kind: type | tuple[type, ...]) -> str:
    return " or ".join(an(item.__name__) for item in (kind if isinstance(kind, tuple) else (kind,)))


_WANTED = {"tile": "a buffer or a region such as A[0:16, :]", "scalar": "a number", "function": "a function of indices"}


def _wanted(item: TileOperand) -> str:
    return " or ".join(_WANTED[kind] for kind in item.kinds)


def _kind(value: Any) -> str:
    if isinstance(value, Expr | Scalar) and not isinstance(value, BufferRegion | IndexFunction):
        return f"{an(value.dtype)} value" + (f" (`{value.name}`)" if isinstance(value, Var | Scalar) else "")
    if isinstance(value, Buffer | BufferRegion):
        name = value.name if isinstance(value, Buffer) else value.buffer.name
        return f"the tile `{name}`"
    return f"{an(type(value).__name__)}"


def _own_check(call: TileCall) -> Any:
    """The check of the variant that the call names, where a loaded backend has one."""
    from ..backend import registry  # only calls that name their variant ask

    rows = registry().rows("dispatch_variants").values()
    found = (row for row in _flat(rows) if row.operation == call.op.name and row.name == call.dispatch)
    return next((row.check for row in found if row.check is not None), None)


def _flat(rows: Any) -> Any:
    for item in rows:
        yield from item if isinstance(item, tuple | list) else (item,)
