"""Core's neutral variants, listed for somebody else's machine or got by a kind whose parent is `generic`: waves of 64, `lds`."""

from __future__ import annotations

import numpy as np

import tirx
from tirx import backend
from tirx import script as Tx
from tirx.layout import S, TileLayout
from tirx.layout.syntax import AxisNames as Axis
from tirx.sim.row import Simulator
from tirx.target import TargetKind
from tirx.tile import Variant
from tirx.transform.pipeline import Pipeline
from tirx.variants import neutral_variants

LANES = TileLayout(S[(4, 64) : (1, 1 @ Axis.laneid)])  # each lane of a wave one element of every row


@Tx.prim_func
def everything(A: Tx.Buffer((32, 64), "float32"), B: Tx.Buffer((32, 64), "float32"), C: Tx.Buffer((32,), "float32")):
    Tx.device_entry()
    Tx.thread_id([128])
    wave = Tx.warp_id()
    kept = Tx.alloc_buffer((32, 64), "float32", scope="lds")
    held = Tx.alloc_buffer((4, 64), "float32", scope="local", layout=LANES)
    Tx.cta.copy_async(kept, A)
    Tx.tvm_storage_sync("shared")
    Tx.cta.mul(kept, kept, 2.0)
    Tx.tvm_storage_sync("shared")
    Tx.cta.sum(C, kept)
    Tx.tvm_storage_sync("shared")
    for turn in range(4):
        row = turn * 8 + wave * 4
        Tx.warp.copy(held, kept[row : row + 4, :])
        Tx.warp.add(held, held, 1.0)
        Tx.warp.max(C[row : row + 4], held, accum=True, thread_reduce=True)
        Tx.warp.copy(B[row : row + 4, :], held)


class Lists:
    """Core's variants as rows for `wavefront`; and a kind like it whose parent is `generic`."""

    @backend.hookimpl
    def tirx_dispatch_variants(self) -> list[Variant]:
        return list(neutral_variants("wavefront"))

    @backend.hookimpl
    def tirx_target_kinds(self) -> list[TargetKind]:
        like = backend.find("target_kinds", "wavefront")
        parts = {name: getattr(like, name) for name in ("doc", "attributes", "scope_model", "capabilities", "limits")}
        return [TargetKind("ripple", parent="generic", **parts)]

    @backend.hookimpl
    def tirx_pipelines(self) -> list[Pipeline]:
        like = backend.find("pipelines", "wavefront")
        return [Pipeline("ripple", lower=like.lower, prepare=like.prepare)]

    @backend.hookimpl
    def tirx_simulators(self) -> list[Simulator]:
        return [Simulator("ripple", "simt")]


def shown(target: str) -> None:
    """The result, which variants were taken, and whose they are."""
    a = np.random.default_rng(1).integers(0, 9, (32, 64)).astype("float32")
    b, c = np.zeros((32, 64), "float32"), np.zeros(32, "float32")
    report = tirx.simulate(everything, a, b, c, target=target)
    wanted = 2 * a + 1
    print(
        report.verdict, np.array_equal(b, wanted), np.array_equal(c, np.maximum(2 * a.sum(axis=1), wanted.max(axis=1)))
    )
    decisions = tirx.compile(everything, target=target).decisions
    print(*(f"{item.call.op.name}:{item.chosen.variant.name}" for item in decisions))
    print({item.chosen.owner.distribution for item in decisions})


if __name__ == "__main__":
    backend.load("wavefront")
    backend.register("lists", Lists(), distribution="tirx-lists")
    backend.load("lists")
    shown("wavefront")
    shown("ripple")
