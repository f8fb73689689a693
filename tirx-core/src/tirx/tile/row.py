"""Rows of tile operations and of the variants that implement them on a target kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..ir import Op

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

    from ..ir import Expr, TileCall
    from .context import DispatchContext
    from .verdict import Verdict

__all__ = [
    "ConfigKey", "Predicate", "TileAttr", "TileOp", "TileOperand", "Variant", "check_tile_op", "check_variant",
    "tile_op",
]  # fmt: skip

OPERAND_KINDS = ("tile", "scalar", "function")
KEYWORDS = ("workspace", "dispatch", "scope")
RESERVED = ("thread", "warp", "wg", "warpgroup", "cta", "cluster")  # they name scopes where an operation's name stands


class TileOperand:
    """One operand of a tile operation.

    * `rw`: "r", "w" or "rw"; a written one is read too where the call's `read_if` (an attr or scalar operand) is not false
    * `kinds`: what may stand there: `tile` (a buffer or a region of one), `scalar` (a number or expression), `function` (of
      the positions in the tile, as `select` takes it)
    * `optional`: it may be left out, and is then absent, or is the operand named by `default` (forms that work in place)
    * `dtype`: the type of a scalar; empty: the element type of the first written operand
    """

    __slots__ = ("default", "doc", "dtype", "kinds", "name", "optional", "read_if", "rw")

    def __init__(
        self,
        name: str,
        rw: str = "r",
        kinds: Sequence[str] = ("tile",),
        *,
        optional: bool = False,
        default: str | None = None,
        read_if: str | None = None,
        dtype: str = "",
        doc: str = "",
    ) -> None:
        self.name = name
        self.rw = rw
        self.kinds = tuple(kinds)
        self.optional = optional or default is not None
        self.default = default
        self.read_if = read_if
        self.dtype = dtype
        self.doc = doc


class TileAttr:
    """A plain keyword of a tile operation (`axes`, `accum`, `transpose_A`): its Python `type`, `default` and meaning.

    `convert(value, operands)` answers the value that the call keeps, given the operands by name; it raises `ScriptError` for
    what it does not accept.
    """

    __slots__ = ("convert", "default", "doc", "name", "type")

    REQUIRED = object()

    def __init__(
        self,
        name: str,
        type: type | tuple[type, ...],
        default: Any = REQUIRED,
        doc: str = "",
        convert: Callable[[Any, Mapping[str, Expr]], Any] | None = None,
    ) -> None:
        self.name = name
        self.type = type
        self.default = default
        self.doc = doc
        self.convert = convert


class TileOp(Op):
    """A row of hook `tirx_tile_ops`: a named operation on tiles.

    * `operands`, `attrs`: what a call is given
    * `form`: their names in the order in which the language's function takes them, where that is another than operands, then
      attrs
    * `check(call)`: raises `ScriptError` at the call's line when shapes, dtypes or axes do not fit together
    * `meaning`: `"module:function"`, called with keywords: the operands that the call was given, as NumPy arrays (written ones
      hold what was there before), numbers, or functions of index arrays; and the attrs. It answers the new value of the
      written operand, in its shape and dtype, or a tuple in the order of the written operands
    """

    __slots__ = ("attrs", "check", "doc", "form", "meaning", "operands")

    def __init__(
        self,
        name: str,
        operands: Sequence[TileOperand],
        *,
        meaning: str,
        doc: str,
        attrs: Sequence[TileAttr] = (),
        form: Sequence[str] = (),
        check: Callable[[TileCall], None] | None = None,
    ) -> None:
        super().__init__(name)
        self.operands = tuple(operands)
        self.attrs = tuple(attrs)
        self.form = tuple(form) or (*(item.name for item in self.operands), *(item.name for item in self.attrs))
        self.check = check
        self.meaning = meaning
        self.doc = doc

    def __reduce__(self) -> tuple[Any, ...]:
        from ..backend import row_reference  # rows travel by name

        return row_reference("tile_ops", self.name)


class Predicate:
    """A named condition of a variant: `test(call, context)` answers None or a `Verdict`, or calls `decline(reason, ...)`."""

    __slots__ = ("name", "test")

    def __init__(self, name: str, test: Callable[[TileCall, DispatchContext], Verdict | None]) -> None:
        self.name = name
        self.test = test


class ConfigKey:
    """A keyword that a variant understands: accepted Python `type` (`object` for any value, expressions included), default, doc.

    `choices` lists the allowed values where there are few.
    """

    __slots__ = ("choices", "default", "doc", "name", "type")

    def __init__(
        self, name: str, type: type | tuple[type, ...], default: Any = None, doc: str = "", choices: Sequence[Any] = ()
    ) -> None:
        self.name = name
        self.type = type
        self.default = default
        self.doc = doc
        self.choices = tuple(choices)


class Variant:
    """A row of hook `tirx_dispatch_variants`: one way to run `operation` on target `kind`.

    Candidates are those of the kind, then those of its parent kinds; they are tried by falling `priority`, then owner, then
    `name`. With `on_request` a variant is only taken when a call names it (`dispatch="..."`); `check(call)` then takes the
    place of the operation's own check, for variants that know further forms of it.
    `predicates` answer whether the variant fits; `emit(call, context)` appends statements to the active builder and may
    still `decline(...)`; given as `"module:function"` it is imported when first used. `config` declares the keywords, and
    `workspace` names the scratch buffers, that a call may give.
    """

    __slots__ = (
        "check", "config", "doc", "emit", "kind", "name", "on_request", "operation", "predicates", "priority", "workspace",
    )  # fmt: skip

    def __init__(
        self,
        operation: str,
        kind: str,
        name: str,
        *,
        emit: Callable[[TileCall, DispatchContext], None] | str,
        priority: int = 0,
        predicates: Sequence[Predicate] = (),
        config: Sequence[ConfigKey] = (),
        workspace: Mapping[str, str] | None = None,
        on_request: bool = False,
        check: Callable[[TileCall], None] | None = None,
        doc: str = "",
    ) -> None:
        self.check = check
        self.operation = operation
        self.kind = kind
        self.name = name
        self.emit = emit
        self.priority = priority
        self.predicates = tuple(predicates)
        self.config = tuple(config)
        self.workspace = dict(workspace or {})
        self.on_request = on_request
        self.doc = doc


def tile_op(call: TileCall) -> TileOp:
    """The row of the operation of a call."""
    assert isinstance(call.op, TileOp)
    return call.op


def check_tile_op(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, TileOp):
        raise ValueError(f"expected a TileOp, got {type(row).__name__}")
    if not row.name.isidentifier() or row.name in RESERVED:
        raise ValueError(f"tile operation {row.name!r} is no name that the language can offer")
    if ":" not in row.meaning:
        raise ValueError(f"tile operation {row.name}: meaning {row.meaning!r} is not 'module:function'")
    names = [*(item.name for item in row.operands), *(item.name for item in row.attrs)]
    if sorted(row.form) != sorted(set(names)) or set(names) & set(KEYWORDS):
        raise ValueError(f"tile operation {row.name}: form {row.form} does not name each operand and attr once")
    for operand in row.operands:
        unknown = set(operand.kinds) - set(OPERAND_KINDS)
        if unknown or operand.rw not in ("r", "w", "rw"):
            raise ValueError(
                f"tile operation {row.name}: operand {operand.name} has kinds {operand.kinds}, rw {operand.rw!r}"
            )
    if not any("w" in operand.rw for operand in row.operands):
        raise ValueError(f"tile operation {row.name} writes nothing")


def check_variant(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Variant):
        raise ValueError(f"expected a Variant, got {type(row).__name__}")
    if not callable(row.emit) and ":" not in str(row.emit):
        raise ValueError(f"variant {row.name} of {row.operation}: emit is neither callable nor 'module:function'")
    if not all(isinstance(item, Predicate) for item in row.predicates):
        raise ValueError(f"variant {row.name} of {row.operation}: predicates are Predicate records")
    if not all(isinstance(item, ConfigKey) for item in row.config):
        raise ValueError(f"variant {row.name} of {row.operation}: config is declared in ConfigKey records")
