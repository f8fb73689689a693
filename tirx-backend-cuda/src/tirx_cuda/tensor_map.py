"""Tensor maps as plain data: what the host says about a tensor, its limits, and the 128 bytes that kernels hand on.

CUDA Driver API, "Tensor Map Object Management": cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2colWide.
The driver's encoding is its own secret; `simulated` is the simulator's, which holds the same facts. Dimensions are listed as the
driver lists them: innermost first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .descriptor import DescriptorError

__all__ = [
    "BYTES", "ELEMENTS", "FIELDS", "IM2COL", "INTERLEAVES", "L2_PROMOTIONS", "MAGIC", "MODES", "OOB_FILLS", "SWIZZLES", "TILED",
    "Element", "Swizzle", "TensorMap", "check", "choices", "code_of", "element_of", "parsed",
]  # fmt: skip

BYTES = 128


class Element(NamedTuple):
    """A type of elements: code of the driver, code of `tensormap.replace`, bytes, and whether it has a NaN to fill with."""

    name: str
    code: int
    ptx: int
    bytes: int
    is_float: bool = False


ELEMENTS: tuple[Element, ...] = (
    Element("uint8", 0, 0, 1), Element("uint16", 1, 1, 2), Element("uint32", 2, 2, 4), Element("int32", 3, 3, 4),
    Element("uint64", 4, 4, 8), Element("int64", 5, 5, 8), Element("float16", 6, 6, 2, True), Element("float32", 7, 7, 4, True),
    Element("float64", 8, 9, 8, True), Element("bfloat16", 9, 10, 2, True), Element("float32_ftz", 10, 8, 4, True),
    Element("tf32", 11, 11, 4, True), Element("tf32_ftz", 12, 12, 4, True),
)  # fmt: skip
_BY_NAME = {item.name: item for item in ELEMENTS}
_CARRIERS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}
_ALIASES = {"tfloat32": "tf32", "int8": "uint8", "bool": "uint8", "int16": "uint16"}


class Swizzle(NamedTuple):
    """How rows are turned: the span in bytes, and pairs (bits that change, how far above them the bits lie that are added)."""

    name: str
    span: int
    turns: tuple[tuple[int, int], ...]
    mode: int  # of tensormap.replace
    atomicity: int


SWIZZLES: tuple[Swizzle, ...] = (  # by code of the driver
    Swizzle("none", 0, (), 0, 0),
    Swizzle("32B", 32, ((0x10, 3),), 1, 0),
    Swizzle("64B", 64, ((0x30, 3),), 2, 0),
    Swizzle("128B", 128, ((0x70, 3),), 3, 0),
    Swizzle("128B_atom_32B", 128, ((0x60, 2),), 3, 1),
    Swizzle("128B_atom_32B_flip_8B", 128, ((0x60, 2), (0x08, 4)), 3, 2),
    Swizzle("128B_atom_64B", 128, ((0x40, 1),), 3, 3),
)
INTERLEAVES = ("none", "16B", "32B")
L2_PROMOTIONS = ("none", "64B", "128B", "256B")
OOB_FILLS = ("zero", "nan")
MODES = ("tiled", "im2col", "im2col_w", "im2col_w128")
TILED, IM2COL = 0, 1
_CORNERS = {3: (-(1 << 15), (1 << 15) - 1), 4: (-(1 << 7), (1 << 7) - 1), 5: (-(1 << 4), (1 << 4) - 1)}


def code_of(what: str, names: Sequence[str], value: Any) -> int:
    """The number of a choice that is given by number or by name."""
    plain = value if isinstance(value, int) else names.index(value) if value in names else -1
    if not 0 <= plain < len(names):
        known = ", ".join(f'{number} or "{name}"' for number, name in enumerate(names))
        raise DescriptorError(f"a tensor map has no {what} {value!r}", hint=f"it is {known}")
    return int(plain)


def choices(interleave: int | str, swizzle: int | str, l2_promotion: int | str, oob_fill: int | str) -> dict[str, int]:
    """The driver's numbers for what a map is asked to do, by keyword; `DescriptorError` for a name or number that is none."""
    return {
        "interleave": code_of("interleave", INTERLEAVES, interleave),
        "swizzle": code_of("swizzle", [item.name for item in SWIZZLES], swizzle),
        "l2_promotion": code_of("l2_promotion", L2_PROMOTIONS, l2_promotion),
        "oob_fill": code_of("oob_fill", OOB_FILLS, oob_fill),
    }


