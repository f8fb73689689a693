"""What the threads of a warp, cta, cluster or grid do together."""

from tirx import script as Tx


@Tx.prim_func
def scope_ids(A: Tx.Buffer((4, 8, 32), "int32")):
    Tx.device_entry()
    bx = Tx.cta_id([4])
    warp = Tx.warp_id([8])
    lane = Tx.lane_id([32])
    A[bx, warp, lane] = lane


@Tx.prim_func
def warpgroups(A: Tx.Buffer((256,), "int32")):
    Tx.device_entry()
    wg = Tx.warpgroup_id([2])
    warp = Tx.warp_id_in_wg([4])
    lane = Tx.lane_id([32])
    t = Tx.thread_id_in_wg([128])
    Tx.cuda.warpgroup_sync(wg + 1)
    A[wg * 128 + t] = warp * 32 + lane


@Tx.prim_func
def clusters(A: Tx.Buffer((8, 64), "int32")):
    Tx.device_entry()
    cl = Tx.cluster_id([4])
    rank = Tx.cta_id_in_cluster([2])
    tx = Tx.thread_id([64])
    Tx.cuda.cluster_sync()
    A[cl * 2 + rank, tx] = rank


@Tx.prim_func
def reductions(A: Tx.Buffer((256,), "float32"), B: Tx.Buffer((8,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    scratch = Tx.alloc_shared((8,), "float32")
    s: Tx.let = Tx.cuda.warp_sum(A[tx])
    m: Tx.let = Tx.cuda.warp_max(A[tx], 16)
    total: Tx.let = Tx.cuda.cta_sum(s + m, 8, scratch.ptr_to([0]))
    B[0] = total


@Tx.prim_func
def shuffles(A: Tx.Buffer((32,), "float32"), B: Tx.Buffer((32,), "int32")):
    Tx.device_entry()
    lane = Tx.thread_id([32])
    x: Tx.let = Tx.tvm_warp_shuffle_xor(Tx.uint32(0xFFFFFFFF), A[lane], 16, 32, 32)
    y: Tx.let = Tx.cuda.__shfl_down_sync(0xFFFFFFFF, A[lane], 1, 8)
    A[lane] = x + y
    B[lane] = Tx.cuda.any_sync(0xFFFFFFFF, x > y)


@Tx.prim_func
def votes(A: Tx.Buffer((32,), "uint32")):
    Tx.device_entry()
    lane = Tx.thread_id([32])
    few: Tx.let = Tx.cuda.ballot_sync(0xFFFFFFFF, lane < 7)
    total: Tx.let = Tx.cuda.reduce_add_sync_u32(0xFFFFFFFF, A[lane])
    A[lane] = few + total
    if Tx.cuda.elect_sync():
        A[0] = Tx.cuda.__activemask()
    if Tx.cuda.syncthreads_or(lane == 3) != 0:
        Tx.cuda.warp_sync()


@Tx.prim_func
def waiting(F: Tx.Buffer((2,), "uint32"), A: Tx.Buffer((32,), "uint32")):
    Tx.device_entry()
    seen = Tx.uint32(0)
    Tx.cuda.wait_until(seen, F.ptr_to([0]), seen >= 3, backoff_ns=20)
    Tx.cuda.thread_fence()
    A[0] = seen + Tx.cuda.mov_sreg(32, "smid")


@Tx.prim_func
def printing(A: Tx.Buffer((32,), "float16")):
    Tx.device_entry()
    lane = Tx.thread_id([32])
    Tx.cuda.printf("lane %d: %g\n", lane, A[lane])
    Tx.cuda.trap_when_assert_failed(lane < 32)


@Tx.prim_func
def helpers(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float16"), C: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.cuda.thread_rank()
    A[0] = Tx.cuda.fdividef(A[1], A[2]) + Tx.cuda.ldg(A.ptr_to([3]), "float32")
    Tx.cuda.half8tofloat8(B.ptr_to([0]), A.ptr_to([8]))
    Tx.cuda.float22half2(B.ptr_to([8]), A.ptr_to([4]))
    C[tx] = Tx.cuda.ffs_u32(C[tx])
    C[1] = Tx.cast(Tx.cuda.cvta_generic_to_shared(A.ptr_to([0])), "int32")
    A.vstore(
        [16],
        Tx.reinterpret("float32x2", Tx.cuda.fmul2_rn(Tx.cuda.make_float2(A[0], A[1]), Tx.cuda.make_float2(A[2], A[3]))),
    )
    B.vstore([4], Tx.cuda.hmax2(B.vload([0], "float16x2"), B.vload([2], "float16x2")))


@Tx.prim_func
def hidden_helpers(A: Tx.Buffer((32,), "float32")):
    Tx.device_entry()
    lane = Tx.thread_id([32])
    warp_sum: Tx.let = Tx.cuda.warp_sum(A[lane])
    code = (
        "__device__ float doubled(float x) { return 2.0f * x; }\n__device__ float half_of(float x) { return x / 2.0f; }"
    )
    doubled: Tx.let = Tx.cuda.func_call("doubled", warp_sum, source_code=code, return_type="float32")
    half_of: Tx.let = Tx.call_pure_extern("float32", "half_of", doubled)
    A[lane] = warp_sum + half_of
