"""TileLayout: iters that a logical coordinate is split over, replicas, offsets.

A coordinate of any shape whose product equals the layout's size is flattened row-major and split row-major over the shard
extents; each part times its stride adds to its axis, then the offsets. Replicas are further positions of the same element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..backend import names
from ..ir import Expr, Layout, current_span
from ..ir.sizes import plus, times
from ..support.errors import LayoutError
from ..support.suggest import did_you_mean
from .doors import Doors
from .drawn import Drawn
from .iters import Iter, Number, number, product, row_major_strides, same
from .names import axis_named
from .syntax import AxisTerm, LayoutSpec

__all__ = ["TileLayout", "plain_strides", "row_major", "spec_text"]


class TileLayout(Drawn, Doors, Layout):
    """`TileLayout(S[(8, 4):(4 @ laneid, 1)] + R[2:4 @ warpid] + 5 @ warpid)`.

    `shard` and `replica` are tuples of `Iter`, `offset` maps axis names to numbers (no zero entries).
    Raises `LayoutError` for malformed input and unknown axes.
    """

    __slots__ = ("offset", "replica", "shard")

    shard: tuple[Iter, ...]
    replica: tuple[Iter, ...]
    offset: dict[str, Number]

    def __init__(self, spec: LayoutSpec) -> None:
        if not isinstance(spec, LayoutSpec):
            raise LayoutError(f"a TileLayout is made from S[...], not {type(spec).__name__}", span=current_span())
        self._fill(spec.shard, spec.replica, spec.offset)

    @classmethod
    def from_iters(
        cls, shard: Sequence[Iter], replica: Sequence[Iter] = (), offset: Mapping[str, Any] | Sequence[AxisTerm] = ()
    ) -> TileLayout:
        """A layout from `Iter` objects."""
        made = cls.__new__(cls)
        terms = (
            [AxisTerm(value, axis) for axis, value in offset.items()] if isinstance(offset, Mapping) else list(offset)
        )
        made._fill(shard, replica, terms)
        return made

    def _fill(self, shard: Sequence[Iter], replica: Sequence[Iter], offset: Sequence[AxisTerm]) -> None:
        self.shard, self.replica, self.offset = tuple(shard), tuple(replica), {}
        if not self.shard:
            raise LayoutError(
                "a layout has at least one iter", span=current_span(), hint="write S[1] for a single element"
            )
        for term in offset:
            total = number(self.offset.get(term.axis, 0) + term.amount)
            self.offset.pop(term.axis, None)
            if not (isinstance(total, int) and total == 0):
                self.offset[term.axis] = total
        for axis in {item.axis for item in (*self.shard, *self.replica)} | set(self.offset):
            _require_axis(axis)

    # ---- values ---------------------------------------------------------------------------------------------------

    def _key(self) -> Any:
        offsets = sorted((axis, Iter(1, value).key()) for axis, value in self.offset.items())
        return (tuple(i.key() for i in self.shard), tuple(i.key() for i in self.replica), tuple(map(str, offsets)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TileLayout) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"TileLayout({spec_text(self)})"

    # ---- queries --------------------------------------------------------------------------------------------------

    def size(self, axis: str | None = None) -> Number:
        """Number of elements: product of the shard extents (of one axis)."""
        return product(item.extent for item in self.shard if axis is None or item.axis == _name(axis))

    def span(self, axis: str | None = None) -> Number:
        """Positions covered on an axis (default: on the memory axes together), counted from 0."""
        wanted = {_name(axis)} if axis is not None else {a for a in self.axes() if _is_memory(a)}
        total: Number = 1
        for item in (*self.shard, *self.replica):
            if item.axis in wanted:
                total = number(total + (item.extent - 1) * item.stride)
        for name in wanted:
            total = number(total + self.offset.get(name, 0))
        return total

    def axes(self) -> tuple[str, ...]:
        """Axis names in order of appearance."""
        return tuple(dict.fromkeys([item.axis for item in (*self.shard, *self.replica)] + list(self.offset)))

    def is_trivial(self) -> bool:
        """Row-major, contiguous, no offset, no replica, only the memory axis."""
        if self.replica or self.offset or any(item.axis != "m" for item in self.shard):
            return False
        wanted = row_major_strides([item.extent for item in self.shard])
        return all(
            same(item.extent, 1) or same(item.stride, stride) for item, stride in zip(self.shard, wanted, strict=True)
        )

    def apply(self, *coord: Any, shape: Sequence[Any] | None = None) -> dict[str, Number]:
        """Axis -> position of the element at `coord` (of `shape`; default: one coordinate per shard iter, or one linear index).

        Raises `LayoutError` for a coordinate outside the domain.
        """
        extents = list(shape) if shape is not None else self._domain(len(coord))
        if len(extents) != len(coord):
            raise LayoutError(f"{len(coord)} coordinates for {len(extents)} dimensions", span=current_span())
        if not same(product(number(e) for e in extents), self.size()):
            raise LayoutError(
                f"shape {tuple(extents)} does not hold the {self.size()} elements of the layout", span=current_span()
            )
        for axis, (index, extent) in enumerate(zip(coord, extents, strict=True)):
            if isinstance(index, int) and isinstance(extent, int) and not 0 <= index < extent:
                raise LayoutError(
                    f"coordinate {index} is outside dimension {axis} of extent {extent}", span=current_span()
                )
        return self.physical(tuple(coord), tuple(extents))

    def _domain(self, count: int) -> list[Number]:
        if count == 1:
            return [self.size()]
        if count != len(self.shard):
            raise LayoutError(
                f"{count} coordinates for a layout of {len(self.shard)} iters",
                span=current_span(),
                hint="give shape=(...)",
            )
        return [item.extent for item in self.shard]

    def physical(self, coord: tuple[Any, ...], shape: tuple[Any, ...]) -> dict[str, Number]:
        """Position per axis of the element at `coord` of a buffer of `shape` (replica 0), without range checks."""
        result: dict[str, Number] = dict.fromkeys(self.axes(), 0)
        for item, part in zip(self.shard, self.split(coord, shape), strict=True):
            result[item.axis] = plus(result[item.axis], times(part, item.stride))
        for axis, value in self.offset.items():
            result[axis] = plus(result[axis], value)
        return result

    def split(self, coord: tuple[Any, ...], shape: tuple[Any, ...]) -> list[Number]:
        """The coordinate of each shard iter. Dimensions that line up with iters are not divided at all."""
        groups = self._groups(shape)
        if groups is None:
            return split_index(flat_index(coord, shape), [item.extent for item in self.shard])
        parts: list[Number] = []
        for index, (start, stop) in zip(coord, groups, strict=True):
            parts += split_index(index, [item.extent for item in self.shard[start:stop]])
        return parts

    def _groups(self, shape: Sequence[Number]) -> list[tuple[int, int]] | None:
        """Which shard iters make up each dimension of `shape`, or None when they do not line up."""
        groups, start = [], 0
        for extent in shape:
            stop = start
            total: Number = 1
            while not same(total, extent):
                too_far = isinstance(total, int) and isinstance(extent, int) and total > extent
                if stop == len(self.shard) or too_far:
                    return None
                total = number(total * self.shard[stop].extent)
                stop += 1
            groups.append((start, stop))
            start = stop
        if any(not same(item.extent, 1) for item in self.shard[start:]):
            return None
        if groups and start < len(self.shard):
            groups[-1] = (groups[-1][0], len(self.shard))
        return groups

    def storage(self) -> TileLayout:
        """What one thread holds: the memory iters, without offsets of threads."""
        shard = [item for item in self.shard if _is_memory(item.axis)] or [Iter(1, 1)]
        return TileLayout.from_iters(shard, [], {a: v for a, v in self.offset.items() if _is_memory(a)})

    def mapped(self, change: Callable[[Expr], Expr]) -> TileLayout:
        """The layout with `change` applied to its symbolic parts; itself when nothing changes."""

        def of(value: Number) -> Number:
            return value if isinstance(value, int) else change(value)

        shard = [Iter(of(i.extent), of(i.stride), i.axis) for i in self.shard]
        replica = [Iter(of(i.extent), of(i.stride), i.axis) for i in self.replica]
        made = TileLayout.from_iters(shard, replica, {a: of(v) for a, v in self.offset.items()})
        return self if made == self else made

    # ---- derived --------------------------------------------------------------------------------------------------

    def group(self, shape: Sequence[Number]) -> tuple[TileLayout, list[int]]:
        """The layout with iters split so that they line up with `shape`, and the separators between dimensions.

        Dimension d owns `shard[separators[d]:separators[d + 1]]`. `LayoutError` when an iter would have to be cut unevenly.
        """
        shard: list[Iter] = []
        separators = [0]
        pending = [item for item in self.shard if not same(item.extent, 1)]
        for extent in shape:
            left: Number = number(extent)
            while not same(left, 1):
                if not pending:
                    raise self._cannot_group(shape)
                item = pending.pop(0)
                if _divides(item.extent, left):
                    left = _over(left, item.extent)
                    shard.append(item)
                elif _divides(left, item.extent):
                    head, tail = _cut(item, left)
                    shard.append(head)
                    pending.insert(0, tail)
                    left = 1
                else:
                    raise self._cannot_group(shape)
            if len(shard) == separators[-1]:
                shard.append(Iter(1, 1))
            separators.append(len(shard))
        if pending:
            raise self._cannot_group(shape)
        return TileLayout.from_iters(shard, self.replica, self.offset), separators

    def _cannot_group(self, shape: Sequence[Number]) -> LayoutError:
        return LayoutError(f"layout {spec_text(self)} can not be grouped by shape {tuple(shape)}", span=current_span())

    def permute_dims(self, order: Sequence[int]) -> TileLayout:
        """Shard iters in another order."""
        _require_permutation(order, len(self.shard))
        return TileLayout.from_iters([self.shard[i] for i in order], self.replica, self.offset)

    def permute_by_groups(self, separators: Sequence[int], order: Sequence[int]) -> TileLayout:
        """Groups of shard iters (as `group` answers them) in another order."""
        _require_permutation(order, len(separators) - 1)
        shard = [item for d in order for item in self.shard[separators[d] : separators[d + 1]]]
        return TileLayout.from_iters(shard, self.replica, self.offset)

    def canonicalize(self) -> TileLayout:
        """Unit iters dropped, neighbours that continue each other fused."""
        shard: list[Iter] = []
        for item in self.shard:
            if same(item.extent, 1):
                continue
            last = shard[-1] if shard else None
            if last is not None and last.axis == item.axis and same(last.stride, number(item.extent * item.stride)):
                shard[-1] = Iter(number(last.extent * item.extent), item.stride, item.axis)
            else:
                shard.append(item)
        return TileLayout.from_iters(shard or [self.shard[-1]], self.replica, self.offset)

    def unpack(self, factor: int) -> TileLayout:
        """Every element becomes `factor` consecutive ones."""
        shard = [Iter(i.extent, _scaled(i, factor), i.axis) for i in self.shard]
        offset = {a: number(v * factor) if _is_memory(a) else v for a, v in self.offset.items()}
        return TileLayout.from_iters([*shard, Iter(factor, 1)], self.replica, offset)

    def pack(self, factor: int) -> TileLayout:
        """Every `factor` consecutive elements become one; `LayoutError` when they are not consecutive."""
        *outer, last = self.shard
        if last.axis != "m" or not same(last.stride, 1) or not _divides(factor, last.extent):
            raise LayoutError(f"{factor} elements of {spec_text(self)} are not consecutive", span=current_span())
        shard = [Iter(i.extent, _over(i.stride, factor) if _is_memory(i.axis) else i.stride, i.axis) for i in outer]
        offset = {a: _over(v, factor) if _is_memory(a) else v for a, v in self.offset.items()}
        return TileLayout.from_iters([*shard, Iter(_over(last.extent, factor), 1)], self.replica, offset)


def row_major(shape: Sequence[Any], strides: Sequence[Any] = ()) -> TileLayout:
    """The layout that follows from a shape (and explicit strides): row-major."""
    extents = list(shape) or [1]
    steps = list(strides) or list(row_major_strides(extents))
    return TileLayout.from_iters([Iter(e, s) for e, s in zip(extents, steps, strict=True)])


def plain_strides(layout: Layout, shape: Sequence[Any]) -> tuple[Number, ...] | None:
    """One stride of linear memory per dimension of `shape`, when the layout is no more than that; else None."""
    if not isinstance(layout, TileLayout) or layout.replica or layout.offset or layout.axes() != ("m",):
        return None
    try:
        grouped, separators = layout.group(shape)
    except LayoutError:
        return None
    strides: list[Number] = []
    for start, stop in pairwise(separators):
        fused = TileLayout.from_iters(grouped.shard[start:stop]).canonicalize().shard
        if len(fused) != 1:
            return None
        strides.append(fused[0].stride)
    return tuple(strides)


def spec_text(layout: TileLayout) -> str:
    """The layout as it is written, in the language's syntax."""
    parts = [f"S[{_iters_text(layout.shard)}]"]
    if layout.replica:
        parts.append(f"R[{_iters_text(layout.replica)}]")
    parts += [_term_text(value, axis) for axis, value in layout.offset.items()]
    return " + ".join(parts)


