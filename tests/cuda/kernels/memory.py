"""Shared memory, pointers, atomics, other functions."""

from tirx import script as Tx


@Tx.prim_func
def shared_tile(A: Tx.Buffer((32, 32), "float32"), B: Tx.Buffer((32, 32), "float32")):
    Tx.device_entry()
    tx, ty = Tx.thread_id([32, 32])
    tile = Tx.alloc_shared((32, 33), "float32")
    tile[ty, tx] = A[ty, tx]
    Tx.cuda.cta_sync()
    B[ty, tx] = tile[tx, ty]


@Tx.prim_func
def shared_vectors(A: Tx.Buffer((1024,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    tile = Tx.alloc_shared((1024,), "float32")
    tile.vstore([tx * 4], A.vload([tx * 4], "float32x4"))
    Tx.cuda.cta_sync()
    A[tx] = tile[1023 - tx]


@Tx.prim_func
def dynamic_pool(A: Tx.Buffer((256,), "float16"), B: Tx.Buffer((256,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    pool = Tx.SMEMPool()
    a = pool.alloc((256,), "float16")
    b = pool.alloc((256,), "float32")
    pool.commit()
    a[tx] = A[tx]
    b[tx] = Tx.cast(a[tx], "float32")
    Tx.cuda.cta_sync()
    B[tx] = b[255 - tx]


@Tx.prim_func
def shared_scalar(A: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    flag = Tx.shared_scalar("int32")
    if tx == 0:
        flag = 5
    Tx.cuda.cta_sync()
    A[tx] = flag


@Tx.prim_func
def histogram(A: Tx.Buffer((1024,), "int32"), H: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    Tx.atomic_add(H[A[tx]], 1)
    Tx.cuda.atomic_add(H.ptr_to([0]), 2)


@Tx.prim_func
def atomics(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "int64"), C: Tx.Buffer((64,), "uint32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    A[tx] = Tx.atomic_max(A[0], 1.0)
    Tx.atomic_add(B[0], 1)
    C[tx] = Tx.atomic_cas(C[0], 0, 1)
    Tx.atomic_exch(A[1], 2.0)


@Tx.prim_func
def pointers(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    p = Tx.address_of(A[8])
    B = Tx.decl_buffer((4,), "float32", data=p)
    B[0] = A[tx]
    q = Tx.ptr_byte_offset(A.data, 16, "int32")
    C = Tx.decl_buffer((4,), "int32", data=q)
    C[1] = tx


@Tx.prim_func
def foreign(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    code = "__device__ float twice(float x) { return 2.0f * x; }"
    A[tx] = Tx.cuda.func_call("twice", A[tx], source_code=code, return_type="float32")
    A[0] = Tx.call_pure_extern("float32", "__saturatef", A[0]) + Tx.cuda.func_call(
        "twice", A[1], source_code=code, return_type="float32"
    )
