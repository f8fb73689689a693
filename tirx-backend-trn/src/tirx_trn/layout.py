"""Where the elements of an on-chip buffer lie: partitions (P), the free dimension (F), PSUM banks (Bank).

    "PF" (128, 512)     S[(128, 512):(1 @ P, 1 @ F)]
    "PF" (256, 512)     S[(2, 128, 512):(512 @ F, 1 @ P, 1 @ F)]     more than 128 rows go on in the free dimension
    "PF" (128, 1024)    in PSUM: S[(128, 2, 512):(1 @ P, 1 @ Bank, 1 @ F)]

A buffer without a layout has its partitions in dimension 0 and the rest in the free dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NoReturn

from tirx.ir import Buffer, Layout, current_span
from tirx.layout import Iter, TileLayout
from tirx.layout.axis import Axis
from tirx.layout.row import LayoutConstructor
from tirx.support.errors import LayoutError

from .hardware import BANK_BYTES, PARTITIONS, PSUM, PSUM_BANKS, SBUF

__all__ = [
    "AXES", "CONSTRUCTORS", "Place", "is_on_chip", "is_trainium_layout", "place_of", "to_psum_layout", "trainium", "trainium_layout",
    "trainium_psum",
]  # fmt: skip

BANK_ELEMENTS = BANK_BYTES // 4
_RULE = "rule: AWS Neuron documentation, architecture guide of the NeuronCore"

AXES = (
    Axis("P", doc="partitions of SBUF and PSUM"),
    Axis("F", doc="elements along one partition"),
    Axis("Bank", doc="PSUM banks of one partition"),
)


_AXIS_NAMES = tuple(axis.name for axis in AXES)


def is_on_chip(buffer: Buffer) -> bool:
    """Whether a buffer lives in SBUF or PSUM."""
    return buffer.scope_name in (SBUF, PSUM)


def trainium(annotation: str, shape: Sequence[int], is_psum: bool = False) -> TileLayout:
    """The layout that one letter per dimension describes: P for partitions, F for the free dimension."""
    _check_annotation(annotation, shape)
    groups: list[list[Iter]] = []
    lanes = free = 1
    for letter, extent in reversed(list(zip(annotation, shape, strict=True))):
        if letter == "F":
            groups.append([Iter(extent, free, "F")])
            free *= extent
            continue
        if lanes * extent <= PARTITIONS:
            groups.append([Iter(extent, lanes, "P")])
            lanes *= extent
            continue
        groups.append(_surplus(extent, lanes))
        lanes = PARTITIONS
    iters = _placed_surplus(list(reversed(groups)), free)
    return TileLayout.from_iters(_in_banks(iters) if is_psum else iters)


def trainium_psum(annotation: str, shape: Sequence[int]) -> TileLayout:
    """`trainium` for a PSUM buffer: every 512 elements of the free dimension are a bank."""
    return trainium(annotation, shape, is_psum=True)


trainium_layout = trainium  # the published name


def is_trainium_layout(layout: Layout | None) -> bool:
    """Whether a layout places elements by partitions, free dimension and banks only."""
    return isinstance(layout, TileLayout) and not {item.axis for item in layout.shard if item.extent != 1} - set(
        _AXIS_NAMES
    )


def to_psum_layout(layout: TileLayout) -> TileLayout:
    """A layout of partitions and free dimension with every 512 elements of the free dimension as a bank of PSUM."""
    if not is_trainium_layout(layout):
        _refuse(
            f"{layout!r} is no layout of partitions and free elements", 'start from tirx.layout.trainium("PF", shape)'
        )
    return TileLayout.from_iters(_in_banks(layout.shard))


CONSTRUCTORS = (
    LayoutConstructor(
        "trainium", "tirx_trn.layout:trainium", doc="partitions and free dimension by letters", scope=SBUF
    ),
    LayoutConstructor("trainium_psum", "tirx_trn.layout:trainium_psum", doc="the same, in PSUM banks", scope=PSUM),
    LayoutConstructor("to_psum", "tirx_trn.layout:to_psum_layout", doc="a layout in PSUM banks", method=True),
    LayoutConstructor(
        "is_trainium",
        "tirx_trn.layout:is_trainium_layout",
        doc="whether only P, F and Bank place elements",
        method=True,
    ),
)


def _check_annotation(annotation: str, shape: Sequence[int]) -> None:
    if len(annotation) != len(shape) or set(annotation) - {"P", "F"}:
        _refuse(
            f"layout {annotation!r} does not describe a buffer of shape {tuple(shape)}",
            f"write one letter P or F for each of its {len(shape)} dimensions",
        )
    if any(not isinstance(extent, int) for extent in shape):
        _refuse("an on-chip buffer has a constant shape", "loop over tiles of a constant size")


def _surplus(extent: int, lanes: int) -> list[Iter]:
    """A partition dimension that is larger than the machine: whole groups of 128 go to the free dimension."""
    total = lanes * extent
    if total % PARTITIONS or PARTITIONS % lanes:
        _refuse(
            f"{total} partitions are neither at most {PARTITIONS} nor a multiple of {PARTITIONS}",
            "pad the dimension, or treat the remainder in a second tile",
        )
    outer = total // PARTITIONS
    return [Iter(outer, 0, "F"), Iter(PARTITIONS // lanes, lanes, "P")]


def _placed_surplus(groups: list[list[Iter]], free: int) -> list[Iter]:
    """Strides of the surplus groups: beyond everything that the F letters take, the innermost first."""
    iters = [item for group in groups for item in group]
    for position in range(len(iters) - 1, -1, -1):
        item = iters[position]
        if item.axis == "F" and item.stride == 0:
            iters[position] = Iter(item.extent, free, "F")
            free *= int(item.extent)  # shapes are constant here
    return iters


def _in_banks(iters: Sequence[Iter]) -> list[Iter]:
    """Free iters cut at the bank's 512 elements; what lies beyond counts banks."""
    result: list[Iter] = []
    for item in iters:
        extent, stride = int(item.extent), int(item.stride)
        if item.axis != "F" or extent * stride <= BANK_ELEMENTS:
            result.append(item)
        elif stride % BANK_ELEMENTS == 0:
            result.append(Iter(extent, stride // BANK_ELEMENTS, "Bank"))
        elif BANK_ELEMENTS % stride == 0 and extent % (BANK_ELEMENTS // stride) == 0:
            inner = BANK_ELEMENTS // stride
            result += [Iter(extent // inner, 1, "Bank"), Iter(inner, stride, "F")]
        else:
            _refuse(
                f"a free dimension of {extent} x {stride} elements does not fill whole PSUM banks of {BANK_ELEMENTS}",
                f"use at most {BANK_ELEMENTS} elements, or a multiple of that",
            )
    return result


class Place:
    """How the dimensions of one buffer become physical ones.

    `dims[d]` are the iters of logical dimension d, outermost first. `shape` is the physical shape: `(P, F, ...)` in SBUF,
    `(Bank, P, F, ...)` in PSUM, with one F per free iter, largest stride first; `free` are those iters.
    """

    __slots__ = ("dims", "free", "lead", "shape")

    def __init__(self, dims: Sequence[Sequence[Iter]], is_psum: bool) -> None:
        self.dims = tuple(tuple(dim) for dim in dims)
        iters = [item for dim in self.dims for item in dim]
        free = [item for item in iters if item.axis == "F" and item.extent != 1]
        self.free: tuple[Iter, ...] = tuple(sorted(free, key=lambda item: -int(item.stride)))
        lead = ("Bank", "P") if is_psum else ("P",)
        self.lead = lead
        sizes = [_extent(iters, axis) for axis in lead]
        self.shape: tuple[int, ...] = (*sizes, *(int(item.extent) for item in self.free)) or (1,)
        if not self.free:
            self.shape = (*self.shape, 1)

    @property
    def partition_dim(self) -> int:
        """Which physical dimension counts partitions."""
        return len(self.lead) - 1

    @property
    def free_elements(self) -> int:
        """Elements along one partition (of one bank)."""
        total = 1
        for extent in self.shape[len(self.lead) :]:
            total *= extent
        return total


def _extent(iters: Sequence[Iter], axis: str) -> int:
    """Positions that the iters of an axis cover together; they must be dense."""
    ordered = sorted(
        (item for item in iters if item.axis == axis and item.extent != 1), key=lambda item: int(item.stride)
    )
    total = 1
    for item in ordered:
        if item.stride != total:
            _refuse(
                f"axis {axis} of this layout has gaps or overlaps", "give it strides that cover every position once"
            )
        total *= int(item.extent)
    return total


@lru_cache(maxsize=1024)  # asked for each operand of each instruction; buffers never change
def place_of(buffer: Buffer) -> Place:
    """Physical dimensions of an on-chip buffer; `LayoutError` names what does not fit."""
    if any(not isinstance(extent, int) for extent in buffer.shape):
        _refuse(
            f"the on-chip buffer `{buffer.name}` has a shape that is not constant",
            "loop over tiles of a constant size",
            buffer,
        )
    is_psum = buffer.scope_name == PSUM
    layout = None if buffer.has_default_layout else buffer.layout
    if layout is None:
        return _fitting(Place(_plain(buffer, is_psum), is_psum), buffer)
    if not isinstance(layout, TileLayout):
        _refuse(
            f"the layout of `{buffer.name}` has a swizzle; partitions and free elements have none",
            "use a TileLayout",
            buffer,
        )
    if layout.replica or layout.offset:
        _refuse(
            f"the layout of `{buffer.name}` has replicas or an offset", "give the address with allocated_addr", buffer
        )
    foreign = sorted({item.axis for item in layout.shard if item.extent != 1} - set(_AXIS_NAMES))
    if foreign:
        _refuse(
            f"the layout of `{buffer.name}` uses axis {foreign[0]}",
            'on-chip layouts use P, F and Bank, e.g. layout="PF"',
            buffer,
        )
    grouped, separators = layout.group(buffer.shape)
    dims = [grouped.shard[a:b] for a, b in pairwise(separators)]
    return _fitting(Place(dims, is_psum), buffer)


def _fitting(place: Place, buffer: Buffer) -> Place:
    """`place`, when there are that many partitions, and a PSUM buffer stays inside its banks."""
    partitions = place.shape[place.partition_dim]
    if partitions > PARTITIONS:
        _refuse(
            f"`{buffer.name}` has {partitions} partitions, more than the {PARTITIONS} that there are",
            "let the surplus be an F dimension",
            buffer,
        )
    if buffer.scope_name == PSUM:
        if place.shape[0] > PSUM_BANKS:
            _refuse(
                f"`{buffer.name}` takes {place.shape[0]} PSUM banks, of which there are {PSUM_BANKS}",
                "accumulate fewer tiles",
                buffer,
            )
        if place.free_elements * buffer.dtype.bytes > BANK_BYTES:
            _refuse(
                f"`{buffer.name}` takes {place.free_elements * buffer.dtype.bytes} bytes of a PSUM bank of {BANK_BYTES}",
                'let the surplus count banks: layout="PF", or a dimension of its own in front',
                buffer,
            )
    return place


def _plain(buffer: Buffer, is_psum: bool) -> list[list[Iter]]:
    """Dimension 0 holds the partitions; three or more dimensions in PSUM are bank, partition, free."""
    shape = [int(extent) for extent in buffer.shape]
    axes = ["P"] + ["F"] * (len(shape) - 1)
    if is_psum and len(shape) > 2:
        axes = ["Bank", "P"] + ["F"] * (len(shape) - 2)
    free, iters = 1, []
    for extent, axis in reversed(list(zip(shape, axes, strict=True))):
        iters.append([Iter(extent, free if axis == "F" else 1, axis)])
        free *= extent if axis == "F" else 1
    return list(reversed(iters))


def _refuse(message: str, hint: str, buffer: Buffer | None = None) -> NoReturn:
    """Where `buffer` was allocated, or at the author's line."""
    span = buffer.span if buffer is not None and buffer.span else current_span()
    raise LayoutError(message, span=span, hint=hint, notes=(_RULE,))
