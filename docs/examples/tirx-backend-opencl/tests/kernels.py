"""Kernels of this backend's own, for the conformance kit: copies that run by themselves, rows that begin anywhere, masked vectors."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

SHAPE = (34, 66)


@Tx.prim_func
def inner(x: Tx.Buffer(SHAPE, "float32"), y: Tx.Buffer((32, 64), "float32"), z: Tx.Buffer((66,), "float32")):
    Tx.device_entry()
    Tx.cta_id([1])
    tx = Tx.thread_id([64])
    whole = Tx.alloc_shared(SHAPE, "float32")
    tile = Tx.alloc_shared((32, 64), "float32")
    Tx.cta.copy_async(whole, x)
    Tx.opencl.wait_group_events()
    Tx.opencl.barrier()
    Tx.cta.copy(tile, whole[1:33, 1:65])
    Tx.opencl.barrier()
    Tx.cta.copy_async(y[:, 0:32], tile[:, 0:32])
    Tx.cta.copy_async(y[:, 32:64], whole[1:33, 33:65], dispatch="vload")
    if tx < 17:
        mask = Tx.meta_var(Tx.broadcast(tx * 4, 4) + Tx.ramp(0, 1, 4) < Tx.broadcast(66, 4))
        row = Tx.decl_buffer((66,), "float32", data=x.data)
        Tx.masked_store(z, Tx.masked_load("float32x4", row, tx * 4, mask), tx * 4, mask)
    Tx.opencl.wait_group_events()


KERNEL = inner
TARGET = "opencl"


def arguments(rng):
    """A matrix, room for what it is without its edge, and for its first row."""
    return rng.standard_normal(SHAPE).astype(np.float32), np.zeros((32, 64), np.float32), np.zeros(66, np.float32)


def expected(x, y, z):
    """What the arrays hold afterwards."""
    return {"y": x[1:33, 1:65], "z": x[0]}
