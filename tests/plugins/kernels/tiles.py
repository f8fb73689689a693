"""Tile operations on somebody else's machine: its way to copy, an extension's, and an operation of its own."""

from __future__ import annotations

import sys

import numpy as np

import tirx
from tirx import script as Tx


@Tx.prim_func
def turned(A: Tx.Buffer((256,), "float32"), B: Tx.Buffer((256,), "float32")):
    Tx.device_entry()
    Tx.cta_id([1])
    Tx.thread_id([128])
    kept = Tx.alloc_buffer((256,), "float32", scope="lds")
    Tx.cta.copy(kept, A)
    Tx.tvm_storage_sync("shared")
    Tx.cta.rotate(B, kept)


def chosen(**options) -> list[str]:
    """The variants of both calls."""
    return [item.chosen.variant.name for item in tirx.compile(turned, target="wavefront", **options).decisions]


if __name__ == "__main__":
    a, b = np.arange(256, dtype="float32"), np.zeros(256, dtype="float32")
    for extensions in ([], ["wavefront.fast"]):
        b[:] = 0
        report = tirx.simulate(turned, a, b, target="wavefront", extensions=extensions)
        print(report.verdict, np.array_equal(b, np.roll(a, -1)), *chosen(extensions=extensions))
    print(tirx.explain(turned, "wavefront", extensions=["wavefront.fast"]))
    from tirx.support.late import load_object

    rotate = load_object(tirx.backend.find("tile_ops", "rotate").meaning)
    print(np.array_equal(b, rotate(dst=b, src=a)))
    print(sorted(name for name in sys.modules if name in ("tirx_cuda", "tirx_trn", "toy_dataflow")))
