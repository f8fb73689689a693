"""Each element becomes the mean of itself and its neighbours; a block of threads shares what it loads. Here the barrier is forgotten."""

from tirx import script as Tx


@Tx.prim_func
def smooth(x: Tx.Buffer(("n",), "float32"), y: Tx.Buffer(("n",), "float32")):
    Tx.device_entry()
    block = Tx.cta_id([Tx.ceildiv(n, 128)])
    thread = Tx.thread_id([128])
    i: Tx.let = block * 128 + thread
    tile = Tx.alloc_shared((130,), "float32")

    tile[thread + 1] = Tx.if_then_else(i < n, x[i], 0.0)
    if thread == 0:
        tile[0] = Tx.if_then_else(i > 0, x[i - 1], 0.0)
    if thread == 127:
        tile[129] = Tx.if_then_else(i + 1 < n, x[i + 1], 0.0)

    if i < n:
        y[i] = (tile[thread] + tile[thread + 1] + tile[thread + 2]) / 3.0
