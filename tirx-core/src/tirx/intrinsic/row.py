"""The row that describes an intrinsic: what it takes, what it does, how it prints, where its meaning is.

An intrinsic is named as people write it below the language's prefix: `exp`, `acme.cta_sync`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir import DType, Expr, Op

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

    from ..ir import Call
    from .requirement import Requirement

__all__ = ["Barrier", "Effect", "Intrinsic", "Operand", "check_intrinsic", "effect_of"]

OPERAND_KINDS = ("value", "pointer", "place", "region", "text", "constant", "output", "guard")
EFFECT_KINDS = ("pure", "read", "write", "atomic", "sync", "wait", "control", "opaque")

if TYPE_CHECKING:
    Result = str | Callable[[Sequence[Expr], dict[str, Any]], DType]


class Operand:
    """One positional operand.

    * `rw`: `r`, `w` or `rw`
    * `kind`: `value` (any expression), `pointer`, `place` (a buffer element or scalar that is written), `region` (a buffer
      or slice), `text` (a string), `constant` (a number known while the kernel is built), `output` (a buffer element or scalar
      that takes a result: the meaning answers the values of all outputs, in order; it is given the old ones where `rw` says so),
      `guard` (a condition: the call happens where it holds)
    * `dtypes`: allowed element types by name or family (`int uint float integer number bool`); empty: any
    * `scope`: storage scope that a pointer, place or region must have; empty: any
    * `lanes`: allowed vector widths; empty: any
    * `default`: value when the operand is left out; `Operand.REQUIRED` when it may not be
    """

    __slots__ = ("default", "dtypes", "kind", "lanes", "name", "rw", "scope")

    REQUIRED = object()

    def __init__(
        self,
        name: str,
        kind: str = "value",
        *,
        rw: str = "r",
        dtypes: Sequence[str] = (),
        scope: Sequence[str] = (),
        lanes: Sequence[int] = (),
        default: Any = REQUIRED,
    ) -> None:
        self.name = name
        self.kind = kind
        self.rw = rw
        self.dtypes = tuple(dtypes)
        self.scope = tuple(scope)
        self.lanes = tuple(lanes)
        self.default = default


class Barrier:
    """What a synchronising intrinsic waits for.

    `level` names the level of the scope model whose members meet (`cta`, `warp`, `cluster`, `kernel`). `identifier` and
    `count` name the operands that select one of several barriers and the number of threads that take part (absent: all).
    """

    __slots__ = ("count", "identifier", "level")

    def __init__(self, level: str, *, identifier: str | None = None, count: str | None = None) -> None:
        self.level = level
        self.identifier = identifier
        self.count = count


class Effect:
    """What a call does besides giving a value.

    `pure` nothing; `read` / `write` memory through its pointer, place and region operands; `atomic` reads and writes as one;
    `sync` is a barrier or fence (`barrier` says which; a fence has none); `wait` blocks until its meaning answers true;
    `control` leaves the thread or function; `opaque` anything. `elects` names a level of the scope model: the result is true in
    exactly one of the threads of each of its members that make the call. `later` names a queue: what the call gives to outputs is
    there when the thread has waited for the queue (`settle`), and until then registers among its operands are the operation's own;
    `fenced` names the fence that must hand them over. `apart`: memory is reached by a path of its own, so that ordinary
    writes must be fenced before.
    """

    __slots__ = ("apart", "barrier", "elects", "fenced", "kind", "later")

    def __init__(
        self,
        kind: str,
        barrier: Barrier | None = None,
        *,
        elects: str | None = None,
        later: str = "",
        fenced: str = "",
        apart: bool = False,
    ) -> None:
        self.kind = kind
        self.barrier = barrier
        self.elects = elects
        self.later = later
        self.fenced = fenced
        self.apart = apart

    @property
    def is_pure(self) -> bool:
        """Whether a call may be dropped, duplicated and moved."""
        return self.kind == "pure"

    @property
    def is_silent(self) -> bool:
        """Whether a call whose value nobody uses may be dropped."""
        return self.kind in ("pure", "read")


class Intrinsic(Op):
    """A row of hook `tirx_intrinsics`.

    * `name`: dotted name below the language prefix, also the printed form
    * `operands`: positional operands; `variadic` allows further ones like the last
    * `result`: a dtype name, `same` (type of the first operand), `arg:NAME` (type of one operand), `void`, or a function
      `(args, attrs) -> DType`
    * `attrs`: compile-time keywords with their defaults (plain data)
    * `meaning`: `"module:function"`, called by the simulator as `function(ctx, *values, **attrs)`; None: not modelled
    * `accuracy`: `exact`, `ulp(n)` or `model` (see the simulator's documentation)
    * `source`: where the rule stands (a section of a public specification)
    * `requires`: what a target must have, whatever its emission asks for besides
    * `form`: names of operands and keywords in the order in which the language's function takes them, where that is another
      than the operands followed by keywords: `("dtype", "value")` for `reinterpret("float32", x)`
    """

    __slots__ = (
        "accuracy", "attrs", "doc", "effect", "form", "meaning", "operands", "requires", "result", "source", "variadic",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        operands: Sequence[Operand] = (),
        result: Result = "void",
        effect: Effect | str = "pure",
        *,
        doc: str,
        attrs: dict[str, Any] | None = None,
        meaning: str | None = None,
        accuracy: str = "exact",
        source: str = "",
        variadic: bool = False,
        form: Sequence[str] = (),
        requires: Requirement | None = None,
    ) -> None:
        super().__init__(name)
        self.operands = tuple(operands)
        self.result = result
        self.effect = Effect(effect) if isinstance(effect, str) else effect
        self.doc = doc
        self.attrs = dict(attrs or {})
        self.meaning = meaning
        self.accuracy = accuracy
        self.source = source
        self.variadic = variadic
        self.form = tuple(form)
        self.requires = requires

    @property
    def answers(self) -> bool:
        """Whether a call gives values: as its result, or to operands that take them."""
        return self.result != "void" or any(operand.kind == "output" for operand in self.operands)

    def without_guard(self) -> Intrinsic:
        """The row for a call that happens in any case."""
        return Intrinsic(
            self.name,
            [operand for operand in self.operands if operand.kind != "guard"],
            self.result,
            self.effect,
            doc=self.doc,
            attrs=self.attrs,
            meaning=self.meaning,
            accuracy=self.accuracy,
        )

    def title(self, node: Call) -> str:
        """What messages call a call; rows of many forms say which."""
        return self.name

    def printed(self, node: Call, texts: Sequence[str]) -> str | None:
        """The call as the language's text, where that is not a plain call of a function; rows of a richer grammar say how."""
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        from ..backend import row_reference  # rows travel by name

        return row_reference("intrinsics", self.name)


_OPAQUE = Effect("opaque")


def effect_of(call: Call) -> Effect:
    """What a call does; a function of the module may do anything."""
    return call.op.effect if isinstance(call.op, Intrinsic) else _OPAQUE


def check_intrinsic(row: Intrinsic) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Intrinsic):
        raise ValueError(f"expected an Intrinsic, got {type(row).__name__}")
    if not all(part.replace("_", "a").isalnum() for part in row.name.split(".")):
        raise ValueError(f"intrinsic name {row.name!r} is not a dotted identifier")
    if not row.doc:
        raise ValueError(f"intrinsic {row.name} has no doc")
    if row.effect.kind not in EFFECT_KINDS:
        raise ValueError(f"intrinsic {row.name}: effect {row.effect.kind!r} is none of {', '.join(EFFECT_KINDS)}")
    for operand in row.operands:
        if operand.kind not in OPERAND_KINDS or operand.rw not in ("r", "w", "rw"):
            raise ValueError(
                f"intrinsic {row.name}: operand {operand.name} has kind {operand.kind!r}, rw {operand.rw!r}"
            )
    unknown = [
        item for item in row.form if item not in row.attrs and item not in {operand.name for operand in row.operands}
    ]
    missing = [operand.name for operand in row.operands if row.form and operand.name not in row.form]
    if unknown or missing:
        raise ValueError(f"intrinsic {row.name}: form {row.form} names nothing for {unknown or missing}")
    if row.meaning is not None and ":" not in row.meaning:
        raise ValueError(f"intrinsic {row.name}: meaning {row.meaning!r} is not 'module:function'")
