"""Data types: interned, immutable, named as kernel authors write them (`float16x4`, `uint8`, `handle`)."""

from __future__ import annotations

from collections.abc import Iterable
from math import frexp, isfinite

__all__ = [
    "ALIASES",
    "BOOL",
    "FLOAT32",
    "HANDLE",
    "INT32",
    "INT64",
    "UINT32",
    "VOID",
    "DType",
    "PointerType",
    "dtype_names",
]

# name -> (kind, bits of one element, exponent bits, mantissa bits); widths of the last two are 0 where they mean nothing.
# In memory an element of six bits takes a byte, and two of four bits share one: `storage_bits`.
_TABLE: dict[str, tuple[str, int, int, int]] = {
    "bool": ("bool", 8, 0, 0),
    "int8": ("int", 8, 0, 0),
    "int16": ("int", 16, 0, 0),
    "int32": ("int", 32, 0, 0),
    "int64": ("int", 64, 0, 0),
    "uint8": ("uint", 8, 0, 0),
    "uint16": ("uint", 16, 0, 0),
    "uint32": ("uint", 32, 0, 0),
    "uint64": ("uint", 64, 0, 0),
    "float16": ("float", 16, 5, 10),
    "float32": ("float", 32, 8, 23),
    "float64": ("float", 64, 11, 52),
    "bfloat16": ("bfloat", 16, 8, 7),
    "float8_e3m4": ("float8", 8, 3, 4),
    "float8_e4m3": ("float8", 8, 4, 3),
    "float8_e4m3b11fnuz": ("float8", 8, 4, 3),
    "float8_e4m3fn": ("float8", 8, 4, 3),
    "float8_e4m3fnuz": ("float8", 8, 4, 3),
    "float8_e5m2": ("float8", 8, 5, 2),
    "float8_e5m2fnuz": ("float8", 8, 5, 2),
    "float8_e8m0fnu": ("float8", 8, 8, 0),
    "float6_e2m3fn": ("float6", 6, 2, 3),
    "float6_e3m2fn": ("float6", 6, 3, 2),
    "float4_e2m1fn": ("float4", 4, 2, 1),
    "void": ("void", 0, 0, 0),
    "handle": ("handle", 64, 0, 0),
    "tensormap": ("opaque", 1024, 0, 0),
}

