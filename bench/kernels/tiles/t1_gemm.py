# docs/examples/kernels/tile_gemm.py. The peer moves 16 bytes only where it sees in the call itself that addresses are
# multiples of them, so the next step of K has no name; it casts from registers to registers only, so the result has a
# tile of halves.
A_LANES = TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)]).tile_to([64, 16], [16, 16])
B_LANES = TileLayout(S[(2, 4, 2, 8) : (2, 1 @ laneid, 1, 4 @ laneid)]).tile_to([16, 32], [16, 8])
C_LANES = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]).tile_to([64, 32], [16, 8])
A_SHARED = ComposeLayout(3, 2, 3, TileLayout(S[2, 128, 32]))
B_SHARED = ComposeLayout(3, 3, 4, TileLayout(S[2, 32, 128]))


@Tx.prim_func
def gemm(A: Tx.Buffer((512, 512), "float16"), B: Tx.Buffer((512, 512), "float16"), C: Tx.Buffer((512, 512), "float16")):
    Tx.device_entry()
    bx, by = Tx.cta_id([4, 4])
    warp = Tx.warp_id([8])
    Tx.lane_id([32])
    As = Tx.alloc_shared((2, 128, 32), "float16", layout=A_SHARED)
    Bs = Tx.alloc_shared((2, 32, 128), "float16", layout=B_SHARED)
    a = Tx.alloc_local((64, 16), "float16", layout=A_LANES)
    b = Tx.alloc_local((16, 32), "float16", layout=B_LANES)
    acc = Tx.alloc_local((64, 32), "float32", layout=C_LANES)
    done = Tx.alloc_local((64, 32), "float16", layout=C_LANES)
    row: Tx.let = warp // 4 * 64
    col: Tx.let = warp % 4 * 32

    Tx.cta.copy_async(As[0, :, :], A[by * 128 : by * 128 + 128, 0:32])
    Tx.cta.copy_async(Bs[0, :, :], B[0:32, bx * 128 : bx * 128 + 128])
    Tx.ptx.cp.async_.commit_group()
    Tx.warp.fill(acc, 0.0)
    for k in Tx.serial(16):
        if k + 1 < 16:
            Tx.cta.copy_async(As[(k + 1) % 2, :, :], A[by * 128 : by * 128 + 128, (k + 1) * 32 : (k + 1) * 32 + 32])
            Tx.cta.copy_async(Bs[(k + 1) % 2, :, :], B[(k + 1) * 32 : (k + 1) * 32 + 32, bx * 128 : bx * 128 + 128])
        Tx.ptx.cp.async_.commit_group()
        Tx.ptx.cp.async_.wait_group(1)
        Tx.cuda.cta_sync()
        for step in Tx.unroll(2):
            Tx.warp.copy(a, As[k % 2, row : row + 64, step * 16 : step * 16 + 16])
            Tx.warp.copy(b, Bs[k % 2, step * 16 : step * 16 + 16, col : col + 32])
            Tx.warp.gemm(acc, a, b, acc, beta=1.0)
        Tx.cuda.cta_sync()
    Tx.warp.cast(done, acc)
    Tx.warp.copy(C[by * 128 + row : by * 128 + row + 64, bx * 128 + col : bx * 128 + col + 32], done)
