# docs/examples/kernels/tile_attention.py. The peer knows no tiles that several lanes hold alike, reduces rows of
# fragments element by element, and reads the wrong registers where a product takes a slice of a fragment: what belongs
# to rows is written out here, and slices are copied.
A_LANES = TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)])
Q_LANES = A_LANES.tile_to([16, 64], [16, 16])
K_LANES = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)]).tile_to([64, 16], [8, 16])
V_LANES = TileLayout(S[(2, 4, 2, 8) : (2, 1 @ laneid, 1, 4 @ laneid)]).tile_to([16, 64], [16, 8])
SCORES = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)]).tile_to([16, 64], [16, 8])
SWIZZLED = ComposeLayout(3, 3, 3, TileLayout(S[64, 64]))


@Tx.prim_func
def attention(
    Q: Tx.Buffer((2, 256, 64), "float16"),
    K: Tx.Buffer((2, 256, 64), "float16"),
    V: Tx.Buffer((2, 256, 64), "float16"),
    O: Tx.Buffer((2, 256, 64), "float16"),
):
    Tx.device_entry()
    block, head = Tx.cta_id([4, 2])
    warp = Tx.warp_id([4])
    Tx.lane_id([32])
    Qs = Tx.alloc_shared((64, 64), "float16", layout=SWIZZLED)
    Ks = Tx.alloc_shared((64, 64), "float16", layout=SWIZZLED)
    Vs = Tx.alloc_shared((64, 64), "float16", layout=SWIZZLED)
    q = Tx.alloc_local((16, 64), "float16", layout=Q_LANES)
    k = Tx.alloc_local((64, 16), "float16", layout=K_LANES)
    v = Tx.alloc_local((16, 64), "float16", layout=V_LANES)
    scores = Tx.alloc_local((16, 64), "float32", layout=SCORES)
    weights = Tx.alloc_local((16, 64), "float16", layout=SCORES)
    out = Tx.alloc_local((16, 64), "float32", layout=SCORES)
    done = Tx.alloc_local((16, 64), "float16", layout=SCORES)
    highest = Tx.alloc_local((2,), "float32")
    before = Tx.alloc_local((2,), "float32")
    total = Tx.alloc_local((2,), "float32")
    part = Tx.alloc_local((16, 16), "float16", layout=A_LANES)
    own = part.local(8)
    queries = q.local(32)
    w = weights.local(32)
    p = scores.local(8, 2, 2)
    o = out.local(8, 2, 2)

    Tx.cta.copy(Qs, Q[head, block * 64 : block * 64 + 64, :])
    Tx.cuda.cta_sync()
    Tx.warp.copy(q, Qs[warp * 16 : warp * 16 + 16, :])
    Tx.warp.fill(out, 0.0)
    for i in Tx.unroll(2):
        total[i] = Tx.float32(0.0)
        highest[i] = Tx.float32(-1e30)
    for step in Tx.serial(4):
        Tx.cuda.cta_sync()
        Tx.cta.copy_async(Ks, K[head, step * 64 : step * 64 + 64, :])
        Tx.cta.copy_async(Vs, V[head, step * 64 : step * 64 + 64, :])
        Tx.ptx.cp.async_.wait_all()
        Tx.cuda.cta_sync()
        Tx.warp.fill(scores, 0.0)
        for d in Tx.unroll(4):
            Tx.warp.copy(k, Ks[:, d * 16 : d * 16 + 16])
            for i in Tx.unroll(8):
                own[i] = queries[d * 8 + i]
            Tx.warp.gemm(scores, part, k, scores, transpose_B=True, beta=1.0)
        Tx.warp.mul(scores, scores, 0.18033688)
        for i in Tx.unroll(2):
            before[i] = highest[i]
        for j, i, e in Tx.grid(8, 2, 2):
            highest[i] = Tx.max(highest[i], p[j, i, e])
        for i in Tx.unroll(2):
            highest[i] = Tx.cuda.warp_max(highest[i], 4)
        for j, i, e in Tx.grid(8, 2, 2):
            p[j, i, e] = p[j, i, e] - highest[i]
        Tx.warp.exp2(scores, scores)
        for i in Tx.unroll(2):
            before[i] = Tx.exp2(before[i] - highest[i])
            total[i] = total[i] * before[i]
        for j, i, e in Tx.grid(8, 2, 2):
            total[i] = total[i] + p[j, i, e]
        for j, i, e in Tx.grid(8, 2, 2):
            o[j, i, e] = o[j, i, e] * before[i]
        Tx.warp.cast(weights, scores)
        for s in Tx.unroll(4):
            Tx.warp.copy(v, Vs[s * 16 : s * 16 + 16, :])
            for i in Tx.unroll(8):
                own[i] = w[s * 8 + i]
            Tx.warp.gemm(out, part, v, out, beta=1.0)
    for i in Tx.unroll(2):
        total[i] = Tx.cuda.warp_sum(total[i], 4)
    for j, i, e in Tx.grid(8, 2, 2):
        o[j, i, e] = o[j, i, e] / total[i]
    Tx.warp.cast(done, out)
    Tx.warp.copy(O[head, block * 64 + warp * 16 : block * 64 + warp * 16 + 16, :], done)
