# docs/examples/kernels/tile_batched_gemm.py
A_LANES = TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]).tile_to([32, 32], [16, 16])
B_LANES = TileLayout(S[(2, 4, 2, 8) : (2, 1 @ laneid, 1, 4 @ laneid)]).tile_to([32, 32], [16, 8])
C_LANES = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]).tile_to([32, 32], [16, 8])
SHARED = ComposeLayout(3, 2, 3, TileLayout(S[4, 32, 32]))


@Tx.prim_func
def batched_gemm(
    A: Tx.Buffer((64, 32, 32), "bfloat16"),
    B: Tx.Buffer((64, 32, 32), "bfloat16"),
    C: Tx.Buffer((64, 32, 32), "float32"),
):
    Tx.device_entry()
    block = Tx.cta_id([16])
    warp = Tx.warp_id([4])
    Tx.lane_id([32])
    As = Tx.alloc_shared((4, 32, 32), "bfloat16", layout=SHARED)
    Bs = Tx.alloc_shared((4, 32, 32), "bfloat16", layout=SHARED)
    a = Tx.alloc_local((32, 32), "bfloat16", layout=A_LANES)
    b = Tx.alloc_local((32, 32), "bfloat16", layout=B_LANES)
    c = Tx.alloc_local((32, 32), "float32", layout=C_LANES)
    Tx.warp.copy_async(As[warp, :, :], A[block * 4 + warp, :, :])
    Tx.warp.copy_async(Bs[warp, :, :], B[block * 4 + warp, :, :])
    Tx.ptx.cp.async_.wait_all()
    Tx.cuda.warp_sync()
    Tx.warp.copy(a, As[warp, :, :])
    Tx.warp.copy(b, Bs[warp, :, :])
    Tx.warp.gemm(c, a, b, c)
    Tx.warp.copy(C[block * 4 + warp, :, :], c)
