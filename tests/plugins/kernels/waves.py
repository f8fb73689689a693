"""Kernels for a machine with waves of 64 threads."""

from __future__ import annotations

import sys

import numpy as np

import tirx
from tirx import script as Tx


@Tx.prim_func
def wave_totals(A: Tx.Buffer((256,), "float32"), B: Tx.Buffer((256,), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([2])
    tx = Tx.thread_id([128])
    B[bx * 128 + tx] = Tx.wave.sum(A[bx * 128 + tx])


@Tx.prim_func
def reverse_in_group(A: Tx.Buffer((256,), "float32"), B: Tx.Buffer((256,), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([2])
    tx = Tx.thread_id([128])
    kept = Tx.alloc_buffer((128,), "float32", scope="lds")
    kept[tx] = A[bx * 128 + tx]
    Tx.tvm_storage_sync("shared")
    B[bx * 128 + tx] = kept[127 - tx]


def arrays():
    """Input and output."""
    return np.arange(256, dtype="float32"), np.zeros(256, dtype="float32")


if __name__ == "__main__":
    a, b = arrays()
    report = tirx.simulate(wave_totals, a, b, target="wavefront")
    print(report.verdict, np.array_equal(b, a.reshape(4, 64).sum(1).repeat(64)))
    report = tirx.simulate(reverse_in_group, a, b, target="toy/big")
    print(report.verdict, np.array_equal(b, a.reshape(2, 128)[:, ::-1].ravel()))
    print(tirx.compile(wave_totals, target="wavefront").source)
    print(sorted(name for name in sys.modules if name in ("tirx_cuda", "tirx_trn", "toy_dataflow")))
