"""Meanings of products by the fifth generation of tensor cores: one thread issues them, for its cta or for a pair of ctas.

A product is done when it is issued. Products of elements are exact; sums are in float32, in float64 where scales or integers need it.
PTX ISA, "Instruction descriptor", "Block Scaling for tcgen05.mma", "Sparse Matrices", "Zero-Column Mask Descriptor". In a pair, each
cta has its half of the rows of A and D and its half of the columns of B; scales of B and what `tcgen05.cp` brought are in both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .described import UNIT, Place
from .fragments import elements, spread
from .in_flight import reading, using
from .run import Op
from .small_floats import decoded, powers
from .sparse import MEANINGFUL, PAIRED, Chunk, chunk_of, expanded
from .tensor_memory import LANES, Path, TensorMemory, checked, lane_and_column, memory_of

__all__ = ["mma"]

_NARROW = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
_KINDS = {
    "f16": {0: "f16", 1: "bf16"}, "tf32": {2: "tf32"}, "i8": {0: "u8", 1: "s8"}, "ti16": {3: "ti16"}, "f8f6f4": _NARROW,
    "mxf8f6f4": _NARROW, "mxf4": {1: "e2m1 packed"}, "mxf4nvf4": {1: "e2m1 packed"},
}  # fmt: skip
_BITS = {"e2m3": 6, "e3m2": 6, "e2m1": 4}  # of elements that shared memory holds in sixteens, with padding behind
_BLOCKS = {"scale_vec::1X": 1, "scale_vec::2X": 2, "scale_vec::4X": 4, "block16": 4}
_SCALES = ("ue4m3", "ue8m0", "ue5m3")


class _Shape(NamedTuple):
    """What an instruction descriptor says, and what the instruction says besides."""

    described: int
    kind: str
    left: str
    right: str
    m: int
    n: int
    sparse: bool
    pair: bool
    alone: bool  # weights stay where they are: `.ws`

    @property
    def scaled(self) -> bool:
        return self.kind.startswith("mx")

    @property
    def path(self) -> Path:
        """How rows and columns lie in the tensor memory of a cta."""
        rows = self.m // 2 if self.pair else self.m
        if self.alone:
            return Path(rows, LANES // rows)
        if rows == 64 and (self.sparse or not self.pair):
            return Path(rows, halved=True)
        return Path(rows, 2 if rows == 64 else 1)

    def bit(self, position: int) -> bool:
        """Whether a bit of the descriptor is set."""
        return bool(self.described >> position & 1)


def _shape(op: Op, described: int) -> _Shape | None:
    """None where the descriptor means something that is not modelled."""
    words = op.form.mnemonic.split(".")
    kind = next(word for word in words if word.startswith("kind::"))[6:]
    types, scaled = _KINDS[kind], kind.startswith("mx")
    left, right = described >> 7 & 7, described >> 10 & (3 if kind.startswith("mxf4") else 7)
    m = (described >> 27 & 3) << 7 if scaled else (described >> 24 & 31) << 4
    pair, alone, n = "cta_group::2" in words, "ws" in words, (described >> 17 & 63) << 3
    heights = {32, 64, 128} if alone else {128, 256} if pair else {128} if scaled else {64, 128}
    longer = described >> (31 if scaled else 29) & 1 or (kind.startswith("mxf4") and described & (8 | 1 << 12))
    if (
        left not in types
        or right not in types
        or m not in heights
        or not n
        or longer
        or (scaled and described >> 26 & 1)
    ):
        return None
    return _Shape(described, kind, types[left], types[right], m, n, bool(described & 4), pair, alone)


def mma(op: Op, *values: Any) -> None:
    """D = a * b + d, for each thread that asks for it."""
    names = [part.name for part in op.form.parts if part.rw != "w"]
    words = {name: op.full(value).astype(np.uint64).astype(np.int64) for name, value in zip(names, values, strict=True)}
    for described in np.unique(words["idesc"]).tolist():
        chosen = words["idesc"] == described
        shape = _shape(op, described)
        if shape is None:
            op.ctx.unmodelled(f"{op.form.mnemonic} with instruction descriptor {described:#x}")
            continue
        if shape.sparse != ("sp-meta" in words):
            text = "says that A is sparse" if shape.sparse else "does not say that A is sparse"
            op.ctx.finding("undefined_operand", f"the instruction descriptor {text}", chosen)
            continue
        _issued(op.where(chosen), shape, {name: word[chosen] for name, word in words.items()})


def _issued(op: Op, shape: _Shape, words: dict[str, Any]) -> None:
    ranks = np.asarray(op.ctx.id("cta", "cluster")).astype(np.int64)
    ctas = np.asarray(op.ctx.group("cta")).astype(np.int64)
    sides = (0, 1) if shape.pair else (None,)
    right = _right(op, shape, words, ranks)
    lefts = [_left(op, shape, words, ranks, side) for side in sides]
    for at in range(op.count):
        given = {name: int(word[at]) for name, word in words.items()}
        for number, side in enumerate(sides):
            cta = ctas[at] if side is None else ctas[at] - ranks[at] + (ranks[at] & ~1) + side
            alone = op.alone(at)
            one = _One(alone, shape, given, memory_of(op, cta), number)
            left = None if lefts[number] is None else lefts[number][at]
            with np.errstate(all="ignore"):
                one.add(one.product(left, right[at]))


# ---- operands in shared memory --------------------------------------------------------------------------------------


def _right(op: Op, shape: _Shape, words: dict[str, Any], ranks: Any) -> Any:
    """B as rows of its columns: (threads, n, k)."""
    transposed, depth = shape.bit(16), 4 if shape.sparse else 2
    first = words["zero-column-mask-desc"] >> 56 & 63 if "zero-column-mask-desc" in words else np.zeros(op.count, int)
    if transposed and first.any():
        op.ctx.unmodelled("a shift of the columns of a matrix that is transposed")
    place = Place.of_tcgen05(op, words["b-desc"], transposed, shape.right, depth)
    if not shape.pair:
        return _read(op, place, shape.right, shape.n, first)
    halves = [_read(op, place.in_rank(ranks & ~1 | side), shape.right, shape.n // 2, first) for side in (0, 1)]
    return np.concatenate(halves, axis=1)


def _left(op: Op, shape: _Shape, words: dict[str, Any], ranks: Any, side: int | None) -> Any:
    """What is stored of A in shared memory: (threads, rows of a cta, k); None where it is in tensor memory."""
    if "a-desc" not in words:
        return None
    place = Place.of_tcgen05(op, words["a-desc"], shape.bit(15), shape.left)
    place = place if side is None else place.in_rank(ranks & ~1 | side)
    return _read(op, place, shape.left, shape.path.rows, np.zeros(op.count, int))


def _read(op: Op, place: Place, kind: str, rows: int, first: Any) -> Any:
    count = place.depth * rows
    unit = np.tile(np.arange(count), op.count)
    places = place.repeated(count).address(unit, np.repeat(first, count))
    units = op.ctx.repeated(count).load(places, UNIT)
    reading(op, places.reshape(op.count, -1), place.swizzled)
    if kind in _BITS:
        units = spread(units, _BITS[kind]) << (2 if kind == "e2m1" else 0)
        units = np.ascontiguousarray(units.astype(np.uint8)).view(np.uint32)
    return place.matrices(units.reshape(op.count, count, 4))


# ---- one product in one cta -----------------------------------------------------------------------------------------


class _One:
    """A product in the tensor memory of one cta; `number` says which of a pair."""

    __slots__ = ("given", "memory", "number", "op", "shape")

    def __init__(self, op: Op, shape: _Shape, given: dict[str, int], memory: TensorMemory, number: int) -> None:
        self.op, self.shape, self.given, self.memory, self.number = op, shape, given, memory, number

    def product(self, left: Any, right: Any) -> Any:
        """(rows, n)."""
        shape, path = self.shape, self.shape.path
        if shape.scaled:
            right = right * self.scales_of_right(right.shape[1])
        if "zero-column-mask-desc" in self.given:
            right = np.where(_zero_columns(self.given["zero-column-mask-desc"], shape.m, shape.n)[:, None], 0, right)
        parts = []
        for fold, columns in enumerate(np.split(right, path.folds)):
            rows = self.stored(fold) if left is None else left
            rows = self.with_zeros(rows, fold) if shape.sparse else rows
            if shape.scaled:
                rows = rows * self.scales_of_left(rows.shape[1])
            wide = np.float64 if shape.scaled or shape.kind in ("i8", "ti16") else np.float32
            parts.append(np.matmul(rows.astype(wide), columns.astype(wide).T))
        negative = shape.bit(13) != shape.bit(14)
        made = np.concatenate(parts, axis=1)
        return -made if negative else made

    def cells(self, address: int, rows: Any, columns: Any) -> Any:
        """Words of tensor memory, from an address on."""
        return self.memory.cells[self.places(address, rows, columns)]

    def places(self, address: int, rows: Any, columns: Any) -> tuple[Any, Any]:
        """Lanes and columns from an address on."""
        lane, column = lane_and_column(address)
        where = np.broadcast_arrays(lane + rows, column + columns)
        return checked(self.op, self.memory, *where)

    def stored(self, fold: int) -> Any:
        """What tensor memory holds of A for a part of the columns of D: each part has its own copy."""
        path = self.shape.path
        lanes = path.lane(np.arange(path.rows)) + fold * path.apart
        places = self.places(self.given["a"], lanes[:, None], np.arange(8))
        using(self.op, 0, self.memory, places, "r")
        words = self.memory.cells[places]
        return elements(words, self.shape.left).reshape(path.rows, -1)

    # ---- metadata and scales ----

    def with_zeros(self, stored: Any, fold: int) -> Any:
        """A sparse A with its zeros."""
        kind, path = self.shape.left, self.shape.path
        chunk: Chunk = PAIRED if kind == "e2m1 packed" else chunk_of(kind)
        wide = kind in ("f16", "bf16", "tf32", "ti16")
        row = np.arange(path.rows)
        address, selector = self.given["sp-meta"], 0 if self.shape.scaled else self.shape.described & 3
        if address & 1 or selector > wide:
            text = f"metadata in column {lane_and_column(address)[1]} with selector {selector}: a pair of columns begins at an even one"
            self.op.ctx.finding("undefined_operand", text)
        if wide:  # eight lanes for the first half of k, eight for the second, of rows r and r + 8
            lanes = path.lane(row // 16 * 16 + row % 8)[:, None] + 8 * np.arange(2) + fold * path.apart
            words = self.cells(address, lanes, np.full((1, 1), selector)) >> (row // 8 % 2 * 16)[:, None].astype(
                np.uint32
            )
            each = 4
        else:
            lanes = path.lane(row)[:, None] + fold * path.apart
            words, each = self.cells(address, lanes, np.arange(2)), 8
        nibbles = (words.astype(np.int64)[..., None] >> (4 * np.arange(each)) & 15).reshape(path.rows, -1)
        return expanded(self.op, stored, nibbles, chunk, MEANINGFUL["tf32" if kind == "tf32" else "tcgen05"])

    def _scales(self, address: int, lanes: Any, columns: Any, identity: int, k: int) -> Any:
        """A scale for each element of rows of k: (rows, k)."""
        word = self.op.get("vec")
        blocks = _BLOCKS.get(word, 1 if self.shape.kind == "mxf8f6f4" else 2)
        if identity % blocks:
            text = f"scale factor {identity} of {blocks} in a row: they begin at a multiple of their number"
            self.op.ctx.finding("undefined_operand", text)
        words = self.cells(address, lanes, columns).astype(np.int64)
        codes = words[:, None] >> (8 * ((identity + np.arange(blocks)) % 4)) & 0xFF
        kind = _SCALES[self.shape.described >> 23 & 3]
        return np.repeat(powers(codes) if kind == "ue8m0" else decoded(codes, kind), k // blocks, axis=1)

    def scales_of_left(self, k: int) -> Any:
        """Of row r: lane r % 32, in the column r // 32."""
        row = np.arange(self.shape.path.rows)
        return self._scales(self.given["scale-A"], row % 32, row // 32, self.shape.described >> 29 & 3, k)

    def scales_of_right(self, k: int) -> Any:
        """Of column n alike; with two parts of the columns, each in its own lanes."""
        path, n = self.shape.path, np.arange(self.shape.n)
        each = self.shape.n // path.folds
        lanes = n % each % 32 + n // each * path.apart
        return self._scales(self.given["scale-B"], lanes, n % each // 32, self.shape.described >> 4 & 3, k)

    # ---- sums ----

    def add(self, product: Any) -> None:
        """The sum, in tensor memory."""
        shape, path, given = self.shape, self.shape.path, self.given
        n, each = np.arange(shape.n)[None, :], shape.n // path.folds
        lanes = path.lane(np.arange(path.rows))[:, None] + n // each * path.apart
        cells = self.places(given["d"], lanes, n % each)
        using(self.op, 0, self.memory, cells, "u")
        held: Any = np.float32 if shape.scaled else (np.float16, np.float32, np.int32)[shape.described >> 4 & 3]
        old = self.memory.cells[cells]
        start = old.astype(np.uint16).view(np.float16).astype(np.float32) if held is np.float16 else old.view(held)
        total = product.astype(np.int64) if held is np.int32 else product
        if given["enable-input-d"]:
            total = total + start * (2.0 ** -given["scale-input-d"] if "scale-input-d" in given else 1)
        if held is np.int32 and shape.bit(3):
            total = np.clip(total, -(2**31), 2**31 - 1)
        new = total.astype(held)
        new = new.view(np.uint16).astype(np.uint32) if held is np.float16 else new.view(np.uint32)
        self.memory.cells[cells] = np.where(self.disabled()[cells[0]], old, new)

    def disabled(self) -> Any:
        """Whether a lane of D stays as it is."""
        masks = [word for name, word in self.given.items() if name.startswith("disable-output-lane")]
        words = masks[4 * self.number : 4 * self.number + 4]
        return np.array([bool(words) and bool(words[lane // 32] >> lane % 32 & 1) for lane in range(LANES)])


def _zero_columns(descriptor: int, m: int, n: int) -> Any:
    """Which columns of B count as zero: runs of used and of skipped columns in turns, a part of the columns at a time."""
    if not descriptor >> 39 & 1:
        return np.zeros(n, bool)
    skip, use = (descriptor >> 40 & 0xFF) + 1, (descriptor >> 48 & 0xFF) + 1
    parts = []
    for part in range(128 // m):
        start, first = descriptor >> (8 * part) & 0xFF, descriptor >> (32 + part) & 1
        place = (np.arange(n * m // 128) + start) % (skip + use)
        parts.append(place < skip if first else place >= use)
    return np.concatenate(parts)
