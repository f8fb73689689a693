"""Rows that describe kinds of targets, named targets, and the memories they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..ir import dtype_names
from .scope_model import ScopeModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .target import Target

__all__ = [
    "CONSTRUCTS", "Attribute", "Capabilities", "DTypeRow", "StorageScope", "TargetKind", "TargetTag", "check_dtype", "check_kind",
    "check_scope", "check_tag",
]  # fmt: skip


CONSTRUCTS: Mapping[str, str] = {
    "while": "loops with a condition",
    "asserts": "assertions inside a kernel",
    "vectors": "vectors",
    "atomics": "atomic updates",
    "barriers": "barriers",
    "shuffles": "exchange of values between threads",
    "pointers": "pointers",
    "calls": "calls of other functions",
    "dynamic_shared": "memory that a launch sizes",
    "printf": "output from a kernel",
    "async_copy": "copies that go on by themselves",
    "cluster": "groups of ctas that share memory",
}
"""The constructs that a kind may declare, in words: what verification refuses, and the conformance kit tries."""


class Attribute:
    """One attribute of a kind: its Python `type`, `default` (None: absent unless given), `doc`, and an optional check.

    `check(value)` answers None or what is wrong. `label` heads its column where targets are listed (default: its name), `unit`
    says what a number counts; numbers of `"bytes"` are shown as KiB and MiB.
    """

    __slots__ = ("check", "default", "doc", "label", "type", "unit")

    def __init__(
        self,
        type: type,
        default: Any = None,
        doc: str = "",
        check: Callable[[Any], str | None] | None = None,
        *,
        label: str = "",
        unit: str = "",
    ) -> None:
        self.type = type
        self.default = default
        self.doc = doc
        self.check = check
        self.label = label
        self.unit = unit


class Capabilities:
    """What a target can run; the verifier and the conformance kit read the same record.

    * `dtypes`: scalar dtypes that may be stored and computed with
    * `constructs`: language constructs beyond straight code and loops, of those in `CONSTRUCTS`
    * `scopes`: storage scopes; empty: those that are owned by a level of the target
    * `arithmetic`: dtypes with arithmetic of their own; empty: all of `dtypes`. Others are computed in float32
    """

    __slots__ = ("arithmetic", "constructs", "dtypes", "scopes")

    def __init__(
        self,
        dtypes: Sequence[str],
        constructs: Sequence[str] = (),
        *,
        scopes: Sequence[str] = (),
        arithmetic: Sequence[str] = (),
    ) -> None:
        self.dtypes = frozenset(dtypes)
        self.constructs = frozenset(constructs)
        self.scopes = frozenset(scopes)
        self.arithmetic = frozenset(arithmetic) or self.dtypes


class TargetKind:
    """A row of hook `tirx_target_kinds`.

    * `attributes`: what a target of this kind can be given
    * `scope_model(target, attrs)`: its levels; `attrs` are the function's attributes
    * `capabilities(target)`
    * `limits(target)`: named figures that verification reads (`threads_per_cta`, `registers_per_thread`, ...)
    * `complete(attrs)`: derive and check attributes that depend on each other or on the device present; raises
      `TargetError`
    * `parent`: another kind that it specialises: emissions and variants of the parent apply where it has none of its
      own
    """

    __slots__ = ("attributes", "capabilities", "complete", "doc", "limits", "name", "parent", "scope_model")

    def __init__(
        self,
        name: str,
        *,
        doc: str,
        attributes: Mapping[str, Attribute],
        scope_model: Callable[[Target, Mapping[str, Any]], ScopeModel],
        capabilities: Callable[[Target], Capabilities],
        limits: Callable[[Target], Mapping[str, int]],
        complete: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        parent: str | None = None,
    ) -> None:
        self.name = name
        self.doc = doc
        self.attributes = dict(attributes)
        self.scope_model = scope_model
        self.capabilities = capabilities
        self.limits = limits
        self.complete = complete
        self.parent = parent


class TargetTag:
    """A row of hook `tirx_target_tags`: a name for a kind with attributes; `source` says where the figures stand."""

    __slots__ = ("attributes", "doc", "kind", "name", "source")

    def __init__(self, name: str, kind: str, attributes: Mapping[str, Any], *, source: str, doc: str = "") -> None:
        self.name = name
        self.kind = kind
        self.attributes = dict(attributes)
        self.source = source
        self.doc = doc


class StorageScope:
    """A row of hook `tirx_storage_scopes`: a memory that buffers can live in.

    * `owner_level`: the level whose members each have an own instance (`kernel` global, `cta` shared, `thread` local);
      empty on targets without threads
    * `allocator`: who makes room: `caller` (parameters only), `launch` (sized when launched), `compiler`, `author`
      (by address)
    * `capacity(target)`: bytes of one instance, or None when only the device knows; `unit` what the figure counts
    * `address`: names of the address components (`("byte",)`, `("partition", "byte")`)
    * `pointers`: whether addresses may be taken; `dtypes`: allowed ones, empty: all
    * `initial`: `undefined` or `zero`
    * `reached`: of a memory without loads, stores and pointers of its own, what reaches its elements instead, as a hint. A buffer
      there is a name for a place: nothing is allocated, and instructions take its address
    * `view`: `"module:function"`: `(buffer) -> buffer`, how a view of a buffer with an address says where it begins
    """

    __slots__ = (
        "address",
        "allocator",
        "capacity",
        "doc",
        "dtypes",
        "initial",
        "name",
        "owner_level",
        "pointers",
        "reached",
        "unit",
        "view",
    )

    def __init__(
        self,
        name: str,
        *,
        doc: str,
        owner_level: str = "",
        allocator: str = "compiler",
        capacity: Callable[[Target], int | None] | None = None,
        unit: str = "bytes",
        address: Sequence[str] = ("byte",),
        pointers: bool = True,
        dtypes: Sequence[str] = (),
        initial: str = "undefined",
        reached: str = "",
        view: str = "",
    ) -> None:
        self.name = name
        self.doc = doc
        self.owner_level = owner_level
        self.allocator = allocator
        self.capacity = capacity
        self.unit = unit
        self.address = tuple(address)
        self.pointers = pointers
        self.dtypes = tuple(dtypes)
        self.initial = initial
        self.reached = reached
        self.view = view


DTYPE_KINDS = ("int", "uint", "float", "bfloat", "float8", "float6", "float4", "opaque")


class DTypeRow:
    """A row of hook `tirx_dtypes`: a scalar dtype beyond core's.

    `kind` is one of `DTYPE_KINDS`, as in `DType.kind`; widths in bits; `numpy` is the type that stores an element and
    nothing else (`"module:attribute"`).
    """

    __slots__ = ("bits", "exponent", "kind", "mantissa", "name", "numpy")

    def __init__(self, name: str, kind: str, bits: int, *, numpy: str, exponent: int = 0, mantissa: int = 0) -> None:
        self.name = name
        self.kind = kind
        self.bits = bits
        self.exponent = exponent
        self.mantissa = mantissa
        self.numpy = numpy


def check_dtype(row: DTypeRow) -> None:
    """Raise `ValueError` when a row is malformed or redefines a dtype of core's."""
    _require(isinstance(row, DTypeRow), f"expected a DTypeRow, got {type(row).__name__}")
    name = row.name
    _require(name.isidentifier() and name == name.lower(), f"dtype name {name!r} is not [a-z][a-z0-9_]*")
    _require(name not in dtype_names(), f"dtype {name} is core's own; give yours another name")
    _require(row.kind in DTYPE_KINDS, f"dtype {name}: kind {row.kind!r} is none of {', '.join(DTYPE_KINDS)}")
    _require(row.bits > 0, f"dtype {name}: {row.bits} bits hold nothing")
    _require(":" in row.numpy, f"dtype {name}: {row.numpy!r} is not 'module:attribute'")


def check_kind(row: TargetKind) -> None:
    """Raise `ValueError` when a row is malformed."""
    _require(isinstance(row, TargetKind), f"expected a TargetKind, got {type(row).__name__}")
    _require(row.name.isidentifier() and row.name == row.name.lower(), f"kind name {row.name!r} is not [a-z][a-z0-9_]*")
    _require(
        all(isinstance(item, Attribute) for item in row.attributes.values()),
        f"{row.name}: attributes are Attribute records",
    )


def check_tag(row: TargetTag) -> None:
    """Raise `ValueError` when a row is malformed."""
    _require(isinstance(row, TargetTag), f"expected a TargetTag, got {type(row).__name__}")
    _require(bool(row.source), f"tag {row.name}: say where its figures come from (source)")


def check_scope(row: StorageScope) -> None:
    """Raise `ValueError` when a row is malformed."""
    _require(isinstance(row, StorageScope), f"expected a StorageScope, got {type(row).__name__}")
    known = ("caller", "launch", "compiler", "author")
    _require(row.allocator in known, f"scope {row.name}: allocator {row.allocator!r} is none of {', '.join(known)}")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