ALIASES = {
    "boolean": "bool", "f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip

_NIBBLE = 4  # bits of formats of which a byte holds two
_INTEGERS = frozenset({"int", "uint"})
_FLOATS = frozenset({"float", "bfloat", "float8", "float6", "float4"})


class DType:
    """A scalar or vector type. `DType("float16x4")` is always the same object; it compares equal to its name.

    `kind` is one of `int uint float bfloat float8 float6 float4 bool handle void opaque`, `bits` counts what the format of
    one element has, `lanes` the vector width. Raises `ValueError` for a name that neither core nor a backend has.
    """

    __slots__ = ("bits", "exponent", "kind", "lanes", "mantissa", "name", "scalar_name")

    name: str
    scalar_name: str
    kind: str
    bits: int
    lanes: int
    exponent: int
    mantissa: int

    def __new__(cls, name: object) -> DType:
        """The one object for this name."""
        if isinstance(name, DType):
            return name
        found = _interned.get(name) if isinstance(name, str) else None
        return found if found is not None else _parse(name)

    def with_lanes(self, lanes: int) -> DType:
        """The same element type, `lanes` wide."""
        return self if lanes == self.lanes else DType(self.scalar_name if lanes == 1 else f"{self.scalar_name}x{lanes}")

    @property
    def element(self) -> DType:
        """The type of one lane."""
        return self.with_lanes(1)

    @property
    def storage_bits(self) -> int:
        """Bits that one element takes in memory: four of a format of four bits, else whole bytes."""
        return self.bits if self.bits == _NIBBLE else -(-self.bits // 8) * 8

    @property
    def is_packed(self) -> bool:
        """Whether neighbours share a byte in memory: the lower half is the first of two."""
        return self.bits == _NIBBLE

    @property
    def unit(self) -> DType:
        """What memory is addressed in: pairs of elements that share a byte, else the type itself."""
        return self.with_lanes(2) if self.bits == _NIBBLE and self.lanes == 1 else self

    @property
    def by_value(self) -> bool:
        """Whether it points to a record that the host encodes, and that is passed to a kernel as it is: no array."""
        return False

    @property
    def total_bits(self) -> int:
        """Bits of the whole vector in memory."""
        return self.storage_bits * self.lanes

    @property
    def bytes(self) -> int:
        """Bytes of the whole vector, rounded up."""
        return (self.storage_bits * self.lanes + 7) // 8

    @property
    def alignment(self) -> int:
        """What its address is a multiple of: the largest power of two that divides its bytes, so of `int32x3` four."""
        return self.bytes & -self.bytes

    @property
    def is_integer(self) -> bool:
        """Signed or unsigned integer (bool is not)."""
        return self.kind in _INTEGERS

    @property
    def is_int(self) -> bool:
        """Signed integer."""
        return self.kind == "int"

    @property
    def is_uint(self) -> bool:
        """Unsigned integer."""
        return self.kind == "uint"

    @property
    def is_float(self) -> bool:
        """Any floating-point format."""
        return self.kind in _FLOATS

    @property
    def is_bool(self) -> bool:
        """Truth value; one byte in memory."""
        return self.kind == "bool"

    @property
    def is_handle(self) -> bool:
        """Pointer or opaque handle."""
        return self.kind == "handle"

    @property
    def min_int(self) -> int:
        """Smallest value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def max_int(self) -> int:
        """Largest value of an integer or bool type."""
        if self.kind == "bool":
            return 1
        return (1 << (self.bits - 1)) - 1 if self.kind == "int" else (1 << self.bits) - 1

    def holds(self, value: float) -> bool:
        """Whether a number is a normal one (or zero) of this floating-point type, so that it needs no rounding."""
        if not isfinite(value) or value == 0.0:
            return value == 0.0
        fraction, exponent = frexp(abs(value))
        top = 1 << (self.exponent - 1)
        return (fraction * (1 << (self.mantissa + 1))).is_integer() and 3 - top < exponent < top - 1

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other == self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"DType({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (DType, (self.name,))


class PointerType(DType):
    """A typed pointer: `element` is what it points to (None: opaque), `scope` the storage scope of its target."""

    __slots__ = ("pointee", "scope")

    pointee: DType | None
    scope: str

    def __new__(cls, pointee: DType | str | None = None, scope: str = "global") -> PointerType:
        """The one object for this type."""
        item = None if pointee is None else DType(pointee)
        key = (item, scope)
        found = _pointers.get(key)
        if found is None:
            found = _pointers[key] = object.__new__(cls)
            _fill(found, "handle", "handle", ("handle", 64, 0, 0), 1)
            found.pointee, found.scope = item, scope
        return found

    @property
    def by_value(self) -> bool:
        """See `DType.by_value`: such pointers are of scope `param`."""
        return self.scope == "param"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other == "handle")

    __hash__ = DType.__hash__

    def __repr__(self) -> str:
        return f"PointerType({str(self.pointee)!r}, {self.scope!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (PointerType, (self.pointee, self.scope))


_interned: dict[str, DType] = {}
_pointers: dict[tuple[DType | None, str], PointerType] = {}


def _fill(target: DType, name: str, scalar: str, row: tuple[str, int, int, int], lanes: int) -> None:
    target.name, target.scalar_name, target.lanes = name, scalar, lanes
    target.kind, target.bits, target.exponent, target.mantissa = row


def _parse(name: object) -> DType:
    convert = getattr(name, "__tirx_dtype__", None)  # the language's constructors stand for their type
    if convert is not None:
        found_type: DType = convert()
        return found_type
    if not isinstance(name, str):
        raise ValueError(f"a dtype is written as text such as 'float32', not {_described(name)}")
    scalar, cross, width = name.rpartition("x")
    if not (cross and width.isdigit()):
        scalar, width = name, "1"
    scalar = ALIASES.get(scalar, scalar)
    row, lanes = _TABLE.get(scalar) or _brought(scalar), int(width)
    if row is None or lanes < 1 or (lanes == 1 and name.endswith("x1")):
        from .. import backend  # only when something went wrong
        from ..support.elsewhere import advice
        from ..support.suggest import did_you_mean

        hint = advice("dtype", scalar) or did_you_mean(scalar, (*_TABLE, *backend.names("dtypes")))
        raise ValueError(f"unknown dtype {name!r}{'; ' + hint if hint else ''}")
    if row[1] == _NIBBLE and lanes % 2 and lanes > 1:
        raise ValueError(
            f"unknown dtype {name!r}; two elements share a byte, so its vectors have an even number of lanes"
        )
    full = scalar if lanes == 1 else f"{scalar}x{lanes}"
    found = _interned.get(full)
    if found is None:
        found = _interned[full] = object.__new__(DType)
        _fill(found, full, scalar, row, lanes)
    _interned[name] = found
    return found


def _described(value: object) -> str:
    """What stands where a dtype should."""
    if hasattr(value, "__tirx_expr__") or hasattr(type(value), "FIELDS"):
        return "a kernel value; are type and value exchanged?"
    name = getattr(value, "__name__", None) or getattr(value, "name", None) or str(value).rpartition(".")[2]
    return f"{value!r}; write {name!r}" if isinstance(name, str) and name in _TABLE else repr(value)


def _brought(name: str) -> tuple[str, int, int, int] | None:
    """The definition of a dtype that a backend brings (hook `tirx_dtypes`)."""
    from ..backend import find  # only for what core has not

    row = find("dtypes", name)
    return None if row is None else (row.kind, row.bits, row.exponent, row.mantissa)


def dtype_names() -> Iterable[str]:
    """Names of core's scalar dtypes, without aliases; further ones are rows of hook `tirx_dtypes`."""
    return _TABLE.keys()


VOID = DType("void")
BOOL = DType("bool")
INT32 = DType("int32")
INT64 = DType("int64")
UINT32 = DType("uint32")
FLOAT32 = DType("float32")
HANDLE = PointerType()
_interned["handle"] = HANDLE
