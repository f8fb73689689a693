"""Indices, scalars, branches and loops."""

# ruff: noqa: F821

from tirx import script as Tx


@Tx.prim_func
def scale(A: Tx.Buffer(("n",), "float32"), B: Tx.Buffer(("n",), "float32"), s: Tx.float32):
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(n, 256)])
    tx = Tx.thread_id([256])
    i: Tx.let = bx * 256 + tx
    if i < n:
        B[i] = A[i] * s


@Tx.prim_func
def two_dimensions(A: Tx.Buffer((32, 64), "float32"), B: Tx.Buffer((64, 32), "float32")):
    Tx.device_entry()
    bx, by = Tx.cta_id([4, 2])
    tx, ty = Tx.thread_id([16, 16])
    B[bx * 16 + tx, by * 16 + ty] = A[by * 16 + ty, bx * 16 + tx]


@Tx.prim_func
def mutable_scalar(A: Tx.Buffer((1024,), "float32"), B: Tx.Buffer((256,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    acc = Tx.float32(0)
    for k in range(4):
        acc += A[k * 256 + tx]
    B[tx] = acc


@Tx.prim_func
def loops(A: Tx.Buffer((64,), "int32"), n: Tx.int32):
    Tx.device_entry()
    tx = Tx.thread_id([32])
    for i in range(2, n, 3):
        A[i] = tx
    for i in Tx.unroll(4):
        A[i] = i
    for i, j in Tx.grid(4, 4):
        A[i * 4 + j] += 1
    while A[0] > 0:
        A[0] -= 1
        if A[1] == 0:
            break
        if A[2] == 0:
            continue
        A[3] = 0


@Tx.prim_func
def branches(A: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    if tx == 0:
        A[0] = 1
    elif tx < 8:
        A[tx] = 2
        A[tx + 1] = 3
    else:
        A[tx] = A[tx] if tx < 32 else 4


@Tx.prim_func
def early_exit(A: Tx.Buffer((64,), "int32"), n: Tx.int32):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    if tx >= n:
        Tx.thread_return()
    A[tx] = tx


@Tx.prim_func
def precedence(A: Tx.Buffer((64,), "int32"), B: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    a: Tx.let = A[tx]
    b: Tx.let = B[tx]
    A[0] = a - (a - 1) - (a + 2) * 3
    A[1] = (a << 2 | a & 3) ^ ~a
    A[2] = -(a + 1) - -a
    B[0] = b - (b + 1.0) / (b * (b / 2.0))
    B[1] = b + (b + (b + 1.0))
    if (a > 1 and b > 1.0) or not (a == 2 or a != 3):
        A[3] = 1


@Tx.prim_func
def floor_division(A: Tx.Buffer((64,), "int32"), n: Tx.int32):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    x: Tx.let = A[tx]
    A[0] = tx // 7 + tx % 7
    A[1] = x // 8 + x % 8
    A[2] = x // n + x % n
    A[3] = Tx.truncdiv(x, n) + Tx.truncmod(x, n)


@Tx.prim_func
def hostile_names(half: Tx.Buffer((64,), "int32"), threadIdx: Tx.int32):
    Tx.device_entry()
    int = Tx.thread_id([64])
    größe: Tx.let = int + threadIdx
    float4: Tx.let = größe * 2
    expf: Tx.let = float4 + größe
    half[int] = expf


@Tx.prim_func
def registers(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    r = Tx.alloc_local((4,), "float32")
    for i in Tx.unroll(4):
        r[i] = A[i]
    A[tx] = r[tx % 4]


@Tx.prim_func
def assertion(A: Tx.Buffer((64,), "int32"), n: Tx.int32):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    assert tx < n, "too many threads"
    A[tx] = n


@Tx.prim_func
def launch_bounds(A: Tx.Buffer((256,), "int32")):
    Tx.device_entry()
    Tx.attr({"tirx.launch_bounds_min_blocks_per_sm": 2})
    tx = Tx.thread_id([256])
    A[tx] = tx


@Tx.prim_func
def max_registers(A: Tx.Buffer((256,), "int32")):
    Tx.device_entry()
    Tx.attr({"tirx.max_registers": 40})
    tx = Tx.thread_id([256])
    A[tx] = tx


@Tx.prim_func
def dependent_launch(A: Tx.Buffer((256,), "int32"), B: Tx.Buffer((256,), "int32")):
    Tx.func_attr({"tirx.kernel_launch_params": ["programmatic_stream_serialization"]})
    Tx.device_entry()
    tx = Tx.thread_id([256])
    B[tx] = A[tx]


@Tx.prim_func
def may_alias(A: Tx.Buffer((256,), "int32"), B: Tx.Buffer((256,), "int32")):
    Tx.func_attr({"tirx.noalias": False})
    Tx.device_entry()
    tx = Tx.thread_id([256])
    B[tx] = A[tx]
