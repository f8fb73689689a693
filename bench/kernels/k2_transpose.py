@Tx.prim_func
def transpose(a_ptr: Tx.handle, b_ptr: Tx.handle):
    a = Tx.match_buffer(a_ptr, (1024, 768), "float32")
    b = Tx.match_buffer(b_ptr, (768, 1024), "float32")
    Tx.device_entry()
    bx, by = Tx.cta_id([24, 32])
    tx, ty = Tx.thread_id([32, 8])
    tile = Tx.alloc_shared((32, 33), "float32")
    for r in Tx.unroll(4):
        tile[ty + r * 8, tx] = a[by * 32 + ty + r * 8, bx * 32 + tx]
    Tx.cuda.cta_sync()
    for r in Tx.unroll(4):
        b[bx * 32 + ty + r * 8, by * 32 + tx] = tile[tx, ty + r * 8]
