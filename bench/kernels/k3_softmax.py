@Tx.prim_func
def softmax(x: Tx.Buffer((4096, 1024), "float32"), y: Tx.Buffer((4096, 1024), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([1024])
    warp = Tx.warp_id([4])
    lane = Tx.lane_id([32])
    row: Tx.let = bx * 4 + warp
    values = Tx.alloc_local((32,), "float32")
    largest: Tx.float32 = Tx.float32(-3.0e38)
    for i in Tx.unroll(32):
        values[i] = x[row, i * 32 + lane]
        largest = Tx.max(largest, values[i])
    largest = Tx.cuda.warp_max(largest)
    total: Tx.float32 = Tx.float32(0.0)
    for i in Tx.unroll(32):
        values[i] = Tx.exp(values[i] - largest)
        total = total + values[i]
    total = Tx.cuda.warp_sum(total)
    for i in Tx.unroll(32):
        y[row, i * 32 + lane] = values[i] / total
