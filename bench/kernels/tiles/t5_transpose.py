# docs/examples/kernels/tile_transpose.py
SWIZZLED = ComposeLayout(0, 5, 5, TileLayout(S[32, 32]))


@Tx.prim_func
def transpose(A: Tx.Buffer((512, 256), "float32"), B: Tx.Buffer((256, 512), "float32")):
    Tx.device_entry()
    bx, by = Tx.cta_id([8, 16])
    Tx.thread_id([256])
    tile = Tx.alloc_shared((32, 32), "float32", layout=SWIZZLED)
    Tx.cta.copy(tile, A[by * 32 : by * 32 + 32, bx * 32 : bx * 32 + 32])
    Tx.cuda.cta_sync()
    Tx.cta.copy(B[bx * 32 : bx * 32 + 32, by * 32 : by * 32 + 32], tile.permute(1, 0))
