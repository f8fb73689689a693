"""Matrix product of halves on Hopper: tensor copies (TMA) feed asynchronous products of a warpgroup.

A block computes 128 x 128 of C. One thread of a fifth warp copies tiles of A and B into a ring of four stages; each stage has a barrier
that the copies complete, and one at which the consumers say that they have read it. A warpgroup multiplies from shared memory
(`wgmma`), always with one group of products still running; at the end it writes its tile through shared memory, and one tensor copy
brings that to C, as far as C reaches: sizes need be no multiples of the tile's. Rows are multiples of 16 bytes (8 halves).
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx
from tirx_cuda.lang import Pipeline, PipelineState, SMEMPool, WarpRole
from tirx_cuda.layout.shared import mma_shared_layout

M_TILE, N_TILE, K_TILE, STAGES = 128, 128, 64, 4
HALVES = M_TILE // 64  # a product has 64 rows
CONSUMERS, PRODUCER = range(4), 4  # warps
STAGE_BYTES = (M_TILE + N_TILE) * K_TILE * 2
SWIZZLE = 3  # rows of 128 bytes
PARTS = (N_TILE // 64, M_TILE, 64)  # of C: a copy each
ROWS_OF_8 = 8 * K_TILE * 2 // 16  # from eight rows to the next, in units of 16 bytes

LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
PRODUCT = f"wgmma.mma_async.sync.aligned.m64n{N_TILE}k16.f32.f16.f16"


@Tx.inline
def multiply(acc, a, b):
    """A stage of the ring: `acc += a @ b.T`."""
    for half in Tx.unroll(HALVES):
        for step in Tx.unroll(K_TILE // 16):
            sums = [acc[half, i] for i in range(N_TILE // 2)]
            rows = Tx.meta_var(a + Tx.uint64(half * 64 * K_TILE * 2 // 16 + step * 2))
            columns = Tx.meta_var(b + Tx.uint64(step * 2))
            Tx.ptx[PRODUCT](*sums, rows, columns, True, 1, 1, 0, 0)


@Tx.prim_func
def hopper_gemm(
    A: Tx.Buffer(("m", "k"), "float16"), B: Tx.Buffer(("n", "k"), "float16"), C: Tx.Buffer(("m", "n"), "float16")
):
    A_map = Tx.cuda.tensor_map(A, box=(M_TILE, K_TILE), swizzle="128B")
    B_map = Tx.cuda.tensor_map(B, box=(N_TILE, K_TILE), swizzle="128B")
    C_map = Tx.cuda.tensor_map(C, box=(M_TILE, 64), swizzle="128B")
    Tx.device_entry()
    bx, by = Tx.cta_id([Tx.ceildiv(n, N_TILE), Tx.ceildiv(m, M_TILE)])
    warp = Tx.warp_id([5])
    lane = Tx.lane_id([32])
    pool = SMEMPool()
    As = pool.alloc_tcgen05_mma_AB((STAGES, M_TILE, K_TILE), "float16", swizzle_mode=SWIZZLE)
    Bs = pool.alloc_tcgen05_mma_AB((STAGES, N_TILE, K_TILE), "float16", swizzle_mode=SWIZZLE)
    Cs = pool.alloc(PARTS, "float16", align=1024, layout=mma_shared_layout("float16", SWIZZLE, PARTS))
    pipe = Pipeline(pool, STAGES, full="tma", empty="mbar", init_empty=len(CONSUMERS), empty_phase_offset=1)
    pool.commit()
    Tx.ptx.fence.proxy.async_()
    Tx.cuda.cta_sync()
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

    with WarpRole(warp, CONSUMERS):
        acc = Tx.alloc_local((HALVES, N_TILE // 2), "float32")
        for half, i in Tx.grid(HALVES, N_TILE // 2):
            acc[half, i] = 0.0
        a: Tx.uint64 = Tx.uint64(0)
        b: Tx.uint64 = Tx.uint64(0)
        Tx.cuda.wgmma.encode_matrix_descriptor(a, As.ptr_to([0, 0, 0]), 1, ROWS_OF_8, SWIZZLE)
        Tx.cuda.wgmma.encode_matrix_descriptor(b, Bs.ptr_to([0, 0, 0]), 1, ROWS_OF_8, SWIZZLE)
        use = PipelineState(STAGES, 0)
        done = PipelineState(STAGES, 0)
        for step in range(steps):
            pipe.full.wait(use.stage, use.phase)
            Tx.ptx.wgmma.fence.sync.aligned()
            moved: Tx.let = Tx.cast(use.stage, "uint64")
            multiply(
                acc, a + moved * Tx.uint64(M_TILE * K_TILE * 2 // 16), b + moved * Tx.uint64(N_TILE * K_TILE * 2 // 16)
            )
            Tx.ptx.wgmma.commit_group.sync.aligned()
            Tx.ptx.wgmma.wait_group.sync.aligned(1)
            if step > 0:  # the products before these have read their stage
                if lane == 0:
                    pipe.empty.arrive(done.stage)
                done.advance()
            use.advance()
        Tx.ptx.wgmma.wait_group.sync.aligned(0)

        # Register i of a thread: row lane / 4 (+ 8), columns 8 (i / 4) + 2 (lane % 4) and the next.
        for half in Tx.unroll(HALVES):
            for i in Tx.unroll(N_TILE // 4):
                row: Tx.let = half * 64 + warp * 16 + lane // 4 + i % 2 * 8
                column: Tx.let = i // 2 * 8 + lane % 4 * 2
                for side in Tx.vectorized(2):
                    Cs[column // 64, row, column % 64 + side] = Tx.cast(acc[half, 2 * i + side], "float16")
        Tx.ptx.fence.proxy.async_()
        Tx.cuda.warpgroup_sync(1)
        if warp == 0:  # noqa: SIM102 - whoever elects is a whole warp
            if Tx.cuda.elect_sync():
                for part in Tx.unroll(N_TILE // 64):
                    Tx.ptx[STORE](C_map, bx * N_TILE + part * 64, by * M_TILE, Cs.ptr_to([part, 0, 0]))
                Tx.ptx.cp.async_.bulk.commit_group()
                Tx.ptx.cp.async_.bulk.wait_group.read(0)


KERNEL = hopper_gemm
TARGET = "cuda -arch=sm_90a"
ARCHITECTURES = ("sm_90a",)
TOLERANCE = 2e-3


def arguments(rng, m=264, n=136, k=200):
    """Two matrices, the second by columns, and room for their product; no size is a multiple of the tile's."""
    a = rng.standard_normal((m, k)).astype(np.float16)
    return a, rng.standard_normal((n, k)).astype(np.float16), np.empty((m, n), np.float16)


def expected(A, B, C):
    """What the arrays hold afterwards."""
    return {"C": A.astype(np.float64) @ B.astype(np.float64).T}