def element_of(dtype: str, forced: int = -1) -> Element:
    """The type that the driver knows for elements of `dtype`; `forced` is a code of the driver to use instead."""
    found = _BY_NAME.get(_ALIASES.get(dtype, dtype))
    if found is None and dtype.startswith("float8"):
        found = _BY_NAME["uint8"]
    if found is None:
        raise DescriptorError(
            f"a tensor map has no elements of {dtype}", hint=f"they are {', '.join(item.name for item in ELEMENTS)}"
        )
    if forced < 0:
        return found
    other = next((item for item in ELEMENTS if item.code == forced), None)
    if other is None or other.bytes != found.bytes:
        raise DescriptorError(
            f"elements of {dtype} are not read as type {forced} of the driver",
            hint=f"types of {found.bytes} bytes are {', '.join(f'{e.code} ({e.name})' for e in ELEMENTS if e.bytes == found.bytes)}",
        )
    return other


class TensorMap:
    """One tensor map on the host. Empty until it is encoded.

    `dims`, `box`, `steps` (of elements) have an item for each dimension, `strides` (in bytes) one for each but the innermost.
    Of im2col maps, `lower` and `upper` are the corners {D, H, W} of the box of pixels, and `box` is (channels, pixels).
    """

    __slots__ = (
        "address", "array", "box", "dims", "element", "fill", "interleave", "l2", "lower", "mode", "steps", "strides",
        "swizzle", "upper",
    )  # fmt: skip

    def __init__(self) -> None:
        self.element: Element | None = None
        self.address: Any = 0
        self.array: Any = None  # that of the caller, of a map that is an argument
        self.mode = TILED
        self.dims: tuple[Any, ...] = ()  # None: known only when it is called
        self.strides: tuple[Any, ...] = ()
        self.box: tuple[int, ...] = ()
        self.steps: tuple[int, ...] = ()
        self.lower: tuple[int, ...] = ()
        self.upper: tuple[int, ...] = ()
        self.interleave = self.swizzle = self.l2 = self.fill = 0

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.dims)

    def simulated(self) -> bytes:
        """The 128 bytes that stand for it in the simulator."""
        assert self.element is not None
        rank = self.rank
        turn = SWIZZLES[self.swizzle]
        head = (
            self.address,
            rank,
            self.element.ptx,
            self.interleave,
            turn.mode,
            turn.atomicity,
            self.fill,
            self.mode,
            MAGIC,
        )
        return _LAYOUT.pack(
            *head, *_padded(self.strides, 4), *_padded([dim - 1 for dim in self.dims], 5), *_padded(self.box, 5),
            *_padded(self.steps, 5), *_padded(self.lower, 3), *_padded(self.upper, 3),
        )  # fmt: skip


MAGIC = 0x54  # a map, and not whatever lay in memory
_LAYOUT = struct.Struct("<Q8B4Q5I5H5H3h3h")
assert _LAYOUT.size <= BYTES

# fields that `tensormap.replace` writes: byte, bytes of a field, and what is added to the value that it gives
FIELDS: dict[str, tuple[int, int, int]] = {
    "global_address": (0, 8, 0), "rank": (8, 1, 1), "elemtype": (9, 1, 0), "interleave_layout": (10, 1, 0), "swizzle_mode": (11, 1, 0),
    "swizzle_atomicity": (12, 1, 0), "fill_mode": (13, 1, 0), "magic": (15, 1, 0), "global_stride": (16, 8, 0), "global_dim": (48, 4, -1),
    "box_dim": (68, 2, 0), "element_stride": (78, 2, 0),
}  # fmt: skip


def _padded(values: Iterable[int], count: int) -> list[int]:
    given = list(values)
    return given + [0] * (count - len(given))


def parsed(data: bytes) -> TensorMap | None:
    """The map behind simulated bytes; None when they are none."""
    fields = _LAYOUT.unpack(bytes(data[: _LAYOUT.size]))
    address, rank, ptx, interleave, mode, atomicity, fill, kind, magic = fields[:9]
    element = next((item for item in ELEMENTS if item.ptx == ptx), None)
    turn = next((at for at, item in enumerate(SWIZZLES) if (item.mode, item.atomicity) == (mode, atomicity)), None)
    if magic != MAGIC or element is None or turn is None or not 1 <= rank <= 5:
        return None
    made = TensorMap()
    made.address, made.element, made.interleave, made.swizzle = address, element, interleave, turn
    made.fill, made.mode = fill, kind
    made.strides = tuple(fields[9 : 9 + rank - 1])
    made.dims = tuple(dim + 1 for dim in fields[13 : 13 + rank])
    made.box = tuple(fields[18 : 18 + (2 if kind else rank)])
    made.steps = tuple(fields[23 : 23 + rank])
    spatial = (0, rank - 2, 1, 1)[kind]
    made.lower, made.upper = tuple(fields[28 : 28 + spatial]), tuple(fields[31 : 31 + spatial])
    return made


# ---- limits -----------------------------------------------------------------------------------------------------------


