"""The tensor engine: products, sums in PSUM, transposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trn.nki_numpy import language as nl
from tests.trn.nki_numpy.rules import chip, engine, refuse, runs_on
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
    perf_mode: Any = None,
    name: Any = None,
) -> None:
    """dst (+)= stationary.T @ moving, operands in SBUF, sums in PSUM."""
    chip(dst, stationary, moving)
    if (dst.memory, stationary.memory, moving.memory) != ("psum", "sbuf", "sbuf"):
        refuse("nc_matmul reads SBUF and writes PSUM")
    _check_matmul(dst, stationary, moving)
    for hint, tile in ((is_stationary_onezero, stationary), (is_moving_onezero, moving)):
        if hint and not np.isin(tile.read_flat(), (0, 1)).all():
            refuse("a tile that is said to hold ones and zeros holds something else")
    product = stationary.read_flat().T @ moving.read_flat()
    _accumulate(dst, product.reshape(dst.shape), accumulate)


def _check_matmul(dst: Tensor, stationary: Tensor, moving: Tensor) -> None:
    if stationary.shape[0] != moving.shape[0]:
        refuse("stationary and moving are contracted along equal partitions")
    if stationary.free > 128:
        refuse(f"stationary has {stationary.free} elements per partition, at most 128")
    most = MOVING_MAX[machine.generation] * (2 if dst.dtype is nl.bfloat16 else 1)
    if moving.free > most:
        refuse(f"moving has {moving.free} elements per partition, at most {most}")
    if (dst.shape[0], dst.free) != (stationary.free, moving.free):
        refuse(f"dst is {dst.shape[0]} x {dst.free}, the product {stationary.free} x {moving.free}")
    if dst.dtype is not nl.float32 and not (dst.dtype is nl.bfloat16 and machine.generation == "v4"):
        refuse("dst of nc_matmul is float32")
    if not (stationary.dtype.is_float and moving.dtype.is_float):
        refuse("nc_matmul multiplies floats")
    if (stationary.dtype is nl.float32) != (moving.dtype is nl.float32):
        refuse("float32 is multiplied only with float32")
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
