"""Constructors of the language's types: `Tx.float32` is an annotation, a cast, a constant, a fresh variable, a vector type."""

from __future__ import annotations

from ...intrinsic.core.arithmetic import INFINITE
from ...ir import (
    Alloc,
    Buffer,
    DType,
    Expr,
    FloatImm,
    PointerType,
    Var,
    active_builder,
    as_expr,
    cast,
    current_span,
    dtype_names,
    emit,
)  # fmt: skip
from ...ir.dtype import ALIASES
from ...support.errors import ScriptError
from .state import Builder, builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "CONSTRUCTORS", "DtypeConstructor", "HandleConstructor", "LetAnnotation", "LocalVectorAnnotation", "Ptr", "TensorMap",
    "TupleAnnotation", "handle", "is_fresh", "let", "ptr", "var", "void",
]  # fmt: skip

_WIDTHS = (2, 4, 8, 16, 32, 64)
_SCALAR_ONLY = frozenset({"bool", "bfloat16", "void", "handle", "tensormap"})
_SPECIAL = {"inf": "inf", "-inf": "-inf", "nan": "nan", "+inf": "inf"}


def fresh_var(dtype: DType, hint: str = "v") -> Var:
    """A new variable that nothing defines yet; its name follows from the first assignment."""
    made = Var(hint, dtype, span=current_span())
    owner = active_builder()
    if isinstance(owner, Builder):
        owner.claim(made, hint)
        owner.names.fresh_vars[id(made)] = made
        owner.names.give_assigned((made,))
    return made


def is_fresh(value: Any) -> bool:
    """Whether `value` is a variable made by `Tx.int32()` or `Tx.handle()`, which stays what it is when it is assigned."""
    owner = active_builder()
    return isinstance(owner, Builder) and id(value) in owner.names.fresh_vars


