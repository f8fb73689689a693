# docs/examples/kernels/tile_rmsnorm_fp8.py. The peer writes beyond the result where a warp reduces its whole tile: each
# lane reduces its own part here.
ROW = TileLayout(S[(4, 32, 8) : (8, 1 @ laneid, 1)])


@Tx.prim_func
def rmsnorm_fp8(
    X: Tx.Buffer((256, 1024), "bfloat16"),
    W: Tx.Buffer((1024,), "bfloat16"),
    Y: Tx.Buffer((256, 1024), "float8_e4m3fn"),
    scales: Tx.Buffer((256,), "float32"),
):
    Tx.device_entry()
    block = Tx.cta_id([64])
    warp = Tx.warp_id([4])
    lane = Tx.lane_id([32])
    given = Tx.alloc_local((1024,), "bfloat16", layout=ROW)
    x = Tx.alloc_local((1024,), "float32", layout=ROW)
    other = Tx.alloc_local((1024,), "float32", layout=ROW)
    small = Tx.alloc_local((1024,), "float8_e4m3fn", layout=ROW)
    factor = Tx.alloc_local((1,), "float32")
    Tx.warp.copy(given, X[block * 4 + warp, :])
    Tx.warp.cast(x, given)
    Tx.warp.mul(other, x, x)
    Tx.tile.sum(factor, other.local(32))
    factor[0] = Tx.sqrt(Tx.cuda.warp_sum(factor[0]) * 0.0009765625 + 1e-6)
    Tx.warp.fdiv(x, x, factor[0])
    Tx.warp.copy(given, W)
    Tx.warp.cast(other, given)
    Tx.warp.mul(x, x, other)
    Tx.warp.mul(other, x, -1.0)
    Tx.warp.maximum(other, other, x)
    Tx.tile.max(factor, other.local(32))
    factor[0] = Tx.max(Tx.cuda.warp_max(factor[0]) * 0.0022321429, 1e-12)
    if lane == 0:
        scales[block * 4 + warp] = factor[0]
    Tx.warp.fdiv(x, x, factor[0])
    Tx.warp.cast(small, x)
    Tx.warp.copy(Y[block * 4 + warp, :], small)
