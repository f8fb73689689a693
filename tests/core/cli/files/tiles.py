from tirx import script as Tx


@Tx.prim_func
def double(A: Tx.Buffer((32, 64)), B: Tx.Buffer((32, 64))):
    Tx.device_entry()
    Tx.cta_id([1])
    Tx.thread_id([128])
    tile = Tx.alloc_shared((32, 64))
    Tx.cta.copy(tile, A)
    Tx.tvm_storage_sync("shared")
    Tx.cta.mul(B, tile, 2.0)
