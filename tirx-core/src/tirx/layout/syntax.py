"""How layouts are written: `S[(8, 4):(4 @ laneid, 1)] + R[2:4 @ warpid] + 5 @ warpid + 3`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backend import names
from ..ir import Expr
from ..support.suggest import did_you_mean
from .axis import Axis
from .iters import Iter, Number, row_major_strides
from .mistakes import mistake
from .names import axis_named

__all__ = ["AxisTerm", "BoundAxis", "LayoutSpec", "R", "S"]


class BoundAxis:
    """An axis as people write it: `laneid`; `4 @ laneid` is a stride of 4 on it."""

    __slots__ = ("axis",)

    is_axis = True  # kernel values leave `@` to it

    def __init__(self, axis: Axis) -> None:
        self.axis = axis

    @property
    def name(self) -> str:
        """Name of the axis."""
        return self.axis.name

    def is_thread(self) -> bool:
        """Whether the axis counts threads or groups of them."""
        return self.axis.is_thread()

    def is_memory(self) -> bool:
        """Whether the axis counts positions in storage."""
        return self.axis.is_memory()

    def get_scope(self) -> str | None:
        """The level inside whose members the axis counts."""
        return self.axis.within

    def get_subscope(self) -> str | None:
        """The level whose members the axis counts."""
        return self.axis.level

    def __rmatmul__(self, amount: Number) -> AxisTerm:
        return AxisTerm(amount, self.axis.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundAxis) and other.axis.name == self.axis.name

    def __hash__(self) -> int:
        return hash(self.axis.name)

    def __repr__(self) -> str:
        return f"Axis.{self.name}"


class AxisTerm:
    """`amount @ axis`: a stride or an offset on an axis."""

    __slots__ = ("amount", "axis")

    def __init__(self, amount: Number, axis: str) -> None:
        self.amount = amount
        self.axis = axis

    def __add__(self, other: Any) -> LayoutSpec:
        return LayoutSpec(offset=(self, as_term(other))) if not isinstance(other, LayoutSpec) else other.__add__(self)

    __radd__ = __add__


class LayoutSpec:
    """What the syntax collects: sharded iters, replica iters, offsets."""

    __slots__ = ("offset", "replica", "shard")

    def __init__(
        self, shard: Sequence[Iter] = (), replica: Sequence[Iter] = (), offset: Sequence[AxisTerm] = ()
    ) -> None:
        self.shard = tuple(shard)
        self.replica = tuple(replica)
        self.offset = tuple(offset)

    def __add__(self, other: Any) -> LayoutSpec:
        if isinstance(other, LayoutSpec):
            return LayoutSpec(self.shard + other.shard, self.replica + other.replica, self.offset + other.offset)
        return LayoutSpec(self.shard, self.replica, (*self.offset, as_term(other)))

    def __radd__(self, other: Any) -> LayoutSpec:
        return self.__add__(other)


def as_term(value: Any) -> AxisTerm:
    """A stride or offset: a number counts on the memory axis `m`."""
    if isinstance(value, AxisTerm):
        return value
    if isinstance(value, int | Expr) and not isinstance(value, bool):
        return AxisTerm(value, "m")
    raise mistake(f"{value!r} is no stride or offset of a layout", hint="write a number, or number @ axis")


class _Builder:
    """The object behind `S` or `R`."""

    __slots__ = ("role",)

    def __init__(self, role: str) -> None:
        self.role = role

    def __getitem__(self, key: Any) -> LayoutSpec:
        iters = _iters(key)
        return LayoutSpec(shard=iters) if self.role == "shard" else LayoutSpec(replica=iters)

    def __repr__(self) -> str:
        return "S" if self.role == "shard" else "R"


def _iters(key: Any) -> list[Iter]:
    if isinstance(key, slice):
        extents, strides = _items(key.start), _items(key.stop)
        if key.step is not None:
            raise mistake("a layout is written S[extents:strides]", hint="there is one colon")
    elif isinstance(key, tuple) and any(isinstance(item, slice) for item in key):
        raise mistake(
            "extents and strides are given as two tuples",
            hint="write S[(8, 4):(4, 1)], not S[8:4, 4:1]",
        )
    else:
        extents = _items(key)
        strides = list(row_major_strides(extents))
    if len(extents) != len(strides):
        raise mistake(
            f"{len(extents)} extents and {len(strides)} strides",
            hint="give one stride for each extent",
        )
    terms = [as_term(stride) for stride in strides]
    return [Iter(extent, term.amount, term.axis) for extent, term in zip(extents, terms, strict=True)]


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


S = _Builder("shard")
"""Where the elements of a buffer lie: `S[(8, 4):(4, 1)]`, `S[8, 4]` in rows, `S[(8, 4):(4 @ laneid, 1)]` over threads and registers."""
R = _Builder("replica")
"""Copies of what `S[...]` places: `S[...] + R[2:4 @ warpid]`."""


class _AxisNames:
    """`Axis.laneid`, `Axis.get("laneid")`: axes by name."""

    def get(self, name: str) -> BoundAxis:
        """The axis called `name`; `LayoutError` for one that nobody registered."""
        row = axis_named(name)
        if row is None:
            hint = did_you_mean(name, names("layout_axes"))
            raise mistake(f"there is no layout axis `{name}`", hint=hint)
        return BoundAxis(row)

    def __getattr__(self, name: str) -> BoundAxis:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.get(name)


AxisNames = _AxisNames()
"""The axes of layouts by name: `Axis.laneid`, `Axis.m`; also those of backends."""
