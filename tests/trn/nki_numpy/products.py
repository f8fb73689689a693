"""The tensor engine: products, sums in PSUM, transposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trn.nki_numpy import language as nl
from tests.trn.nki_numpy.rules import chip, engine, matmul_perf_mode, refuse, runs_on
from tests.trn.nki_numpy.state import MOVING_MAX, machine
from tests.trn.nki_numpy.tensor import Tensor

Engine = engine


def nc_matmul(
    dst: Any,
    stationary: Any,
    moving: Any,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    accumulate: bool | None = None,
    tile_position: Any = (),
    tile_size: Any = (),
    perf_mode: Any = matmul_perf_mode.none,
    name: Any = None,
) -> None:
    """dst (+)= stationary.T @ moving, operands in SBUF, sums in PSUM; in double_row, (K, 2, n) contracted along K and 2."""
    chip(dst, stationary, moving)
    if (dst.memory, stationary.memory, moving.memory) != ("psum", "sbuf", "sbuf"):
        refuse("nc_matmul reads SBUF and writes PSUM")
    if not isinstance(perf_mode, matmul_perf_mode):
        refuse(f"perf_mode is {perf_mode!r}, not a member of nisa.matmul_perf_mode")
    deep = _two_rows(stationary, moving) if perf_mode is matmul_perf_mode.double_row else 1
    _check_matmul(dst, stationary, moving, deep)
    _check_array_part(stationary, deep, tile_position, tile_size)
    for hint, tile in ((is_stationary_onezero, stationary), (is_moving_onezero, moving)):
        if hint and not np.isin(tile.read_flat(), (0, 1)).all():
            refuse("a tile that is said to hold ones and zeros holds something else")
    left, right = (side.read_flat().reshape(side.shape[0] * deep, -1) for side in (stationary, moving))
    product = left.T @ right
    _accumulate(dst, product.reshape(dst.shape), accumulate)


def _two_rows(stationary: Tensor, moving: Tensor) -> int:
    """FP8 double performance mode: from NeuronCore-v3 on, float8, the first free dimension is 2."""
    if machine.generation == "v2":
        refuse("performance mode is not supported on NeuronCore-v2")
    for side in (stationary, moving):
        if not side.dtype.name.startswith("float8") or len(side.shape) != 3 or side.shape[1] != 2:
            refuse(f"double_row multiplies float8 tiles of (partitions, 2, n), not {side.dtype.name} of {side.shape}")
    return 2


def _check_array_part(stationary: Tensor, deep: int, position: Any, size: Any) -> None:
    """Row and column tiles of the 128 x 128 array; those of 32 came with NeuronCore-v3."""
    if not position and not size:
        return
    if not (isinstance(position, tuple) and isinstance(size, tuple) and len(position) == len(size) == 2):
        refuse("tile_position and tile_size are two pairs, given together")
    sizes = (128, 64) if machine.generation == "v2" else (128, 64, 32)
    if any(
        part not in sizes or start % part or not 0 <= start < 128 for start, part in zip(position, size, strict=True)
    ):
        refuse(f"tile_position {position} with tile_size {size}")
    if stationary.shape[0] > size[0] or stationary.free // deep > size[1]:
        refuse(f"stationary of {stationary.shape} in a tile of {size}")
    if deep == 2 and size[1] != 128:
        refuse("double_row is not combined with column tiles")


def _check_matmul(dst: Tensor, stationary: Tensor, moving: Tensor, deep: int) -> None:
    if stationary.shape[0] != moving.shape[0]:
        refuse("stationary and moving are contracted along equal partitions")
    if stationary.free > 128 * deep:
        refuse(f"stationary has {stationary.free} elements per partition, at most {128 * deep}")
    most = MOVING_MAX[machine.generation] * (2 if dst.dtype is nl.bfloat16 else 1)
    if moving.free > most * deep:
        refuse(f"moving has {moving.free} elements per partition, at most {most * deep}")
    if (dst.shape[0], dst.free) != (stationary.free // deep, moving.free // deep):
        refuse(f"dst is {dst.shape[0]} x {dst.free}, the product {stationary.free // deep} x {moving.free // deep}")
    if dst.dtype is not nl.float32 and not (dst.dtype is nl.bfloat16 and machine.generation == "v4"):
        refuse("dst of nc_matmul is float32")
    if not (stationary.dtype.is_float and moving.dtype.is_float):
        refuse("nc_matmul multiplies floats")
    if (stationary.dtype is nl.float32) != (moving.dtype is nl.float32):
        refuse("float32 is multiplied only with float32")
    if {stationary.dtype, moving.dtype} == {nl.float8_e4m3, nl.float8_e4m3fn}:
        refuse("the two formats of float8_e4m3 are not mixed")
    if machine.generation != "v4" and dst.banks()[0] != dst.banks()[1]:
        refuse("a matmul writes inside one PSUM bank")


def _accumulate(dst: Tensor, product: np.ndarray, accumulate: bool | None) -> None:
    """None: the first product into a place replaces, later ones are added. Adding to anything but a product is undefined."""
    if accumulate is True and not dst.sums.all():
        refuse("accumulate=True onto PSUM that holds no product")
    foreign = dst.written & ~dst.sums
    if accumulate is not False and foreign.any() and machine.generation != "v4":
        refuse("accumulation onto PSUM that was set or copied is undefined")
    if accumulate is False:
        dst.write(product, sums=True)
        return
    before = np.where(dst.sums, dst.data.astype(np.float32), np.float32(0))
    dst.write((before + product).astype(np.float32), sums=True)


def nc_transpose(dst: Any, data: Any, engine: Any = Engine.unknown, name: Any = None) -> None:
    """Tensor engine: up to 128 x 128 from SBUF to PSUM; vector engine: up to 32 x 32 anywhere."""
    chip(dst, data)
    chosen = runs_on(engine, ("tensor", "vector"), dst, data)
    if (dst.shape[0], dst.free) != (data.free, data.shape[0]):
        refuse(f"nc_transpose of {data.shape} to {dst.shape}")
    if dst.dtype is not data.dtype:
        refuse("nc_transpose does not convert")
    by_tensor = (data.memory, dst.memory) == ("sbuf", "psum") and max(data.shape[0], data.free) <= 128
    by_vector = max(data.shape[0], data.free) <= 32
    if not {"tensor": by_tensor, "vector": by_vector, "unknown": by_tensor or by_vector}[chosen]:
        refuse(f"no engine transposes {data.shape} from {data.memory} to {dst.memory}")
    values = data.read().reshape(data.shape[0], -1)
    by_product = machine.generation == "v2" and dst.memory == "psum" and chosen != "vector"
    if by_product and not np.isfinite(values.astype(np.float32)).all():
        refuse("the tensor engine of NeuronCore-v2 does not transpose NaN and infinities")
    dst.write(values.T)
