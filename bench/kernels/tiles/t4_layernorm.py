# docs/examples/kernels/tile_layernorm.py, without its guarded tail. The peer writes beyond the result where a warp
# reduces its whole tile: each lane reduces its own part here, and what comes from memory is copied before it is
# computed with.
ROW = TileLayout(S[(2, 32, 8) : (8, 1 @ laneid, 1)])


@Tx.prim_func
def layernorm(
    X: Tx.Buffer((1024, 512), "float16"),
    gain: Tx.Buffer((512,), "float32"),
    shift: Tx.Buffer((512,), "float32"),
    Y: Tx.Buffer((1024, 512), "float16"),
):
    Tx.device_entry()
    block = Tx.cta_id([128])
    warp = Tx.warp_id([8])
    Tx.lane_id([32])
    given = Tx.alloc_local((512,), "float16", layout=ROW)
    x = Tx.alloc_local((512,), "float32", layout=ROW)
    square = Tx.alloc_local((512,), "float32", layout=ROW)
    g = Tx.alloc_local((512,), "float32", layout=ROW)
    s = Tx.alloc_local((512,), "float32", layout=ROW)
    mean = Tx.alloc_local((1,), "float32")
    deviation = Tx.alloc_local((1,), "float32")
    Tx.warp.copy(given, X[block * 8 + warp, :])
    Tx.warp.cast(x, given)
    Tx.tile.sum(mean, x.local(16))
    mean[0] = Tx.cuda.warp_sum(mean[0]) * 0.001953125
    Tx.warp.sub(x, x, mean[0])
    Tx.warp.mul(square, x, x)
    Tx.tile.sum(deviation, square.local(16))
    deviation[0] = Tx.sqrt(Tx.cuda.warp_sum(deviation[0]) * 0.001953125 + 1e-5)
    Tx.warp.fdiv(x, x, deviation[0])
    Tx.warp.copy(g, gain)
    Tx.warp.copy(s, shift)
    Tx.warp.fma(x, x, g, s)
    Tx.warp.cast(given, x)
    Tx.warp.copy(Y[block * 8 + warp, :], given)
