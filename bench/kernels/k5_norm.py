@Tx.prim_func
def norm(
    x: Tx.Buffer((4096, 1024), "float16"),
    residual: Tx.Buffer((4096, 1024), "float16"),
    gamma: Tx.Buffer((1024,), "float32"),
    beta: Tx.Buffer((1024,), "float32"),
    y: Tx.Buffer((4096, 1024), "float16"),
    mean_out: Tx.Buffer((4096,), "float32"),
    rstd_out: Tx.Buffer((4096,), "float32"),
    epsilon: Tx.float32,
):
    Tx.device_entry()
    row = Tx.cta_id([4096])
    tx = Tx.thread_id([256])
    warp: Tx.let = tx // 32
    lane: Tx.let = tx % 32
    scratch = Tx.alloc_shared((8,), "float32")
    values = Tx.alloc_local((4,), "float32")
    total: Tx.float32 = Tx.float32(0.0)
    for i in Tx.unroll(4):
        values[i] = Tx.cast(x[row, i * 256 + tx], "float32") + Tx.cast(residual[row, i * 256 + tx], "float32")
        total = total + values[i]
    total = Tx.cuda.warp_sum(total)
    if lane == 0:
        scratch[warp] = total
    Tx.cuda.cta_sync()
    mean: Tx.float32 = Tx.float32(0.0)
    for i in Tx.unroll(8):
        mean = mean + scratch[i]
    mean = mean / Tx.float32(1024.0)
    Tx.cuda.cta_sync()
    spread: Tx.float32 = Tx.float32(0.0)
    for i in Tx.unroll(4):
        spread = spread + (values[i] - mean) * (values[i] - mean)
    spread = Tx.cuda.warp_sum(spread)
    if lane == 0:
        scratch[warp] = spread
    Tx.cuda.cta_sync()
    variance: Tx.float32 = Tx.float32(0.0)
    for i in Tx.unroll(8):
        variance = variance + scratch[i]
    rstd: Tx.float32 = Tx.rsqrt(variance / Tx.float32(1024.0) + epsilon)
    for i in Tx.unroll(4):
        y[row, i * 256 + tx] = Tx.cast(
            (values[i] - mean) * rstd * gamma[i * 256 + tx] + beta[i * 256 + tx], "float16"
        )
    if tx == 0:
        mean_out[row] = mean
        rstd_out[row] = rstd
