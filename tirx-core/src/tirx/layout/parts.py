"""What a tile layout is made of, as a value: checked when it is made, compared by structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..backend import names
from ..ir import Expr, Layout
from ..support.suggest import did_you_mean
from .iters import Iter, Number, number
from .mistakes import mistake
from .names import axis_named
from .syntax import AxisTerm

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Parts", "axis_name", "is_memory"]

Offset = Mapping[str, Any] | Sequence[AxisTerm]


class Parts(Layout):
    """`shard` and `replica` are tuples of `Iter`, `offset` maps axis names to numbers, without zeros.

    The operations on layouts are functions of these three; `TileLayout` is this value with all of them as methods.
    """

    __slots__ = ("offset", "replica", "shard")

    shard: tuple[Iter, ...]
    replica: tuple[Iter, ...]
    offset: dict[str, Number]

    @classmethod
    def from_iters(cls, shard: Sequence[Iter], replica: Sequence[Iter] = (), offset: Offset = ()) -> Self:
        """A layout from `Iter` objects, and offsets by axis."""
        made = cls.__new__(cls)
        terms = (
            [AxisTerm(value, axis_name(axis)) for axis, value in offset.items()]
            if isinstance(offset, Mapping)
            else offset
        )
        made._fill(shard, replica, terms)
        return made

    def replaced(
        self, shard: Sequence[Iter] | None = None, replica: Sequence[Iter] | None = None, offset: Offset | None = None
    ) -> Self:
        """The same layout with other parts."""
        return self.from_iters(
            self.shard if shard is None else shard,
            self.replica if replica is None else replica,
            self.offset if offset is None else offset,
        )

    def axes(self) -> tuple[str, ...]:
        """Axis names in order of appearance."""
        return tuple(dict.fromkeys([item.axis for item in (*self.shard, *self.replica)] + list(self.offset)))

    def parts(self) -> tuple[Any, ...]:
        """Iters, replicas and offsets as plain tuples."""
        iters = tuple(tuple((i.extent, i.stride, i.axis) for i in group) for group in (self.shard, self.replica))
        return (*iters, tuple(sorted(self.offset.items(), key=lambda item: item[0])))

    def mapped(self, change: Callable[[Expr], Expr]) -> Self:
        """The layout with `change` applied to its symbolic parts; itself when nothing changes."""

        def of(value: Number) -> Number:
            return value if isinstance(value, int) else change(value)

        shard = [Iter(of(i.extent), of(i.stride), i.axis) for i in self.shard]
        replica = [Iter(of(i.extent), of(i.stride), i.axis) for i in self.replica]
        made = self.from_iters(shard, replica, {a: of(v) for a, v in self.offset.items()})
        return self if made == self else made

    def _fill(self, shard: Sequence[Iter], replica: Sequence[Iter], offset: Sequence[AxisTerm]) -> None:
        self.shard, self.replica, self.offset = tuple(shard), tuple(replica), {}
        for item in (*self.shard, *self.replica):
            if not isinstance(item, Iter):
                raise mistake(f"{item!r} is no iter of a layout", hint="write Iter(extent, stride, axis)")
        if not self.shard:
            raise mistake("a layout has at least one iter", hint="write S[1] for a single element")
        for term in offset:
            total = number(self.offset.pop(term.axis, 0) + term.amount)
            if not (isinstance(total, int) and total == 0):
                self.offset[term.axis] = total
        for axis in {item.axis for item in (*self.shard, *self.replica)} | set(self.offset):
            _require_axis(axis)

    def _key(self) -> Any:
        offsets = sorted(
            ((axis, Iter(1, value).key()) for axis, value in self.offset.items()), key=lambda pair: pair[0]
        )
        return (tuple(i.key() for i in self.shard), tuple(i.key() for i in self.replica), tuple(offsets))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parts) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def axis_name(axis: Any) -> str:
    """The name of an axis that is given as such or by name."""
    return axis if isinstance(axis, str) else str(getattr(axis, "name", axis))


def is_memory(axis: str) -> bool:
    """Whether an axis counts positions in storage."""
    row = axis_named(axis)
    return row is not None and row.is_memory()


def _require_axis(name: str) -> None:
    if axis_named(name) is None:
        hint = did_you_mean(name, names("layout_axes")) or f"the axes are {', '.join(sorted(names('layout_axes')))}"
        raise mistake(f"there is no layout axis `{name}`", hint=hint)
