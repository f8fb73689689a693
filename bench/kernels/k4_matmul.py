@Tx.prim_func
def matmul(
    A: Tx.Buffer((512, 512), "float32"), B: Tx.Buffer((512, 512), "float32"), C: Tx.Buffer((512, 512), "float32")
):
    Tx.device_entry()
    bx, by = Tx.cta_id([8, 8])
    tx = Tx.thread_id([256])
    As = Tx.alloc_shared((16, 64), "float32")
    Bs = Tx.alloc_shared((16, 64), "float32")
    acc = Tx.alloc_local((16,), "float32")
    row: Tx.let = tx // 16 * 4
    col: Tx.let = tx % 16 * 4
    for i in Tx.unroll(16):
        acc[i] = Tx.float32(0.0)
    for k in Tx.serial(32):
        for v in Tx.unroll(4):
            As[tx % 16, tx // 16 + v * 16] = A[by * 64 + tx // 16 + v * 16, k * 16 + tx % 16]
            Bs[tx // 64 + v * 4, tx % 64] = B[k * 16 + tx // 64 + v * 4, bx * 64 + tx % 64]
        Tx.cuda.cta_sync()
        for kk in Tx.unroll(16):
            for i in Tx.unroll(4):
                for j in Tx.unroll(4):
                    acc[i * 4 + j] = acc[i * 4 + j] + As[kk, row + i] * Bs[kk, col + j]
        Tx.cuda.cta_sync()
    for i in Tx.unroll(4):
        for j in Tx.unroll(4):
            C[by * 64 + row + i, bx * 64 + col + j] = acc[i * 4 + j]
