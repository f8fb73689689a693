"""Matrix product of halves on Blackwell: tensor copies (TMA) feed products in tensor memory.

A block computes 128 x 128 of C. One thread of a fifth warp copies tiles of A and B into a ring of four stages; one thread of a sixth
starts the products (`tcgen05.mma`), whose sums lie in tensor memory, and lets the barriers of the ring know when they have read a stage.
When all are done, four warps bring the sums through registers and shared memory to C, as far as C reaches: sizes need be no multiples
of the tile's. Rows are multiples of 16 bytes (8 halves).
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx
from tirx_cuda.lang import Pipeline, PipelineState, SmemDescriptor, SMEMPool, TCGen05Bar, TMEMPool, WarpRole
from tirx_cuda.layout.shared import mma_shared_layout

M_TILE, N_TILE, K_TILE, STAGES = 128, 128, 64, 4
WRITERS, PRODUCER, MULTIPLIER = range(4), 4, 5  # warps
STAGE_BYTES = (M_TILE + N_TILE) * K_TILE * 2
SWIZZLE = 3  # rows of 128 bytes
PARTS = (N_TILE // 64, M_TILE, 64)  # of C: a copy each
ROWS_OF_8 = 8 * K_TILE * 2 // 16  # from eight rows to the next, in units of 16 bytes
COLUMNS = 32  # that a warp loads at once

LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"


@Tx.prim_func
def blackwell_gemm(
    A: Tx.Buffer(("m", "k"), "float16"), B: Tx.Buffer(("n", "k"), "float16"), C: Tx.Buffer(("m", "n"), "float16")
):
    A_map = Tx.cuda.tensor_map(A, box=(M_TILE, K_TILE), swizzle="128B")
    B_map = Tx.cuda.tensor_map(B, box=(N_TILE, K_TILE), swizzle="128B")
    C_map = Tx.cuda.tensor_map(C, box=(M_TILE, 64), swizzle="128B")
    Tx.device_entry()
    bx, by = Tx.cta_id([Tx.ceildiv(n, N_TILE), Tx.ceildiv(m, M_TILE)])
    warp = Tx.warp_id([6])
    lane = Tx.lane_id([32])
    pool = SMEMPool()
    As = pool.alloc_tcgen05_mma_AB((STAGES, M_TILE, K_TILE), "float16", swizzle_mode=SWIZZLE)
    Bs = pool.alloc_tcgen05_mma_AB((STAGES, N_TILE, K_TILE), "float16", swizzle_mode=SWIZZLE)
    Cs = pool.alloc(PARTS, "float16", align=1024, layout=mma_shared_layout("float16", SWIZZLE, PARTS))
    pipe = Pipeline(pool, STAGES, full="tma", empty="tcgen05", empty_phase_offset=1)
    finished = TCGen05Bar(pool, 1)
    finished.init(1)
    tmem = TMEMPool(pool, total_cols=N_TILE)
    pool.commit()
    tmem.commit()
    Tx.ptx.fence.proxy.async_()
    Tx.ptx.tcgen05.fence__before_thread_sync()
    Tx.cuda.cta_sync()
    Tx.ptx.tcgen05.fence__after_thread_sync()
    sums: Tx.let = tmem.addr
    steps: Tx.let = Tx.ceildiv(k, K_TILE)

    with WarpRole(warp, PRODUCER):
        if Tx.cuda.elect_sync():
            fill = PipelineState(STAGES, 0)
            for step in range(steps):
                pipe.empty.wait(fill.stage, fill.phase)
                pipe.full.arrive(fill.stage, tx_count=STAGE_BYTES)
                ready: Tx.let = pipe.full.ptr_to(fill.stage)
                Tx.ptx[LOAD](As.ptr_to([fill.stage, 0, 0]), A_map, step * K_TILE, by * M_TILE, ready)
                Tx.ptx[LOAD](Bs.ptr_to([fill.stage, 0, 0]), B_map, step * K_TILE, bx * N_TILE, ready)
                fill.advance()

    with WarpRole(warp, MULTIPLIER):
        if Tx.cuda.elect_sync():
            a = SmemDescriptor()
            b = SmemDescriptor()
            a.init(As.ptr_to([0, 0, 0]), 1, ROWS_OF_8, SWIZZLE)
            b.init(Bs.ptr_to([0, 0, 0]), 1, ROWS_OF_8, SWIZZLE)
            kind: Tx.uint32 = Tx.uint32(0)
            Tx.cuda.tcgen05.encode_instr_descriptor(kind, "float32", "float16", "float16", M_TILE, N_TILE, 16)
            use = PipelineState(STAGES, 0)
            for step in range(steps):
                pipe.full.wait(use.stage, use.phase)
                Tx.ptx.tcgen05.fence__after_thread_sync()
                for part in Tx.unroll(K_TILE // 16):
                    rows = Tx.meta_var(a.add_16B_offset(use.stage * (M_TILE * K_TILE * 2 // 16) + part * 2))
                    columns = Tx.meta_var(b.add_16B_offset(use.stage * (N_TILE * K_TILE * 2 // 16) + part * 2))
                    Tx.ptx.tcgen05.mma.cta_group__1.kind__f16(sums, rows, columns, kind, Tx.Or(step > 0, part > 0))
                pipe.empty.arrive(use.stage)
                use.advance()
            finished.arrive(0)

    with WarpRole(warp, WRITERS):
        finished.wait(0, 0)
        Tx.ptx.tcgen05.fence__after_thread_sync()
        row: Tx.let = warp * 32 + lane
        part = Tx.alloc_local((COLUMNS,), "uint32")
        for first in Tx.unroll(N_TILE // COLUMNS):
            held = [part[i] for i in range(COLUMNS)]
            Tx.ptx.tcgen05.ld.sync.aligned._32x32b.x32.b32(
                *held, sums + Tx.cast(warp * 32 << 16, "uint32") + first * COLUMNS
            )
            Tx.ptx.tcgen05.wait__ld.sync.aligned()
            for piece in Tx.unroll(COLUMNS // 8):
                column = Tx.meta_var(first * COLUMNS + piece * 8)
                for i in Tx.vectorized(8):
                    value: Tx.let = Tx.reinterpret("float32", part[piece * 8 + i])
                    Cs[column // 64, row, column % 64 + i] = Tx.cast(value, "float16")
        Tx.ptx.tcgen05.fence__before_thread_sync()
        Tx.ptx.fence.proxy.async_()
        Tx.cuda.warpgroup_sync(1)
        if warp == 0:
            if Tx.cuda.elect_sync():
                for side in Tx.unroll(N_TILE // 64):
                    Tx.ptx[STORE](C_map, bx * N_TILE + side * 64, by * M_TILE, Cs.ptr_to([side, 0, 0]))
                Tx.ptx.cp.async_.bulk.commit_group()
                Tx.ptx.cp.async_.bulk.wait_group.read(0)
            Tx.cuda.warp_sync()
            tmem.dealloc()


KERNEL = blackwell_gemm
TARGET = "cuda -arch=sm_100a"
ARCHITECTURES = ("sm_100a",)
TOLERANCE = 2e-3


def arguments(rng, m=264, n=136, k=200):
    """Two matrices, the second by columns, and room for their product; no size is a multiple of the tile's."""
    a = rng.standard_normal((m, k)).astype(np.float16)
    return a, rng.standard_normal((n, k)).astype(np.float16), np.empty((m, n), np.float16)


def expected(A, B, C):
    """What the arrays hold afterwards."""
    return {"C": A.astype(np.float64) @ B.astype(np.float64).T}
