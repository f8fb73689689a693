from tirx import script as Tx


@Tx.prim_func
def clear(A: Tx.Buffer((32, 64)), n: Tx.int32):
    Tx.device_entry()
    Tx.cta_id([1])
    thread = Tx.thread_id([128])
    Tx.cta.fill(A, 0.0, dispatch="smem")
    if thread < n:
        Tx.cta.fill(A, 1.0)
