"""Small kernels as users of NKI write them: checked, simulated, emitted, executed, held against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tests.trn.build import imported, source_of
from tests.trn.lint import complaints
from tirx import script as Tx
from tirx.ir import PrimFunc
from tirx.ir.numpy_types import numpy_dtype

F8 = ml_dtypes.float8_e4m3
Case = tuple[Callable[[], PrimFunc], tuple[np.ndarray, ...], tuple[int, ...], str, Callable[..., Any], float]
CASES: dict[str, Case] = {}
NEWER = {"quad_tiling", "double_row_pf"}  # modes that NeuronCore-v2 lacks
RNG = np.random.default_rng(0)


def case(*inputs: np.ndarray, out: tuple[tuple[int, ...], str], ref: Callable[..., Any], tol: float = 1e-5) -> Any:
    """A function that makes a kernel: its inputs, shape and type of its result, what NumPy says, how near that is."""

    def known(make: Callable[[], PrimFunc]) -> Callable[[], PrimFunc]:
        CASES[make.__name__] = (make, inputs, *out, ref, tol)
        return make

    return known


def F(*shape: int) -> np.ndarray:
    """Normal numbers."""
    return RNG.standard_normal(shape).astype(np.float32)


def S(*shape: int, dtype: str = "float32", layout: str | None = None) -> Any:
    """A tile in SBUF."""
    return Tx.alloc_buffer(shape, dtype, scope="trn.sbuf", **({"layout": layout} if layout else {}))


def P(*shape: int) -> Any:
    """A tile in PSUM."""
    return Tx.alloc_buffer(shape, "float32", scope="trn.psum", layout="PF")


def scanned(d: np.ndarray, a: np.ndarray, u: np.ndarray) -> np.ndarray:
    """State space: each column is a multiple of the one before, plus an input."""
    decay, x, state, columns = 1 / (1 + np.exp(-(d * a).astype(float))), d * u, np.zeros(len(d)), []
    for step in range(d.shape[1]):
        state = decay[:, step] * state + x[:, step]
        columns.append(state)
    return np.stack(columns, axis=1)


@case(F(256, 1024), F(256, 1024), out=((256, 1024), "float32"), ref=lambda a, b: a + b)
def tensor_add():
    @Tx.prim_func
    def user_kernel(
        a: Tx.Buffer((256, 1024), "float32"), b: Tx.Buffer((256, 1024), "float32"), c: Tx.Buffer((256, 1024), "float32")
    ):
        Tx.device_entry()
        for m in range(2):
            for n in range(2):
                at, bt, rt = S(128, 512), S(128, 512), S(128, 512)
                Tx.nki.dma_copy(dst=at, src=a[m * 128 : (m + 1) * 128, n * 512 : (n + 1) * 512])
                Tx.nki.dma_copy(dst=bt, src=b[m * 128 : (m + 1) * 128, n * 512 : (n + 1) * 512])
                Tx.nki.tensor_tensor(dst=rt, data1=at, data2=bt, op="add")
                Tx.nki.dma_copy(dst=c[m * 128 : (m + 1) * 128, n * 512 : (n + 1) * 512], src=rt)

    return user_kernel


@case(F(96, 12 * 10), out=((96, 120), "float32"), ref=lambda a: a.reshape(96, 12, 10).swapaxes(1, 2).reshape(96, 120))
def transpose2d_free():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((96, 120), "float32"), c: Tx.Buffer((96, 120), "float32")):
        Tx.device_entry()
        it = S(96, 12, 10)
        ot = S(96, 10, 12)
        Tx.nki.dma_copy(dst=it, src=a.view(96, 12, 10))
        for i in range(12):
            for j in range(10):
                Tx.nki.tensor_copy(ot[:, j, i : i + 1], it[:, i, j : j + 1])
        Tx.nki.dma_copy(dst=c.view(96, 10, 12), src=ot)

    return user_kernel


@case(F(96, 12 * 10), out=((96, 120), "float32"), ref=lambda a: a.reshape(96, 12, 10).swapaxes(1, 2).reshape(96, 120))
def transpose2d_rows():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((96, 120), "float32"), c: Tx.Buffer((96, 120), "float32")):
        Tx.device_entry()
        it = S(96, 12, 10)
        ot = S(96, 10, 12)
        Tx.nki.dma_copy(dst=it, src=a.view(96, 12, 10))
        for i in range(12):
            Tx.nki.tensor_copy(ot[:, :, i], it[:, i, :])
        Tx.nki.dma_copy(dst=c.view(96, 10, 12), src=ot)

    return user_kernel


@case(F(128, 700), out=((128, 700), "float32"), ref=lambda a: a.astype(float).cumsum(1), tol=1e-4)
def cumsum_chunked():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 700), "float32"), c: Tx.Buffer((128, 700), "float32")):
        Tx.device_entry()
        ones = S(128, 100)
        carry = S(128, 1)
        Tx.nki.memset(ones, 1.0)
        Tx.nki.memset(carry, 0.0)
        for i in range(7):
            t = S(128, 100)
            r = S(128, 100)
            Tx.nki.dma_copy(dst=t, src=a[:, i * 100 : i * 100 + 100])
            Tx.nki.tensor_tensor_scan(dst=r, data0=ones, data1=t, initial=carry, op0="multiply", op1="add")
            Tx.nki.tensor_copy(carry, r[:, 99:100])
            Tx.nki.dma_copy(dst=c[:, i * 100 : i * 100 + 100], src=r)

    return user_kernel


@case(
    F(64, 48),
    F(64, 4),
    out=((64, 45), "float32"),
    ref=lambda x, w: sum(x[:, t : t + 45] * w[:, t : t + 1] for t in range(4)),
)
def depthwise_conv1d():
    @Tx.prim_func
    def user_kernel(
        x: Tx.Buffer((64, 48), "float32"), w: Tx.Buffer((64, 4), "float32"), y: Tx.Buffer((64, 45), "float32")
    ):
        Tx.device_entry()
        xt, wt, acc = S(64, 48), S(64, 4), S(64, 45)
        Tx.nki.dma_copy(xt, x)
        Tx.nki.dma_copy(wt, w)
        Tx.nki.memset(acc, 0.0)
        for t in range(4):
            Tx.nki.scalar_tensor_tensor(
                dst=acc, data=xt[:, t : t + 45], op0="multiply", operand0=wt[:, t : t + 1], op1="add", operand1=acc
            )
        Tx.nki.dma_copy(y, acc)

    return user_kernel


@case(F(2, 3, 128, 64).astype(ml_dtypes.bfloat16), out=((2, 3, 64, 128), "bfloat16"), ref=lambda a: a.swapaxes(2, 3))
def batched_dma_transpose():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((2, 3, 128, 64), "bfloat16"), c: Tx.Buffer((2, 3, 64, 128), "bfloat16")):
        Tx.device_entry()
        for b in range(2):
            for h in range(3):
                t = S(64, 128, dtype="bfloat16")
                Tx.nki.dma_transpose(t, a[b, h, :, :])
                Tx.nki.dma_copy(c[b, h, :, :], t)

    return user_kernel


@case(
    F(128, 96),
    F(
        96,
    ),
    out=((128, 96), "float32"),
    ref=lambda x, g: x * g,
    tol=1e-5,
)
def gamma_vector():
    @Tx.prim_func
    def user_kernel(
        x: Tx.Buffer((128, 96), "float32"), g: Tx.Buffer((96,), "float32"), y: Tx.Buffer((128, 96), "float32")
    ):
        Tx.device_entry()
        xt, gt, ones, acc = S(128, 96), S(1, 96), S(1, 128), P(128, 96)
        Tx.nki.dma_copy(xt, x)
        Tx.nki.dma_copy(gt, g)
        Tx.nki.memset(ones, 1.0)
        Tx.nki.nc_matmul(acc, ones, gt)
        Tx.nki.tensor_tensor(xt, xt, acc, "multiply")
        Tx.nki.dma_copy(y, xt)

    return user_kernel


@case(
    F(128, 512),
    out=((128, 512), "float8_e4m3"),
    ref=lambda x: (x / np.abs(x).max(1, keepdims=True) * 240).astype(ml_dtypes.float8_e4m3),
    tol=0.07,
)
def quantise():
    @Tx.prim_func
    def user_kernel(x: Tx.Buffer((128, 512), "float32"), q: Tx.Buffer((128, 512), "float8_e4m3")):
        Tx.device_entry()
        xt, ab, mx, qt = S(128, 512), S(128, 512), S(128, 1), S(128, 512, dtype="float8_e4m3")
        Tx.nki.dma_copy(xt, x)
        Tx.nki.activation(ab, xt, "abs")
        Tx.nki.tensor_reduce(mx, "maximum", ab, axis=1)
        Tx.nki.reciprocal(mx, mx)
        Tx.nki.tensor_scalar(qt, xt, "multiply", mx, op1="multiply", operand1=240.0)
        Tx.nki.dma_copy(q, qt)

    return user_kernel


@case(
    F(128, 64).astype(ml_dtypes.bfloat16),
    F(128, 700).astype(ml_dtypes.bfloat16),
    out=((64, 700), "bfloat16"),
    ref=lambda a, b: a.astype(np.float32).T @ b.astype(np.float32),
    tol=0.01,
)
def matmul_ragged_bf16():
    @Tx.prim_func
    def user_kernel(
        a: Tx.Buffer((128, 64), "bfloat16"), b: Tx.Buffer((128, 700), "bfloat16"), c: Tx.Buffer((64, 700), "bfloat16")
    ):
        Tx.device_entry()
        at, bt = S(128, 64, dtype="bfloat16"), S(128, 700, dtype="bfloat16")
        Tx.nki.dma_copy(at, a)
        Tx.nki.dma_copy(bt, b)
        for n, w in [(0, 512), (512, 188)]:
            acc, r = P(64, w), S(64, w, dtype="bfloat16")
            Tx.nki.nc_matmul(dst=acc, stationary=at, moving=bt[:, n : n + w], accumulate=False)
            Tx.nki.tensor_copy(r, acc)
            Tx.nki.dma_copy(c[:, n : n + w], r)

    return user_kernel


@case(F(512, 128), F(512, 256), out=((128, 256), "float32"), ref=lambda a, b: a.T @ b, tol=1e-4)
def matmul_flag_by_loop():
    @Tx.prim_func
    def user_kernel(
        a: Tx.Buffer((512, 128), "float32"), b: Tx.Buffer((512, 256), "float32"), c: Tx.Buffer((128, 256), "float32")
    ):
        Tx.device_entry()
        acc, r = P(128, 256), S(128, 256)
        for i in range(4):
            at, bt = S(128, 128), S(128, 256)
            Tx.nki.dma_copy(at, a[i * 128 : (i + 1) * 128, :])
            Tx.nki.dma_copy(bt, b[i * 128 : (i + 1) * 128, :])
            Tx.nki.nc_matmul(acc, at, bt, accumulate=i > 0)
        Tx.nki.tensor_copy(r, acc)
        Tx.nki.dma_copy(c, r)

    return user_kernel


@case(F(128, 256), out=((128, 8), "float32"), ref=lambda a: -np.sort(-a, 1)[:, :8])
def top8():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 256), "float32"), c: Tx.Buffer((128, 8), "float32")):
        Tx.device_entry()
        t, m = S(128, 256), S(128, 8)
        Tx.nki.dma_copy(t, a)
        Tx.nki.max8(dst=m, src=t)
        Tx.nki.dma_copy(c, m)

    return user_kernel


@case(F(128, 256), out=((128, 24), "float32"), ref=lambda a: -np.sort(-a, 1)[:, :24])
def top24():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 256), "float32"), c: Tx.Buffer((128, 24), "float32")):
        Tx.device_entry()
        t, m = S(128, 256), S(128, 24)
        Tx.nki.dma_copy(t, a)
        for i in range(3):
            Tx.nki.max8(m[:, i * 8 : i * 8 + 8], t)
            Tx.nki.nc_match_replace8(t, t, m[:, i * 8 : i * 8 + 8], -1e30)
        Tx.nki.dma_copy(c, m)

    return user_kernel


@case(
    F(100, 64),
    out=((100, 64), "float32"),
    ref=lambda a: np.where(np.arange(64)[None] < np.arange(100)[:, None] // 2, a, -1e9),
)
def ragged_mask():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((100, 64), "float32"), c: Tx.Buffer((100, 64), "float32")):
        Tx.device_entry()
        t = S(100, 64)
        Tx.nki.dma_copy(t, a)
        Tx.nki.affine_select(
            dst=t,
            pattern=[[-2, 64]],
            channel_multiplier=1,
            on_true_tile=t,
            on_false_value=-1e9,
            cmp_op="greater",
            offset=-1,
        )
        Tx.nki.dma_copy(c, t)

    return user_kernel


@case(
    RNG.integers(-1000, 1000, (128, 64)).astype(np.int32),
    out=((128, 64), "int32"),
    ref=lambda a: ((a * 3 + 7) & 255) >> 1,
)
def int_work():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 64), "int32"), c: Tx.Buffer((128, 64), "int32")):
        Tx.device_entry()
        t = S(128, 64, dtype="int32")
        Tx.nki.dma_copy(t, a)
        Tx.nki.tensor_scalar(t, t, "multiply", 3.0, op1="add", operand1=7.0)
        Tx.nki.tensor_scalar(t, t, "bitwise_and", 255, op1="right_shift", operand1=1)
        Tx.nki.dma_copy(c, t)

    return user_kernel


@case(F(4, 200, 64), out=((4, 200, 64), "float32"), ref=lambda a: np.tanh(a), tol=1e-6)
def batch_4d():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((4, 200, 64), "float32"), c: Tx.Buffer((4, 200, 64), "float32")):
        Tx.device_entry()
        for b in range(4):
            for i, p in [(0, 128), (128, 72)]:
                t = S(p, 64)
                Tx.nki.dma_copy(t, a[b, i : i + p, :])
                Tx.nki.activation(t, t, "tanh")
                Tx.nki.dma_copy(c[b, i : i + p, :], t)

    return user_kernel


@case(F(128, 4, 64), out=((128, 64), "float32"), ref=lambda a: a.max(1))
def reduce_middle():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 4, 64), "float32"), c: Tx.Buffer((128, 64), "float32")):
        Tx.device_entry()
        t, r = S(128, 4, 64), S(128, 64)
        Tx.nki.dma_copy(t, a)
        Tx.nki.tensor_copy(r, t[:, 0, :])
        for i in range(1, 4):
            Tx.nki.tensor_tensor(r, r, t[:, i, :], "maximum")
        Tx.nki.dma_copy(c, r)

    return user_kernel


@case(F(128, 64), out=((128, 64), "float32"), ref=lambda a: a * np.arange(64)[None] / 64, tol=1e-6)
def iota_scale():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 64), "float32"), c: Tx.Buffer((128, 64), "float32")):
        Tx.device_entry()
        t, pos = S(128, 64), S(128, 64)
        Tx.nki.dma_copy(t, a)
        Tx.nki.iota(dst=pos, pattern=[[1, 64]], offset=0, channel_multiplier=0)
        Tx.nki.scalar_tensor_tensor(t, pos, 1 / 64, t, "mul", "mul")
        Tx.nki.dma_copy(c, t)

    return user_kernel


@case(F(64, 96), F(32, 96), out=((64, 32), "float32"), ref=lambda a, b: a @ b.T, tol=1e-4)
def transposed_operands():
    @Tx.prim_func
    def user_kernel(
        a: Tx.Buffer((64, 96), "float32"), b: Tx.Buffer((32, 96), "float32"), c: Tx.Buffer((64, 32), "float32")
    ):
        Tx.device_entry()
        at, bt, aT, bT, p1, p2, acc, r = (
            S(64, 96),
            S(32, 96),
            S(96, 64),
            S(96, 32),
            P(96, 64),
            P(96, 32),
            P(64, 32),
            S(64, 32),
        )
        Tx.nki.dma_copy(at, a)
        Tx.nki.dma_copy(bt, b)
        Tx.nki.nc_transpose(dst=p1, data=at)
        Tx.nki.tensor_copy(aT, p1)
        Tx.nki.nc_transpose(dst=p2, data=bt)
        Tx.nki.tensor_copy(bT, p2)
        Tx.nki.nc_matmul(acc, aT, bT)
        Tx.nki.tensor_copy(r, acc)
        Tx.nki.dma_copy(c, r)

    return user_kernel


@case(F(128, 300), out=((128, 3), "float32"), ref=lambda a: np.stack([a.mean(1), a.var(1), a.max(1)], 1), tol=1e-5)
def stats():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 300), "float32"), c: Tx.Buffer((128, 3), "float32")):
        Tx.device_entry()
        t, r, sq, nm = S(128, 300), S(128, 3), S(128, 300), S(128, 1)
        Tx.nki.dma_copy(t, a)
        Tx.nki.tensor_reduce(r[:, 0:1], "add", t, axis=(1,))
        Tx.nki.tensor_scalar(r[:, 0:1], r[:, 0:1], "multiply", 1 / 300)
        Tx.nki.tensor_scalar(nm, r[:, 0:1], "multiply", -1.0)
        Tx.nki.activation_reduce(
            act_res=sq, opcode="square", data=t, reduce_opcode="add", reduce_res=r[:, 1:2], bias=nm
        )
        Tx.nki.tensor_scalar(r[:, 1:2], r[:, 1:2], "divide", 300.0)
        Tx.nki.tensor_reduce(r[:, 2:3], "maximum", t, axis=1)
        Tx.nki.dma_copy(c, r)

    return user_kernel


@case(F(16, 256), F(16, 256), F(16, 256), out=((16, 256), "float32"), ref=lambda d, a, u: scanned(d, a, u), tol=1e-4)
def mamba_like():
    @Tx.prim_func
    def user_kernel(
        delta: Tx.Buffer((16, 256), "float32"),
        A: Tx.Buffer((16, 256), "float32"),
        u: Tx.Buffer((16, 256), "float32"),
        out: Tx.Buffer((16, 256), "float32"),
    ):
        Tx.device_entry()
        d, a, x, da, h = S(16, 256), S(16, 256), S(16, 256), S(16, 256), S(16, 256)
        Tx.nki.dma_copy(d, delta)
        Tx.nki.dma_copy(a, A)
        Tx.nki.dma_copy(x, u)
        Tx.nki.tensor_tensor(da, d, a, "multiply")
        Tx.nki.activation(da, da, "sigmoid")
        Tx.nki.tensor_tensor(x, d, x, "multiply")
        Tx.nki.tensor_tensor_scan(h, da, x, 0.0, "multiply", "add")
        Tx.nki.dma_copy(out, h)

    return user_kernel


@case(
    F(128, 64),
    out=((128, 64), "float32"),
    ref=lambda a: sum(np.where(np.arange(128)[:, None] // 32 == q, a * (q + 1), 0) for q in range(4)),
)
def quadrants():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 64), "float32"), c: Tx.Buffer((128, 64), "float32")):
        Tx.device_entry()
        t = S(128, 64)
        Tx.nki.dma_copy(t, a)
        for q in range(4):
            Tx.nki.tensor_scalar(
                t[q * 32 : (q + 1) * 32, :], t[q * 32 : (q + 1) * 32, :], "multiply", Tx.cast(q + 1, "float32")
            )
        Tx.nki.dma_copy(c, t)

    return user_kernel


@case(F(128, 64), out=((64, 64), "float32"), ref=lambda a: np.concatenate([a[5:37], a[70:102]]))
def gather_rows():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 64), "float32"), c: Tx.Buffer((64, 64), "float32")):
        Tx.device_entry()
        t, u = S(128, 64), S(64, 64)
        Tx.nki.dma_copy(t, a)
        Tx.nki.dma_copy(u[0:32, :], t[5:37, :])
        Tx.nki.dma_copy(u[32:64, :], t[70:102, :])
        Tx.nki.dma_copy(c, u)

    return user_kernel


@case(F(300, 130), out=((300, 130), "float32"), ref=lambda a: a * 2)
def ragged_if():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((300, 130), "float32"), c: Tx.Buffer((300, 130), "float32")):
        Tx.device_entry()
        for i in range(3):
            t = S(128, 130)
            if i < 2:
                Tx.nki.dma_copy(t, a[i * 128 : i * 128 + 128, :])
                Tx.nki.tensor_scalar(t, t, "multiply", 2.0)
                Tx.nki.dma_copy(c[i * 128 : i * 128 + 128, :], t)
            else:
                Tx.nki.dma_copy(t[0:44, :], a[256:300, :])
                Tx.nki.tensor_scalar(t[0:44, :], t[0:44, :], "multiply", 2.0)
                Tx.nki.dma_copy(c[256:300, :], t[0:44, :])

    return user_kernel


@case(F(1024, 64), out=((1024, 64), "float32"), ref=lambda a: a + 1)
def pf_large():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((1024, 64), "float32"), c: Tx.Buffer((1024, 64), "float32")):
        Tx.device_entry()
        t = S(1024, 64, layout="PF")
        Tx.nki.load(t, a)
        Tx.nki.tensor_scalar(t, t, "add", 1.0)
        Tx.nki.store(c, t)

    return user_kernel


@case(
    F(128, 2048).astype(ml_dtypes.bfloat16),
    F(128, 128).astype(ml_dtypes.bfloat16),
    out=((128, 2048), "float32"),
    ref=lambda b, a: a.astype(np.float32).T @ b.astype(np.float32),
    tol=1e-4,
)
def psum_4banks():
    @Tx.prim_func
    def user_kernel(
        b: Tx.Buffer((128, 2048), "bfloat16"),
        a: Tx.Buffer((128, 128), "bfloat16"),
        c: Tx.Buffer((128, 2048), "float32"),
    ):
        Tx.device_entry()
        bt, at, acc, r = S(128, 2048, dtype="bfloat16"), S(128, 128, dtype="bfloat16"), P(128, 2048), S(128, 2048)
        Tx.nki.dma_copy(bt, b)
        Tx.nki.dma_copy(at, a)
        for n in range(4):
            Tx.nki.nc_matmul(acc[:, n * 512 : (n + 1) * 512], at, bt[:, n * 512 : (n + 1) * 512])
        Tx.nki.tensor_copy(r, acc)
        Tx.nki.dma_copy(c, r)

    return user_kernel


@case(F(64, 128, 32), out=((64, 32), "float32"), ref=lambda a: a.sum(1), tol=1e-4)
def sum_over_partition_by_matmul():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((64, 128, 32), "float32"), c: Tx.Buffer((64, 32), "float32")):
        Tx.device_entry()
        ones = S(128, 1)
        Tx.nki.memset(ones, 1.0)
        for i in range(64):
            t, acc, r = S(128, 32), P(1, 32), S(1, 32)
            Tx.nki.dma_copy(t, a[i, :, :])
            Tx.nki.nc_matmul(acc, ones, t)
            Tx.nki.tensor_copy(r, acc)
            Tx.nki.dma_copy(c[i : i + 1, :], r)

    return user_kernel


@case(F(128, 128), out=((128, 128), "float32"), ref=lambda a: np.where(a > 0, a, 0.1 * a))
def leaky_relu():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 128), "float32"), c: Tx.Buffer((128, 128), "float32")):
        Tx.device_entry()
        t, n = S(128, 128), S(128, 128)
        Tx.nki.dma_copy(t, a)
        Tx.nki.tensor_scalar(n, t, "minimum", 0.0, op1="multiply", operand1=0.1)
        Tx.nki.scalar_tensor_tensor(t, t, 0.0, n, "max", "add")
        Tx.nki.dma_copy(c, t)

    return user_kernel


@case(F(128, 256), out=((128, 256), "float32"), ref=lambda a: np.clip(np.rint(a * 10), -128, 127) / 10, tol=1e-6)
def int8_roundtrip():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 256), "float32"), c: Tx.Buffer((128, 256), "float32")):
        Tx.device_entry()
        t, q = S(128, 256), S(128, 256, dtype="int8")
        Tx.nki.dma_copy(t, a)
        Tx.nki.tensor_scalar(q, t, "multiply", 10.0)
        Tx.nki.tensor_scalar(t, q, "multiply", 0.1)
        Tx.nki.dma_copy(c, t)

    return user_kernel


@case(F(8, 64, 64), out=((8, 64, 64), "float32"), ref=lambda a: a.swapaxes(1, 2))
def nc_transpose_batched():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((8, 64, 64), "float32"), c: Tx.Buffer((8, 64, 64), "float32")):
        Tx.device_entry()
        for b in range(8):
            t, p, r = S(64, 64), P(64, 64), S(64, 64)
            Tx.nki.dma_copy(t, a[b, :, :])
            Tx.nki.nc_transpose(p, t)
            Tx.nki.tensor_copy(r, p)
            Tx.nki.dma_copy(c[b, :, :], r)

    return user_kernel


@case(F(128, 64) + 3, out=((128, 64), "float32"), ref=lambda a: a / a)
def self_divide():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 64), "float32"), c: Tx.Buffer((128, 64), "float32")):
        Tx.device_entry()
        x = S(128, 64)
        Tx.nki.dma_copy(x, a)
        Tx.nki.tensor_tensor(x, x, x, "divide")
        Tx.nki.dma_copy(c, x)

    return user_kernel


@case(
    F(256, 64) + 3,
    out=((256, 64), "float32"),
    ref=lambda a: np.concatenate([a[:128] / a[0, 0] + a[0, 1], a[128:] / a[128, 0] + a[128, 1]]),
)
def lone_in_loop():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((256, 64), "float32"), c: Tx.Buffer((256, 64), "float32")):
        Tx.device_entry()
        for i in range(2):
            x = S(128, 64)
            Tx.nki.dma_copy(x, a[i * 128 : (i + 1) * 128, :])
            Tx.nki.tensor_scalar(x, x, "divide", x[0:1, 0:1], op1="add", operand1=x[0:1, 1:2])
            Tx.nki.dma_copy(c[i * 128 : (i + 1) * 128, :], x)

    return user_kernel


@case(
    F(256, 32).astype(F8),
    F(256, 48).astype(F8),
    out=((32, 48), "float32"),
    ref=lambda a, b: a.astype(np.float32).T @ b.astype(np.float32),
)
def double_row_pf():
    @Tx.prim_func
    def user_kernel(
        a: Tx.Buffer((256, 32), "float8_e4m3"),
        b: Tx.Buffer((256, 48), "float8_e4m3"),
        c: Tx.Buffer((32, 48), "float32"),
    ):
        Tx.device_entry()
        x, y, acc, r = (
            S(256, 32, dtype="float8_e4m3", layout="PF"),
            S(256, 48, dtype="float8_e4m3", layout="PF"),
            P(32, 48),
            S(32, 48),
        )
        Tx.nki.load(x, a)
        Tx.nki.load(y, b)
        Tx.nki.nc_matmul(acc, x, y, perf_mode="double_row")
        Tx.nki.tensor_copy(r, acc)
        Tx.nki.store(c, r)

    return user_kernel


@case(
    F(2, 16, 4, 32).astype(ml_dtypes.bfloat16), out=((2, 32, 4, 16), "bfloat16"), ref=lambda a: a.transpose(0, 3, 2, 1)
)
def dma_transpose_3d_batch():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((2, 16, 4, 32), "bfloat16"), c: Tx.Buffer((2, 32, 4, 16), "bfloat16")):
        Tx.device_entry()
        for b in range(2):
            t = S(32, 4, 16, dtype="bfloat16")
            Tx.nki.dma_transpose(t, a[b, :, :, :], axes=(2, 1, 0))
            Tx.nki.dma_copy(c[b, :, :, :], t)

    return user_kernel


@case(F(128, 64), out=((128, 1), "float32"), ref=lambda a: np.exp(a * 2).sum(1, keepdims=True), tol=1e-5)
def activation_nki_style():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 64), "float32"), c: Tx.Buffer((128, 1), "float32")):
        Tx.device_entry()
        x, s = S(128, 64), S(128, 1)
        Tx.nki.dma_copy(dst=x, src=a)
        Tx.nki.activation(dst=x, op="exp", data=x, scale=2.0, reduce_op="add", reduce_res=s, reduce_cmd="reset_reduce")
        Tx.nki.dma_copy(dst=c, src=s)

    return user_kernel


@case(F(128, 64), out=((64, 64), "float32"), ref=lambda a: (a.T @ a) - (a.T @ a).max(1, keepdims=True), tol=1e-4)
def column_with_psum():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 64), "float32"), c: Tx.Buffer((64, 64), "float32")):
        Tx.device_entry()
        x, acc, m, r = S(128, 64), P(64, 64), S(64, 1), S(64, 64)
        Tx.nki.dma_copy(x, a)
        Tx.nki.nc_matmul(acc, x, x)
        Tx.nki.tensor_reduce(m, "max", acc, axis=1)
        Tx.nki.tensor_tensor(r, acc, m, "subtract")
        Tx.nki.dma_copy(c, r)

    return user_kernel


@case(
    F(256, 64),
    out=((256, 64), "float32"),
    ref=lambda a: np.where(np.arange(256)[:, None] >= np.arange(64)[None] * 4, a, 0),
)
def select_with_loop():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((256, 64), "float32"), c: Tx.Buffer((256, 64), "float32")):
        Tx.device_entry()
        for i in range(2):
            x = S(128, 64)
            Tx.nki.dma_copy(x, a[i * 128 : (i + 1) * 128, :])
            Tx.nki.affine_select(x, Tx.nki.index(0) + i * 128 >= Tx.nki.index(1) * 4, x, 0.0)
            Tx.nki.dma_copy(c[i * 128 : (i + 1) * 128, :], x)

    return user_kernel


@case(
    F(128, 64),
    out=((128, 64), "float32"),
    ref=lambda a: a * np.where(np.arange(4)[None, :, None] % 2 == 0, 1, 2).repeat(16, 2).reshape(1, 64),
)
def choose_scalar():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 64), "float32"), c: Tx.Buffer((128, 64), "float32")):
        Tx.device_entry()
        x = S(128, 64)
        Tx.nki.dma_copy(x, a)
        for i in range(4):
            Tx.nki.tensor_scalar(
                x[:, i * 16 : i * 16 + 16],
                x[:, i * 16 : i * 16 + 16],
                "multiply",
                Tx.if_then_else(i % 2 == 0, 1.0, 2.0),
            )
        Tx.nki.dma_copy(c, x)

    return user_kernel


@case(
    F(128, 256),
    out=((128, 256), "float32"),
    ref=lambda a: a / (1 + np.exp(-a)) / (np.abs(a).max(1, keepdims=True)),
    tol=1e-5,
)
def tile_and_nki():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 256), "float32"), c: Tx.Buffer((128, 256), "float32")):
        Tx.device_entry()
        x, y, m = S(128, 256, layout="PF"), S(128, 256, layout="PF"), S(128, 1, layout="PF")
        Tx.tile.copy(x, a)
        Tx.nki.activation(y, x, "abs")
        Tx.tile.max(m, y, (1,))
        Tx.tile.silu(x, x)
        Tx.nki.tensor_tensor(x, x, m, "divide")
        Tx.tile.copy(c, x)

    return user_kernel


@case(
    F(64, 96).astype(ml_dtypes.bfloat16),
    out=((64, 96), "bfloat16"),
    ref=lambda a: a.astype(np.float32) / np.float32(3),
    tol=0.01,
)
def bf16_divide():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((64, 96), "bfloat16"), c: Tx.Buffer((64, 96), "bfloat16")):
        Tx.device_entry()
        x, y = S(64, 96, dtype="bfloat16"), S(64, 96, dtype="bfloat16")
        Tx.nki.dma_copy(x, a)
        Tx.nki.memset(y, 3.0)
        Tx.nki.tensor_tensor(x, x, y, "divide")
        Tx.nki.dma_copy(c, x)

    return user_kernel


@case(F(128, 4, 8), out=((128, 4, 8), "float32"), ref=lambda a: a / (np.abs(a) + 1).sum(2, keepdims=True), tol=1e-5)
def planes_divide():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 4, 8), "float32"), c: Tx.Buffer((128, 4, 8), "float32")):
        Tx.device_entry()
        x, y, s = S(128, 4, 8), S(128, 4, 8), S(128, 4)
        Tx.nki.dma_copy(x, a)
        Tx.nki.activation(y, x, "abs")
        Tx.nki.tensor_scalar(y, y, "add", 1.0)
        Tx.nki.tensor_reduce(s, "add", y, axis=2)
        for i in range(4):
            Tx.nki.tensor_scalar(x[:, i, :], x[:, i, :], "divide", s[:, i : i + 1])
        Tx.nki.dma_copy(c, x)

    return user_kernel


@case(F(128, 64), out=((128, 64), "float32"), ref=lambda a: 2 / (a + np.float32(10)), tol=1e-5)
def rev_two_step():
    @Tx.prim_func
    def user_kernel(a: Tx.Buffer((128, 64), "float32"), c: Tx.Buffer((128, 64), "float32")):
        Tx.device_entry()
        x = S(128, 64)
        Tx.nki.dma_copy(x, a)
        Tx.nki.tensor_scalar(dst=x, data=x, op0="add", operand0=10.0, op1="divide", operand1=2.0, reverse1=True)
        Tx.nki.dma_copy(c, x)

    return user_kernel


@case(
    F(32, 32),
    F(32, 32),
    F(32, 32),
    F(32, 32),
    out=((128, 32), "float32"),
    ref=lambda a, b, c, d: np.concatenate([x.T @ x for x in (a, b, c, d)]),
    tol=1e-4,
)
def quad_tiling():
    @Tx.prim_func
    def user_kernel(
        a: Tx.Buffer((32, 32), "float32"),
        b: Tx.Buffer((32, 32), "float32"),
        c: Tx.Buffer((32, 32), "float32"),
        d: Tx.Buffer((32, 32), "float32"),
        o: Tx.Buffer((128, 32), "float32"),
    ):
        Tx.device_entry()
        x, acc, r = S(128, 32), P(128, 32), S(128, 32)
        for q, m in enumerate((a, b, c, d)):
            Tx.nki.dma_copy(x[q * 32 : q * 32 + 32, :], m)
            Tx.nki.nc_matmul(
                acc[q * 32 : q * 32 + 32, :],
                x[q * 32 : q * 32 + 32, :],
                x[q * 32 : q * 32 + 32, :],
                tile_position=(q * 32, 0),
                tile_size=(32, 128),
            )
        Tx.nki.tensor_copy(r, acc)
        Tx.nki.dma_copy(o, r)

    return user_kernel


@pytest.mark.parametrize("name", CASES)
def test_a_users_kernel(name: str, tmp_path: Path) -> None:
    make, inputs, shape, dtype, formula, tolerance = CASES[name]
    func, wanted = make(), np.asarray(formula(*inputs)).astype(np.float64)
    result = np.empty(shape, numpy_dtype(tirx.ir.DType(dtype)))
    report = tirx.simulate(func, *(array.copy() for array in inputs), result, target="trn")
    assert report.verdict == "clean", str(report)
    scale = max(1.0, float(np.abs(wanted).max()))
    assert np.abs(result.astype(np.float64) - wanted).max() <= tolerance * scale
    text = source_of(func)
    assert complaints(text) == []
    with imported(text, tmp_path) as module:
        executed = np.asarray(module.user_kernel_kernel(*inputs)).astype(np.float64)
    assert np.abs(executed - result.astype(np.float64)).max() <= max(tolerance, 1e-6) * scale


@pytest.mark.parametrize("generation", ["v2", "v4"])
@pytest.mark.parametrize("name", sorted(CASES.keys() - NEWER)[::5])
def test_on_other_generations(name: str, generation: str, tmp_path: Path) -> None:
    make, inputs, _, _, formula, tolerance = CASES[name]
    wanted = np.asarray(formula(*inputs)).astype(np.float64)
    with imported(source_of(make(), f"trn -generation={generation}"), tmp_path, generation) as module:
        executed = np.asarray(module.user_kernel_kernel(*inputs)).astype(np.float64)
    assert np.abs(executed - wanted).max() <= tolerance * max(1.0, float(np.abs(wanted).max()))
