@Tx.prim_func
def attention(
    q_ptr: Tx.handle,
    k_ptr: Tx.handle,
    v_ptr: Tx.handle,
    bias_ptr: Tx.handle,
    gamma_ptr: Tx.handle,
    o_ptr: Tx.handle,
    o8_ptr: Tx.handle,
    s8_ptr: Tx.handle,
    l_ptr: Tx.handle,
    scale: Tx.float32,
    cap: Tx.float32,
    epsilon: Tx.float32,
):
    # Attention forward in float32: causal, with a sliding window of 256 keys, a bias for each distance, a soft cap of the
    # scores, and an RMSNorm of each output row, written in float32 and quantised to int8 with one scale for each row.
    # One block of 128 threads computes 32 rows of one head.
    q = Tx.match_buffer(q_ptr, (8, 1024, 64), "float32")
    k = Tx.match_buffer(k_ptr, (8, 1024, 64), "float32")
    v = Tx.match_buffer(v_ptr, (8, 1024, 64), "float32")
    bias = Tx.match_buffer(bias_ptr, (8, 256), "float32")
    gamma = Tx.match_buffer(gamma_ptr, (64,), "float32")
    o = Tx.match_buffer(o_ptr, (8, 1024, 64), "float32")
    o8 = Tx.match_buffer(o8_ptr, (8, 1024, 64), "int8")
    s8 = Tx.match_buffer(s8_ptr, (8, 1024), "float32")
    lse = Tx.match_buffer(l_ptr, (8, 1024), "float32")
    Tx.device_entry()
    bx, head = Tx.cta_id([32, 8])
    tx = Tx.thread_id([128])
    warp: Tx.let = tx // 32
    lane: Tx.let = tx % 32

    # Shared memory: queries of this block, one tile of keys and values, the scores, what is known of each row.
    q_tile = Tx.alloc_shared((32, 65), "float32")
    k_tile = Tx.alloc_shared((32, 65), "float32")
    v_tile = Tx.alloc_shared((32, 65), "float32")
    scores = Tx.alloc_shared((32, 33), "float32")
    bias_tile = Tx.alloc_shared((256,), "float32")
    row_max = Tx.alloc_shared((32,), "float32")
    row_sum = Tx.alloc_shared((32,), "float32")
    row_scale = Tx.alloc_shared((32,), "float32")

    # Registers: each thread owns a quarter of one row of the output.
    my_row: Tx.let = tx // 4
    my_col: Tx.let = tx % 4 * 16
    acc = Tx.alloc_local((16,), "float32")
    for i in Tx.unroll(16):
        acc[i] = Tx.float32(0.0)

    # Load the queries, scaled once, and the biases of this head.
    for i in Tx.serial(16):
        q_tile[i * 2 + tx // 64, tx % 64] = q[head, bx * 32 + i * 2 + tx // 64, tx % 64] * scale
    for i in Tx.unroll(2):
        bias_tile[i * 128 + tx] = bias[head, i * 128 + tx]
    if tx < 32:
        row_max[tx] = Tx.float32(-3.0e38)
        row_sum[tx] = Tx.float32(0.0)
    Tx.cuda.cta_sync()

    for tile in Tx.serial(32):
        # Tiles beyond the diagonal and outside the window do not count.
        if tile <= bx and tile + 8 >= bx:
            # Load the keys and values of this tile.
            for i in Tx.serial(16):
                k_tile[i * 2 + tx // 64, tx % 64] = k[head, tile * 32 + i * 2 + tx // 64, tx % 64]
                v_tile[i * 2 + tx // 64, tx % 64] = v[head, tile * 32 + i * 2 + tx // 64, tx % 64]
            Tx.cuda.cta_sync()

            # Scores: each warp computes eight rows, each lane one column.
            for r in Tx.unroll(8):
                total: Tx.float32 = Tx.float32(0.0)
                for d in Tx.unroll(64):
                    total = total + q_tile[warp * 8 + r, d] * k_tile[lane, d]
                distance: Tx.int32 = bx * 32 + warp * 8 + r - tile * 32 - lane
                if distance >= 0 and distance < 256:
                    total = total + bias_tile[distance]
                    total = cap * Tx.tanh(total / cap)
                    scores[warp * 8 + r, lane] = total
                else:
                    scores[warp * 8 + r, lane] = Tx.float32(-3.0e38)
            Tx.cuda.cta_sync()

            # Running maximum and sum of each row.
            for r in Tx.unroll(8):
                value: Tx.float32 = scores[warp * 8 + r, lane]
                tile_max: Tx.float32 = Tx.cuda.warp_max(value)
                new_max: Tx.float32 = Tx.max(tile_max, row_max[warp * 8 + r])
                power: Tx.float32 = Tx.exp(value - new_max)
                tile_sum: Tx.float32 = Tx.cuda.warp_sum(power)
                scores[warp * 8 + r, lane] = power
                Tx.cuda.warp_sync()  # everybody has read row_max
                if lane == 0:
                    factor: Tx.float32 = Tx.exp(row_max[warp * 8 + r] - new_max)
                    row_scale[warp * 8 + r] = factor
                    row_sum[warp * 8 + r] = row_sum[warp * 8 + r] * factor + tile_sum
                    row_max[warp * 8 + r] = new_max
            Tx.cuda.cta_sync()

            # Rescale what was there, add this tile's part.
            for i in Tx.unroll(16):
                acc[i] = acc[i] * row_scale[my_row]
            for j in Tx.serial(32):
                weight: Tx.float32 = scores[my_row, j]
                for i in Tx.unroll(16):
                    acc[i] = acc[i] + weight * v_tile[j, my_col + i]
            Tx.cuda.cta_sync()

    # Divide by the sum, then normalise the row: the four threads of a row share their squares through shared memory.
    squares: Tx.float32 = Tx.float32(0.0)
    inverse: Tx.float32 = Tx.float32(1.0) / row_sum[my_row]
    for i in Tx.unroll(16):
        acc[i] = acc[i] * inverse
        squares = squares + acc[i] * acc[i]
    scores[my_row, tx % 4] = squares
    Tx.cuda.cta_sync()
    norm: Tx.float32 = Tx.float32(0.0)
    for i in Tx.unroll(4):
        norm = norm + scores[my_row, i]
    norm = Tx.rsqrt(norm / Tx.float32(64.0) + epsilon)

    for i in Tx.unroll(16):
        acc[i] = acc[i] * norm * gamma[my_col + i]

    # Quantise: the largest magnitude of the row becomes 127.
    largest: Tx.float32 = Tx.float32(0.0)
    for i in Tx.unroll(16):
        largest = Tx.max(largest, Tx.fabs(acc[i]))
    Tx.cuda.cta_sync()
    scores[my_row, tx % 4] = largest
    Tx.cuda.cta_sync()
    for i in Tx.unroll(4):
        largest = Tx.max(largest, scores[my_row, i])
    step: Tx.float32 = Tx.max(largest, Tx.float32(1.0e-20)) / Tx.float32(127.0)
    for i in Tx.unroll(16):
        level: Tx.float32 = acc[i] / step
        if level > Tx.float32(127.0):
            level = Tx.float32(127.0)
        if level < Tx.float32(-127.0):
            level = Tx.float32(-127.0)
        o8[head, bx * 32 + my_row, my_col + i] = Tx.cast(level, "int8")
    if tx % 4 == 0:
        s8[head, bx * 32 + my_row] = step

    # Write the results: each thread its quarter row, one warp the logarithms of the sums.
    for i in Tx.unroll(16):
        o[head, bx * 32 + my_row, my_col + i] = acc[i]
    if tx < 32:
        lse[head, bx * 32 + tx] = row_max[tx] + Tx.log(row_sum[tx])
