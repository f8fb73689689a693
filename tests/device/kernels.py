"""Kernels for a real GPU; the simulator says what must come out."""

from tirx import script as Tx

# ruff: noqa: F821


@Tx.prim_func
def scale(A: Tx.Buffer(("n",), "float32"), B: Tx.Buffer(("n",), "float32"), s: Tx.float32):
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(n, 256)])
    tx = Tx.thread_id([256])
    i: Tx.let = bx * 256 + tx
    if i < n:
        B[i] = A[i] * s


@Tx.prim_func
def row_sums(A: Tx.Buffer((64, 1024), "float32"), B: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    row = Tx.cta_id([64])
    tx = Tx.thread_id([256])
    scratch = Tx.alloc_shared((8,), "float32")
    acc = Tx.float32(0)
    for k in range(4):
        acc += A[row, k * 256 + tx]
    total: Tx.let = Tx.cuda.cta_sum(acc, 8, scratch.ptr_to([0]))
    if tx == 0:
        B[row] = total


@Tx.prim_func
def silu(A: Tx.Buffer((4096,), "float16"), B: Tx.Buffer((4096,), "float16")):
    Tx.device_entry()
    bx = Tx.cta_id([2])
    tx = Tx.thread_id([256])
    for v in Tx.vectorized(8):
        x: Tx.let = Tx.cast(A[bx * 2048 + tx * 8 + v], "float32")
        B[bx * 2048 + tx * 8 + v] = Tx.cast(x / (1.0 + Tx.exp(-x)), "float16")


@Tx.prim_func
def pooled(A: Tx.Buffer((20000,), "float32"), B: Tx.Buffer((20000,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    pool = Tx.SMEMPool()
    tile = pool.alloc((20000,), "float32", align=128)
    pool.commit()
    for i in range(79):
        if i * 256 + tx < 20000:
            tile[i * 256 + tx] = A[i * 256 + tx]
    Tx.cuda.cta_sync()
    for i in range(79):
        if i * 256 + tx < 20000:
            B[i * 256 + tx] = tile[19999 - i * 256 - tx]


@Tx.prim_func
def histogram(A: Tx.Buffer((4096,), "int32"), H: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    bx = Tx.cta_id([16])
    tx = Tx.thread_id([256])
    Tx.atomic_add(H[A[bx * 256 + tx]], 1)


@Tx.prim_func
def clusters(A: Tx.Buffer((8, 64), "int32")):
    Tx.device_entry()
    cl = Tx.cluster_id([4])
    rank = Tx.cta_id_in_cluster([2])
    tx = Tx.thread_id([64])
    Tx.cuda.cluster_sync()
    A[cl * 2 + rank, tx] = cl * 100 + rank * 10


@Tx.prim_func
def handshake(F: Tx.Buffer((1,), "uint32"), A: Tx.Buffer((2,), "uint32")):
    Tx.device_entry()
    bx = Tx.cta_id([2])
    tx = Tx.thread_id([1])
    if bx == 0:
        seen = Tx.uint32(0)
        Tx.cuda.wait_until(seen, F.ptr_to([0]), seen >= 3)
        A[0] = seen
    else:
        A[1] = 9
        Tx.cuda.thread_fence()
        Tx.cuda.atomic_add(F.ptr_to([tx]), 3)


@Tx.prim_func
def cooperative(A: Tx.Buffer((8,), "int32"), B: Tx.Buffer((8,), "int32")):
    Tx.func_attr({"tirx.kernel_launch_params": ["cooperative"]})
    Tx.device_entry()
    bx = Tx.cta_id([8])
    tx = Tx.thread_id([32])
    if tx == 0:
        A[bx] = bx
    Tx.cuda.grid_sync()
    if tx == 0:
        B[bx] = A[7 - bx]


@Tx.prim_func
def out_of_bounds(A: Tx.Buffer((64,), "int32"), far: Tx.int32):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    A[tx + far] = tx