def check(made: TensorMap) -> None:
    """Refuse what the driver would refuse. Items that are not known yet are None, and are checked when they are."""
    assert made.element is not None
    for rule in _RULES:
        rule(made, made.element)


def _refuse(message: str, hint: str) -> None:
    raise DescriptorError(message, hint=hint)


def _rank(made: TensorMap, element: Element) -> None:
    least = 3 if made.mode or made.interleave else 1
    if not least <= made.rank <= 5:
        why = " that is interleaved" if made.interleave else " of mode im2col" if made.mode else ""
        _refuse(f"a tensor map{why} has {made.rank} dimensions", f"it may have {least} to 5")
    for what, values, wanted in (("strides", made.strides, made.rank - 1), ("element strides", made.steps, made.rank)):
        if len(values) != wanted:
            _refuse(f"a tensor map of {made.rank} dimensions has {len(values)} {what}", f"give {wanted}")
    if not made.mode and len(made.box) != made.rank:
        _refuse(f"the box has {len(made.box)} dimensions and the tensor {made.rank}", "give an extent for each")


def _address(made: TensorMap, element: Element) -> None:
    unit = 32 if INTERLEAVES[made.interleave] == "32B" else 16
    if made.address is not None and made.address % unit:
        _refuse(f"the tensor starts at address {made.address:#x}", f"a tensor map needs a multiple of {unit} bytes")


def _dims(made: TensorMap, element: Element) -> None:
    for dim in made.dims:
        if dim is not None and not 0 < dim <= 1 << 32:
            _refuse(f"the tensor has an extent of {dim}", "extents are 1 to 2^32")


def _strides(made: TensorMap, element: Element) -> None:
    unit = 32 if INTERLEAVES[made.interleave] == "32B" else 16
    for stride in made.strides:
        if stride is not None and (stride % unit or not 0 <= stride < 1 << 40):
            _refuse(
                f"the tensor has a stride of {stride} bytes",
                f"strides of a tensor map are multiples of {unit} bytes below 2^40: pad the rows, or copy without a map",
            )


def _box(made: TensorMap, element: Element) -> None:
    limits = (256, 1024) if made.mode else (256,) * made.rank
    for extent, limit in zip(made.box, limits, strict=True):
        if not 0 < extent <= limit:
            _refuse(f"the box has an extent of {extent}", f"extents of a box are 1 to {limit}")
    for step in made.steps:
        if not 0 < step <= 8:
            _refuse(f"the box has an element stride of {step}", "element strides are 1 to 8")


def _inner(made: TensorMap, element: Element) -> None:
    row, turn = made.box[0] * element.bytes, SWIZZLES[made.swizzle]
    if INTERLEAVES[made.interleave] != "none":
        return
    if row % 16:
        _refuse(f"a row of the box has {row} bytes", "rows of a box are multiples of 16 bytes")
    if turn.span and row > turn.span:
        _refuse(
            f"a row of the box has {row} bytes, more than swizzle {turn.name} spans",
            f"rows are at most {turn.span} bytes: take a narrower box, or no swizzle",
        )


def _choices(made: TensorMap, element: Element) -> None:
    if INTERLEAVES[made.interleave] == "32B" and SWIZZLES[made.swizzle].name != "32B":
        _refuse("a map that is interleaved by 32 bytes has another swizzle", 'take swizzle="32B"')
    if OOB_FILLS[made.fill] == "nan" and not element.is_float:
        _refuse(f"elements of {element.name} have no NaN", 'fill with "zero"')
    if made.mode > IM2COL and SWIZZLES[made.swizzle].name in ("none", "32B", "128B_atom_32B_flip_8B"):
        _refuse(f"mode {MODES[made.mode]} has no swizzle {SWIZZLES[made.swizzle].name}", 'take "64B" or "128B"')


def _corners(made: TensorMap, element: Element) -> None:
    if not made.mode:
        return
    spatial = made.rank - 2 if made.mode == IM2COL else 1
    low, high = _CORNERS[made.rank] if made.mode == IM2COL else _CORNERS[3]
    for what, corner in (("lower", made.lower), ("upper", made.upper)):
        if len(corner) != spatial:
            _refuse(
                f"the {what} corner has {len(corner)} offsets", f"give {spatial}: one for each of D, H, W that there is"
            )
        for offset in corner:
            if not low <= offset <= high:
                _refuse(
                    f"the {what} corner has an offset of {offset}",
                    f"offsets of {made.rank} dimensions are {low} to {high}",
                )
    dims = made.dims[1 : 1 + spatial][::-1]
    for dim, first, last in zip(dims, made.lower, made.upper, strict=True):
        if dim is not None and dim + last <= first:
            _refuse("the box of pixels is empty", "the upper corner lies behind the lower one")


_RULES = (_rank, _address, _dims, _strides, _choices, _box, _inner, _corners)