def _iters_text(iters: Sequence[Iter]) -> str:
    extents, strides = [_text(i.extent) for i in iters], [_term_text(i.stride, i.axis) for i in iters]
    if len(iters) == 1:
        return f"{extents[0]}:{strides[0]}"
    return f"({', '.join(extents)}):({', '.join(strides)})"


def _term_text(value: Number, axis: str) -> str:
    return _text(value) if axis == "m" else f"{_text(value)} @ Axis.{axis}"


def _text(value: Number) -> str:
    return str(value) if isinstance(value, int) else value.script()


def flat_index(coord: Sequence[Any], shape: Sequence[Any]) -> Number:
    """Row-major linear index."""
    total: Number = 0
    for index, extent in zip(coord, shape, strict=True):
        total = plus(times(total, extent), index)
    return total


def split_index(index: Any, extents: Sequence[Number]) -> list[Number]:
    """Row-major coordinates of a linear index; the outermost one is not reduced."""
    strides = row_major_strides(extents)
    parts: list[Number] = []
    for position, (extent, stride) in enumerate(zip(extents, strides, strict=True)):
        part = index if same(stride, 1) else index // stride
        parts.append(part if position == 0 else part % extent)
    return parts


def _cut(item: Iter, outer: Number) -> tuple[Iter, Iter]:
    """An iter as `outer` steps over the rest."""
    inner = _over(item.extent, outer)
    return Iter(outer, number(item.stride * inner), item.axis), Iter(inner, item.stride, item.axis)


def _divides(divisor: Number, value: Number) -> bool:
    if isinstance(divisor, int) and isinstance(value, int):
        return value % divisor == 0
    return same(divisor, value) or same(number(value % divisor), 0)


def _over(value: Number, divisor: Number) -> Number:
    return number(value // divisor)


def _scaled(item: Iter, factor: int) -> Number:
    return number(item.stride * factor) if _is_memory(item.axis) else item.stride


def _name(axis: Any) -> str:
    return axis if isinstance(axis, str) else str(axis.name)


def _is_memory(axis: str) -> bool:
    row = axis_named(axis)
    return row is not None and row.is_memory()


def _require_axis(name: str) -> None:
    if axis_named(name) is None:
        hint = did_you_mean(name, names("layout_axes"))
        raise LayoutError(f"there is no layout axis `{name}`", span=current_span(), hint=hint)


def _require_permutation(order: Sequence[int], count: int) -> None:
    if sorted(order) != list(range(count)):
        raise LayoutError(f"{list(order)} is no permutation of {count} dimensions", span=current_span())
