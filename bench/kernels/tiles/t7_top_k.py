# docs/examples/kernels/tile_top_k.py. The peer has no `select`, and its reductions of shared memory by a warp use an
# undefined variable: rows are kept in registers here, and each lane reduces its own part.
ROW = TileLayout(S[(32, 8) : (1 @ laneid, 1)])


@Tx.prim_func
def top_k(
    X: Tx.Buffer((128, 256), "float32"), values: Tx.Buffer((128, 8), "float32"), places: Tx.Buffer((128, 8), "int32")
):
    Tx.device_entry()
    block = Tx.cta_id([32])
    warp = Tx.warp_id([4])
    lane = Tx.lane_id([32])
    row: Tx.let = block * 4 + warp
    tile = Tx.alloc_local((256,), "float32", layout=ROW)
    best = Tx.alloc_local((1,), "float32")
    place = Tx.alloc_local((1,), "int32")
    candidates = Tx.alloc_local((8,), "int32")
    left = tile.local(8)
    Tx.warp.copy(tile, X[row, :])
    for k in Tx.serial(8):
        Tx.tile.max(best, left)
        best[0] = Tx.cuda.warp_max(best[0])
        for i in Tx.unroll(8):
            candidates[i] = Tx.if_then_else(left[i] == best[0], lane * 8 + i, 256)
        Tx.tile.min(place, candidates)
        place[0] = Tx.cuda.warp_min(place[0])
        for i in Tx.unroll(8):
            if lane * 8 + i == place[0]:
                left[i] = Tx.float32(-3.0e38)
        if lane == 0:
            values[row, k] = best[0]
            places[row, k] = place[0]
