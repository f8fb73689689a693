@Tx.prim_func
def scale(x: Tx.Buffer((1048576,), "float32"), y: Tx.Buffer((1048576,), "float32"), a: Tx.float32):
    Tx.device_entry()
    bx = Tx.cta_id([4096])
    tx = Tx.thread_id([256])
    y[bx * 256 + tx] = a * x[bx * 256 + tx]