class DtypeConstructor:
    """A dtype as the language offers it.

    * `Tx.float32`: an annotation, and a dtype wherever one is expected
    * `Tx.float32(x)`: `x` converted; of a Python number a constant; `Tx.float32("inf")`, `"-inf"`, `"nan"`
    * `Tx.float32()`: a fresh variable
    * `Tx.float32[4]`: annotation of a local vector
    """

    __slots__ = ("dtype",)

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def __call__(self, value: Any = None) -> Expr:
        """A constant, a conversion, or a fresh variable."""
        if value is None:
            return fresh_var(self.dtype)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bool | int | float):
            return as_expr(value, self.dtype)
        return cast(value, self.dtype)

    def _text(self, text: str) -> Expr:
        if text not in _SPECIAL or not self.dtype.is_float:
            refuse(f"{text!r} is not a value of {self.dtype}", 'float types know "inf", "-inf" and "nan"')
        if text == "nan" and self.dtype.kind in ("float6", "float4"):
            refuse(f"{self.dtype} has no NaN", "all its bits are numbers; what is NaN becomes the largest")
        if text != "nan" and self.dtype.element.name not in INFINITE:
            refuse(f"{self.dtype} has no infinity", f'Tx.max_value("{self.dtype}") is its largest value')
        return FloatImm(float(_SPECIAL[text]), self.dtype, span=current_span())

    def __getitem__(self, shape: Any) -> LocalVectorAnnotation:
        return LocalVectorAnnotation(self.dtype, shape if isinstance(shape, tuple) else (shape,))

    def __tirx_dtype__(self) -> DType:
        return self.dtype

    def __eq__(self, other: object) -> bool:
        return self.dtype == (other.dtype if isinstance(other, DtypeConstructor) else other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __str__(self) -> str:
        return self.dtype.name

    def __repr__(self) -> str:
        return f"Tx.{self.dtype.name}"


class HandleConstructor(DtypeConstructor):
    """`Tx.handle`: an opaque pointer; `Tx.handle("float32", "shared")` one to elements in a storage scope."""

    __slots__ = ()

    def __call__(self, dtype: Any = None, storage_scope: str = "global") -> Expr:
        """A fresh pointer."""
        return fresh_var(PointerType(None if dtype is None else _named(dtype), storage_scope), "p")

    def __getitem__(self, item: Any) -> Any:
        """`Ptr["float32"]`, `Ptr["float32", "shared"]`."""
        dtype, scope = item if isinstance(item, tuple) else (item, "global")
        return DtypeConstructor(PointerType(_named(dtype), scope))


class LocalVectorAnnotation:
    """`x: Tx.float32[4]` declares a buffer of the thread's own."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: DType, shape: tuple[Any, ...]) -> None:
        self.dtype = dtype
        self.shape = shape

    def allocate(self) -> Buffer:
        """The buffer, allocated here."""
        owner = builder("a local vector")
        made = Buffer("", self.shape, self.dtype, scope="local")
        owner.claim(made, "vector")
        emit(Alloc(made, span=current_span()))
        return made


class LetAnnotation:
    """`x: Tx.let = e` binds; `x: Tx.let[Tx.int32] = e` converts first. `dtype` is None without a type."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: DType | None = None) -> None:
        self.dtype = dtype

    @classmethod
    def of(cls, dtype: Any) -> LetAnnotation:
        """With a type in any of its spellings; None: without."""
        return cls() if dtype is None else cls(dtype.dtype if isinstance(dtype, Var) else _named(dtype))

    def __getitem__(self, dtype: Any) -> LetAnnotation:
        return LetAnnotation.of(dtype)

    def convert(self, value: Any) -> Expr:
        """`value` in the annotated type."""
        expr = as_expr(value, self.dtype) if isinstance(value, bool | int | float) else as_expr(value)
        if self.dtype is None or self.dtype.is_handle:
            return expr
        return cast(expr, self.dtype)


class TupleAnnotation:
    """`-> Tx.Tuple()`: a function without a result; with one type, that type."""

    __slots__ = ()

    def __call__(self, *types: Any) -> DType:
        """The result type."""
        if len(types) > 1:
            refuse("a function returns at most one value", "write further results through pointer or buffer parameters")
        return _named(types[0]) if types else DType("void")

    __getitem__ = __call__


def _named(dtype: Any) -> DType:
    try:
        return DType(dtype)
    except ValueError as error:
        message, semicolon, near = str(error).partition("; ")
        hint = near if semicolon else 'a dtype is written as text such as "float32", or as Tx.float32'
        raise ScriptError(message, span=current_span(), hint=hint) from None


def _constructors() -> dict[str, DtypeConstructor]:
    """Every scalar name, the vector widths of those that have them, and the aliases."""
    made: dict[str, DtypeConstructor] = {}
    for name in dtype_names():
        if name in ("handle", "tensormap"):
            continue
        made[name] = DtypeConstructor(DType(name))
        if name not in _SCALAR_ONLY:
            made.update({f"{name}x{lanes}": DtypeConstructor(DType(f"{name}x{lanes}")) for lanes in _WIDTHS})
    made.update({alias: made[name] for alias, name in ALIASES.items()})
    return made


CONSTRUCTORS = _constructors()


def _is_core(name: str) -> bool:
    return name in dtype_names()


def constructor(name: str, is_scalar: Callable[[str], bool] = _is_core) -> DtypeConstructor | None:
    """The constructor of a dtype that the table has not: other vector widths, other scalar types (`is_scalar`)."""
    scalar, cross, lanes = name.rpartition("x")
    known = is_scalar(name) or (cross and lanes.isdigit() and int(lanes) > 1 and is_scalar(scalar))
    return DtypeConstructor(DType(name)) if known else None


handle = HandleConstructor(PointerType())
Ptr = handle
void = CONSTRUCTORS["void"]
TensorMap = DtypeConstructor(PointerType("tensormap", "param"))
let = LetAnnotation()
"""Annotation of a value that is bound once and never changes: `half: Tx.let = n // 2`."""


def ptr(dtype: Any, storage_scope: str = "global") -> Expr:
    """A fresh pointer to elements of `dtype`; as an annotation, a pointer parameter."""
    return handle(dtype, storage_scope)


def var(dtype: Any, name: str = "v") -> Var:
    """A fresh variable; `Tx.int32()` says the same."""
    made = fresh_var(_named(dtype), name)
    return made
