"""Attention forward in float32: causal, with a sliding window of keys, a bias for each distance, a soft cap of the scores, and
an RMSNorm of each output row, written in float32 and quantised to int8 with one scale for each row.

One block of 128 threads computes 32 rows of one head.
"""

from tirx import script as T
from tirx.layout import S, TileLayout

HEADS, LENGTH, WIDTH, WINDOW = 2, 128, 64, 64
PADDED = TileLayout(S[(32, WIDTH) : (WIDTH + 1, 1)])  # one element of padding for each row: no bank conflicts


@T.prim_func
def attention(
    q_ptr: T.handle,
    k_ptr: T.handle,
    v_ptr: T.handle,
    bias_ptr: T.handle,
    gamma_ptr: T.handle,
    o_ptr: T.handle,
    o8_ptr: T.handle,
    s8_ptr: T.handle,
    l_ptr: T.handle,
    scale: T.float32,
    cap: T.float32,
    epsilon: T.float32,
):
    q = T.match_buffer(q_ptr, (HEADS, LENGTH, WIDTH), "float32")
    k = T.match_buffer(k_ptr, (HEADS, LENGTH, WIDTH), "float32")
    v = T.match_buffer(v_ptr, (HEADS, LENGTH, WIDTH), "float32")
    bias = T.match_buffer(bias_ptr, (HEADS, WINDOW), "float32")
    gamma = T.match_buffer(gamma_ptr, (WIDTH,), "float32")
    o = T.match_buffer(o_ptr, (HEADS, LENGTH, WIDTH), "float32")
    o8 = T.match_buffer(o8_ptr, (HEADS, LENGTH, WIDTH), "int8")
    s8 = T.match_buffer(s8_ptr, (HEADS, LENGTH), "float32")
    lse = T.match_buffer(l_ptr, (HEADS, LENGTH), "float32")
    T.device_entry()
    bx, head = T.cta_id([LENGTH // 32, HEADS])
    tx = T.thread_id([128])
    warp: T.let = tx // 32
    lane: T.let = tx % 32

    # Shared memory: queries of this block, one tile of keys and values, the scores, what is known of each row.
    q_tile = T.alloc_shared((32, WIDTH), "float32", layout=PADDED)
    k_tile = T.alloc_shared((32, WIDTH), "float32", layout=PADDED)
    v_tile = T.alloc_shared((32, WIDTH), "float32", layout=PADDED)
    scores = T.alloc_shared((32, 33), "float32")
    bias_tile = T.alloc_shared((WINDOW,), "float32")
    row_max = T.alloc_shared((32,), "float32")
    row_sum = T.alloc_shared((32,), "float32")
    row_scale = T.alloc_shared((32,), "float32")

    # Registers: each thread owns a quarter of one row of the output.
    my_row: T.let = tx // 4
    my_col: T.let = tx % 4 * 16
    acc = T.alloc_local((16,), "float32")
    for i in T.unroll(16):
        acc[i] = T.float32(0.0)

    # Load the queries, scaled once, and the biases of this head.
    for i in T.serial(16):
        q_tile[i * 2 + tx // 64, tx % 64] = q[head, bx * 32 + i * 2 + tx // 64, tx % 64] * scale
    if tx < WINDOW:
        bias_tile[tx] = bias[head, tx]
    if tx < 32:
        row_max[tx] = T.float32(-3.0e38)
        row_sum[tx] = T.float32(0.0)
    T.cuda.cta_sync()

    for tile in T.serial(LENGTH // 32):
        # Tiles beyond the diagonal and outside the window do not count.
        if tile <= bx and tile + WINDOW // 32 >= bx:
            # Load the keys and values of this tile.
            for i in T.serial(16):
                k_tile[i * 2 + tx // 64, tx % 64] = k[head, tile * 32 + i * 2 + tx // 64, tx % 64]
                v_tile[i * 2 + tx // 64, tx % 64] = v[head, tile * 32 + i * 2 + tx // 64, tx % 64]
            T.cuda.cta_sync()

            # Scores: each warp computes eight rows, each lane one column.
            for r in T.unroll(8):
                total: T.float32 = T.float32(0.0)
                for d in T.unroll(64):
                    total = total + q_tile[warp * 8 + r, d] * k_tile[lane, d]
                distance: T.int32 = bx * 32 + warp * 8 + r - tile * 32 - lane
                if distance >= 0 and distance < WINDOW:
                    total = total + bias_tile[distance]
                    total = cap * T.tanh(total / cap)
                    scores[warp * 8 + r, lane] = total
                else:
                    scores[warp * 8 + r, lane] = T.float32(-3.0e38)
            T.cuda.cta_sync()

            # Running maximum and sum of each row.
            for r in T.unroll(8):
                value: T.float32 = scores[warp * 8 + r, lane]
                tile_max: T.float32 = T.cuda.warp_max(value)
                new_max: T.float32 = T.max(tile_max, row_max[warp * 8 + r])
                power: T.float32 = T.exp(value - new_max)
                tile_sum: T.float32 = T.cuda.warp_sum(power)
                scores[warp * 8 + r, lane] = power
                T.cuda.warp_sync()
                if lane == 0:
                    factor: T.float32 = T.exp(row_max[warp * 8 + r] - new_max)
                    row_scale[warp * 8 + r] = factor
                    row_sum[warp * 8 + r] = row_sum[warp * 8 + r] * factor + tile_sum
                    row_max[warp * 8 + r] = new_max
            T.cuda.cta_sync()

            # Rescale what was there, add this tile's part.
            for i in T.unroll(16):
                acc[i] = acc[i] * row_scale[my_row]
            for j in T.serial(32):
                weight: T.float32 = scores[my_row, j]
                for i in T.unroll(16):
                    acc[i] = acc[i] + weight * v_tile[j, my_col + i]
            T.cuda.cta_sync()

    # Divide by the sum, then normalise the row: the four threads of a row share their squares through shared memory.
    squares: T.float32 = T.float32(0.0)
    inverse: T.float32 = T.float32(1.0) / row_sum[my_row]
    for i in T.unroll(16):
        acc[i] = acc[i] * inverse
        squares = squares + acc[i] * acc[i]
    scores[my_row, tx % 4] = squares
    T.cuda.cta_sync()
    norm: T.float32 = T.float32(0.0)
    for i in T.unroll(4):
        norm = norm + scores[my_row, i]
    norm = T.rsqrt(norm / T.float32(float(WIDTH)) + epsilon)

    for i in T.unroll(16):
        acc[i] = acc[i] * norm * gamma[my_col + i]

    # Quantise: the largest magnitude of the row becomes 127.
    largest: T.float32 = T.float32(0.0)
    for i in T.unroll(16):
        largest = T.max(largest, T.fabs(acc[i]))
    T.cuda.cta_sync()
    scores[my_row, tx % 4] = largest
    T.cuda.cta_sync()
    for i in T.unroll(4):
        largest = T.max(largest, scores[my_row, i])
    step: T.float32 = T.max(largest, T.float32(1.0e-20)) / T.float32(127.0)
    for i in T.unroll(16):
        level: T.float32 = acc[i] / step
        if level > T.float32(127.0):
            level = T.float32(127.0)
        if level < T.float32(-127.0):
            level = T.float32(-127.0)
        o8[head, bx * 32 + my_row, my_col + i] = T.cast(level, "int8")
    if tx % 4 == 0:
        s8[head, bx * 32 + my_row] = step

    # Write the results: each thread its quarter row, one warp the logarithms of the sums.
    for i in T.unroll(16):
        o[head, bx * 32 + my_row, my_col + i] = acc[i]
    if tx < 32:
        lse[head, bx * 32 + tx] = row_max[tx] + T.log(row_sum[tx])
