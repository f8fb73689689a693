"""Tensors: strided views over storage that remembers what was written, and by whom."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.trn.nki_numpy.state import NkiError, machine

PARTITIONS = 128
BANK = 2048  # bytes of one PSUM bank of one partition
ON_CHIP = ("sbuf", "psum")
INTEGER_FILL = 4  # what the official simulator puts into new integer tensors; floats get NaN


class Buffer:
    """A memory, as an object: `nl.sbuf` is not the string "sbuf"."""

    def __init__(self, name: str) -> None:
        self.name = name


class DType:
    """An element type of NKI."""

    def __init__(self, name: str, numpy: Any) -> None:
        self.name = name
        self.numpy = np.dtype(numpy)

    @property
    def is_float(self) -> bool:
        """Whether values are floating-point numbers (ml_dtypes register as kind V)."""
        return self.numpy.kind in "fV"


DTYPES = {
    name: DType(name, numpy)
    for name, numpy in {
        "float32": np.float32,
        "float16": np.float16,
        "bfloat16": ml_dtypes.bfloat16,
        "float8_e4m3": ml_dtypes.float8_e4m3,
        "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
        "float8_e5m2": ml_dtypes.float8_e5m2,
        "int32": np.int32,
        "int16": np.int16,
        "int8": np.int8,
        "uint32": np.uint32,
        "uint16": np.uint16,
        "uint8": np.uint8,
        "bool_": np.uint8,
    }.items()
}
_BY_NUMPY = {dtype.numpy: dtype for name, dtype in DTYPES.items() if name != "bool_"}


class Storage:
    """What was allocated: values, which of them were written, and which hold a matmul's partial sums."""

    def __init__(self, shape: tuple[int, ...], dtype: DType, memory: str, address: int | None = None) -> None:
        fill = np.nan if dtype.is_float else INTEGER_FILL
        self.values = np.full(shape, fill).astype(dtype.numpy)
        self.written = np.zeros(shape, bool)
        self.sums = np.zeros(shape, bool)
        self.memory = memory
        self.dtype = dtype
        self.address = address
        self.first: int | None = None  # when it was touched first and last, for those on chip
        self.last: int | None = None
        size = int(np.prod(shape[1:])) * dtype.numpy.itemsize
        self.bytes = -(-size // BANK) * BANK if memory == "psum" else size


class Tensor:
    """A view of storage. On-chip tiles are partitions first and keep at least two dimensions."""

    def __init__(self, root: Storage, data: np.ndarray, written: np.ndarray, sums: np.ndarray, partition: int) -> None:
        self.root = root
        self.data = data
        self.written = written
        self.sums = sums
        self.partition = partition

    @property
    def memory(self) -> str:
        """Name of the memory."""
        return self.root.memory

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.root.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the view."""
        return self.data.shape

    @property
    def on_chip(self) -> bool:
        """Whether it is in SBUF or PSUM."""
        return self.memory in ON_CHIP

    @property
    def free(self) -> int:
        """Elements of each partition."""
        return int(np.prod(self.shape[1:]))

    def __getitem__(self, index: Any) -> Tensor:
        items = index if isinstance(index, tuple) else (index,)
        if len(items) > len(self.shape):
            raise NkiError(f"{len(items)} indices for a tensor of rank {len(self.shape)}")
        items += (slice(None),) * (len(self.shape) - len(items))
        ranges = [_range(item, extent) for item, extent in zip(items, self.shape, strict=True)]
        keep = [isinstance(item, slice) or (dim == 0 and self.on_chip) for dim, item in enumerate(items)]
        if self.on_chip and ranges[0].step != 1:
            raise NkiError("partitions have no stride")
        picks = tuple(slice(r.start, r.stop, r.step) if kept else r.start for r, kept in zip(ranges, keep, strict=True))
        partition = self.partition + ranges[0].start if self.on_chip else 0
        made = Tensor(self.root, self.data[picks], self.written[picks], self.sums[picks], partition)
        if self.on_chip and made.data.ndim < 2:
            raise NkiError("an on-chip tile keeps its partitions and at least one free dimension")
        return made

    def reshape(self, shape: tuple[int, ...]) -> Tensor:
        """The same elements with another shape; only of a whole tensor, and partitions stay partitions."""
        if not isinstance(shape, tuple):
            raise NkiError("reshape takes a tuple")
        if self.data.shape != self.root.values.shape or int(np.prod(shape)) != self.data.size:
            raise NkiError(f"a view of shape {self.shape} cannot be reshaped to {shape}")
        if self.on_chip and shape[0] != self.shape[0]:
            raise NkiError("reshape cannot move elements between partitions")
        return Tensor(
            self.root, *(part.reshape(shape) for part in (self.data, self.written, self.sums)), self.partition
        )

    # ---- what instructions use --------------------------------------------------------------------------------------

    def read(self) -> np.ndarray:
        """The values; refused where nobody wrote them."""
        if not self.written.all():
            raise NkiError(f"{int((~self.written).sum())} elements are read that were never written")
        self._touch()
        return self.data

    def _touch(self) -> None:
        if self.on_chip:
            machine.touch(self.root)

    def offset(self) -> int:
        """The byte of a partition at which the view starts."""
        start = self.data.__array_interface__["data"][0] - self.root.values.__array_interface__["data"][0]
        return int(start % self.root.values.strides[0])

    def banks(self) -> tuple[int, int]:
        """The first and the last PSUM bank that the view touches."""
        last = sum(
            (extent - 1) * stride for extent, stride in zip(self.data.shape[1:], self.data.strides[1:], strict=True)
        )
        first = self.offset()
        return first // BANK, (first + last) // BANK

    def read_flat(self) -> np.ndarray:
        """The values in float32, as (partitions, elements)."""
        return self.read().astype(np.float32).reshape(self.shape[0], -1)

    def write(self, values: np.ndarray, *, sums: bool = False) -> None:
        """Store `values` (same count), converted to the element type."""
        self._touch()
        self.data[...] = cast(np.asarray(values).reshape(self.shape), self.dtype)
        self.written[...] = True
        self.sums[...] = sums

    def write_where(self, values: np.ndarray, mask: np.ndarray) -> None:
        """Store `values` where `mask` holds; the rest stays as it is."""
        self._touch()
        chosen = mask.reshape(self.shape)
        self.data[chosen] = cast(np.asarray(values).reshape(self.shape), self.dtype)[chosen]
        self.written[chosen] = True
        self.sums[chosen] = False


def _range(item: Any, extent: int) -> range:
    """An index or slice as a range inside `extent`; Python would clip or wrap, hardware does neither."""
    if isinstance(item, slice):
        start, stop, step = item.start or 0, extent if item.stop is None else item.stop, item.step or 1
        if not (0 <= start < stop <= extent and step > 0):
            raise NkiError(f"slice {start}:{stop}:{step} of a dimension of {extent}")
        return range(start, stop, step)
    if not isinstance(item, int) or not 0 <= item < extent:
        raise NkiError(f"index {item} of a dimension of {extent}")
    return range(item, item + 1)


def cast(values: np.ndarray, dtype: DType) -> np.ndarray:
    """To the element type: floats round to nearest even; towards integers they round to nearest even and saturate."""
    if dtype.is_float or values.dtype.kind in "iub":
        with np.errstate(over="ignore", invalid="ignore"):
            return values.astype(dtype.numpy)
    info = np.iinfo(dtype.numpy)
    return np.clip(np.rint(values.astype(np.float64)), info.min, info.max).astype(dtype.numpy)


def allocate(shape: tuple[int, ...], dtype: DType, memory: str, address: int | None = None) -> Tensor:
    """A new tensor."""
    if not isinstance(shape, tuple) or not all(isinstance(extent, int) and extent > 0 for extent in shape):
        raise NkiError(f"a shape is a tuple of positive ints, not {shape!r}")
    if not isinstance(dtype, DType):
        raise NkiError(f"a dtype is a member of nki.language, not {dtype!r}")
    if dtype.name == "float8_e4m3fn" and machine.generation != "v4":
        raise NkiError("float8_e4m3fn came with NeuronCore-v4")
    root = Storage(shape, dtype, memory, address)
    if memory in ON_CHIP:
        _check_tile(shape)
        machine.allocate(root)
    return Tensor(root, root.values, root.written, root.sums, 0)


def _check_tile(shape: tuple[int, ...]) -> None:
    if len(shape) < 2:
        raise NkiError("an on-chip tile has partitions and at least one free dimension")
    if shape[0] > PARTITIONS:
        raise NkiError(f"{shape[0]} partitions; there are {PARTITIONS}")


def from_array(array: np.ndarray) -> Tensor:
    """An input in HBM, all of it written; a kernel may not write it."""
    dtype = _BY_NUMPY.get(array.dtype)
    if dtype is None:
        raise NkiError(f"inputs of type {array.dtype} do not exist")
    root = Storage(array.shape, dtype, "input")
    root.values[...] = array
    root.written[...] = True
    return Tensor(root, root.values, root.written, root.sums, 0)
