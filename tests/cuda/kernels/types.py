"""Types, constants, conversions, vectors."""

from tirx import script as Tx


@Tx.prim_func
def constants(A: Tx.Buffer((8,), "float32"), B: Tx.Buffer((8,), "float64"), C: Tx.Buffer((8,), "float16")):
    Tx.device_entry()
    A[0] = 0.1
    A[1] = 1e30
    A[2] = 16777216.0
    A[3] = Tx.infinity("float32")
    A[4] = -Tx.infinity("float32")
    A[5] = Tx.float32("nan")
    A[6] = 1.401298464324817e-45
    B[0] = 0.1
    B[1] = Tx.infinity("float64")
    C[0] = 0.1
    C[1] = -2.0


@Tx.prim_func
def integers(
    A: Tx.Buffer((4,), "int64"), B: Tx.Buffer((4,), "uint32"), C: Tx.Buffer((4,), "int8"), D: Tx.Buffer((4,), "uint64")
):
    Tx.device_entry()
    A[0] = -9223372036854775808
    A[1] = 5000000000
    B[0] = 4294967295
    C[0] = C[1] + C[2]
    D[0] = 18446744073709551615
    if C[1] + C[2] < C[3]:
        C[0] = -128


@Tx.prim_func
def half_arithmetic(A: Tx.Buffer((64,), "float16"), B: Tx.Buffer((64,), "bfloat16")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    A[tx] = Tx.max(A[tx] * 0.5, Tx.sqrt(A[tx])) + Tx.exp(A[tx])
    B[tx] = Tx.cast(A[tx], "bfloat16") + B[tx]


@Tx.prim_func
def small_floats(A: Tx.Buffer((64,), "float8_e4m3fn"), B: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    A[tx] = Tx.cast(B[tx] * Tx.cast(A[tx], "float32"), "float8_e4m3fn")


@Tx.prim_func
def conversions(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "int32"), C: Tx.Buffer((64,), "bool")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    B[tx] = Tx.cast(A[tx], "int32")
    A[tx] = Tx.cast(B[tx] + 1, "float32")
    C[tx] = A[tx] > 0.0
    B[0] = Tx.reinterpret("int32", A[0])
    A[1] = Tx.reinterpret("float32", B[1])
    A[2] = Tx.cast(C[2], "float32")


@Tx.prim_func
def vector_copy(A: Tx.Buffer((1024,), "float32"), B: Tx.Buffer((1024,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    B.vstore([tx * 4], A.vload([tx * 4], "float32x4"))


@Tx.prim_func
def vector_scale(A: Tx.Buffer((1024,), "float32"), B: Tx.Buffer((1024,), "float32"), s: Tx.float32):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    x: Tx.let = A.vload([tx * 4], "float32x4")
    B.vstore([tx * 4], Tx.exp(x * s) + x)


@Tx.prim_func
def vector_halves(A: Tx.Buffer((2048,), "float16"), B: Tx.Buffer((2048,), "float16")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    x: Tx.let = A.vload([tx * 8], "float16x8")
    B.vstore([tx * 8], x * x)


@Tx.prim_func
def vector_convert(A: Tx.Buffer((2048,), "float16"), B: Tx.Buffer((2048,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    B.vstore([tx * 4], Tx.cast(A.vload([tx * 4], "float16x4"), "float32x4"))


@Tx.prim_func
def vector_lanes(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    x: Tx.let = A.vload([0], "float32x4")
    A[8] = Tx.Shuffle([x], [2])
    A.vstore([16], Tx.vectorhigh("float32x2", x))
    A.vstore([4], Tx.broadcast(A[0] + 1.0, 4))


@Tx.prim_func
def vector_gather(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    B.vstore([0], Tx.ramp(3, 2, 4))
    A[Tx.ramp(0, 8, 4)] = A[Tx.ramp(3, 8, 4)]


@Tx.prim_func
def vectorized_loop(A: Tx.Buffer((1024,), "float32"), B: Tx.Buffer((1024,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    for v in Tx.vectorized(4):
        B[tx * 4 + v] = A[tx * 4 + v] + 1.0


@Tx.prim_func
def mathematics(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float64"), C: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    A[tx] = Tx.exp(A[tx]) + Tx.rsqrt(A[0]) * Tx.pow(A[1], 2.0) + Tx.fma(A[2], A[3], A[4]) + Tx.sigmoid(A[5])
    B[tx] = Tx.log1p(B[tx]) + Tx.atan2(B[0], B[1])
    C[tx] = Tx.popcount(C[tx]) + Tx.clz(C[0]) + Tx.abs(C[1]) + Tx.min(C[2], C[3])


@Tx.prim_func
def wide_lanes(A: Tx.Buffer((2048,), "float16"), B: Tx.Buffer((2048,), "float16")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    for v in Tx.vectorized(8):
        x: Tx.let = Tx.cast(A[tx * 8 + v], "float32")
        B[tx * 8 + v] = Tx.cast(x / (1.0 + Tx.exp(-x)), "float16")


@Tx.prim_func
def wide_integers(A: Tx.Buffer((2048,), "int8"), B: Tx.Buffer((2048,), "int8")):
    Tx.device_entry()
    tx = Tx.thread_id([128])
    for v in Tx.vectorized(16):
        B[tx * 16 + v] = Tx.max(A[tx * 16 + v], Tx.int8(0)) + B[tx * 16 + v]


@Tx.prim_func
def small_constants(
    A: Tx.Buffer((4,), "float8_e4m3fn"), B: Tx.Buffer((4,), "float8_e5m2"), C: Tx.Buffer((4,), "float32")
):
    Tx.device_entry()
    A[0] = Tx.float8_e4m3fn("nan")
    B[0] = Tx.float8_e5m2("inf")
    B[1] = Tx.float8_e5m2("-inf")
    C[0] = Tx.cast(Tx.float16(0.1), "float32")
    C[1] = Tx.cast(Tx.float4_e2m1fn(1.5), "float32")


@Tx.prim_func
def four_bits(
    A: Tx.Buffer((128,), "float4_e2m1fn"), B: Tx.Buffer((128,), "float4_e2m1fn"), C: Tx.Buffer((128,), "float16"),
    D: Tx.Buffer((16,), "float16"), E: Tx.Buffer((32,), "float4_e2m1fn"),
):  # fmt: skip
    Tx.device_entry()
    tx = Tx.thread_id([16])
    for j in Tx.vectorized(8):
        B[tx * 8 + j] = Tx.cast(C[tx * 8 + j], "float4_e2m1fn")
    D[tx] = Tx.cast(A[tx], "float16") + Tx.cast(A[2 * tx + 1], "float16")
    own = Tx.alloc_local((2,), "float4_e2m1fn")
    own[0] = A[tx]
    own[1] = -A[tx]
    E.vstore([2 * tx], own.vload([0], "float4_e2m1fnx2"))


@Tx.prim_func
def six_bits(
    A: Tx.Buffer((64,), "float6_e2m3fn"), B: Tx.Buffer((64,), "float6_e3m2fn"), C: Tx.Buffer((64,), "float32")
):
    Tx.device_entry()
    tx = Tx.thread_id([16])
    for j in Tx.vectorized(4):
        C[tx * 4 + j] = Tx.cast(A[tx * 4 + j], "float32")
    B[tx] = Tx.max(Tx.cast(A[tx], "float6_e3m2fn"), Tx.float6_e3m2fn(0.0))
