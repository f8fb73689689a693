"""A kernel that uses an extension of somebody else's backend."""

from __future__ import annotations

import sys

import numpy as np

import tirx
from tirx import script as Tx


@Tx.prim_func
def doubled(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    A[tx] = Tx.wave_fast.double(A[tx])


def marked(**options) -> bool:
    """Whether the extension's pass ran."""
    executable = tirx.compile(doubled, target="wavefront", **options)
    return all(func.attrs.get("toy.marked", False) for func in executable.lowered)


if __name__ == "__main__":
    a = np.arange(64, dtype="float32")
    print(tirx.simulate(doubled, a, target="wavefront").verdict, np.array_equal(a, 2 * np.arange(64)))
    print(marked(), marked(extensions=["wavefront.fast"]))
    print(*(" ".join(item) for item in tirx.compile(doubled, target="wavefront").provenance), sep=", ")
    print(sorted(name for name in sys.modules if name in ("tirx_cuda", "tirx_trn", "toy_dataflow")))
