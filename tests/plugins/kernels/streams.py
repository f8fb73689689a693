"""A kernel for a machine without threads, and one that such a machine cannot run."""

from __future__ import annotations

import sys

import numpy as np

import tirx
from tirx import script as Tx


@Tx.prim_func
def add_rows(A: Tx.Buffer((8, 16), "float32"), B: Tx.Buffer((8, 16), "float32"), C: Tx.Buffer((8, 16), "float32")):
    Tx.device_entry()
    left = Tx.alloc_buffer((2, 16), "float32", scope="flow.bank")
    right = Tx.alloc_buffer((2, 16), "float32", scope="flow.bank")
    total = Tx.alloc_buffer((2, 16), "float32", scope="flow.bank")
    for i in range(4):
        Tx.flow.load(left, A[i * 2 : i * 2 + 2, 0:16])
        Tx.flow.load(right, B[i * 2 : i * 2 + 2, 0:16])
        Tx.flow.add(total, left, right)
        Tx.flow.store(C[i * 2 : i * 2 + 2, 0:16], total)


@Tx.prim_func
def with_threads(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    A[tx] = 0.0


if __name__ == "__main__":
    a = np.arange(128, dtype="float32").reshape(8, 16)
    c = np.zeros_like(a)
    report = tirx.simulate(add_rows, a, 2 * a, c, target="dataflow")
    print(report.verdict, np.array_equal(c, 3 * a))
    print(tirx.compile(add_rows, target="dataflow").source)
    try:
        tirx.compile(with_threads, target="dataflow")
    except tirx.TirxError as error:
        print(error.message)
    print(sorted(name for name in sys.modules if name in ("tirx_cuda", "tirx_trn", "toy_wavefront")))
