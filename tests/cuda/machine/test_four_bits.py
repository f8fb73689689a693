"""Floats of four bits, two to a byte: C++ and simulator agree on loads, stores, conversions, vectors of all widths, views."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tests.cuda.machine.build import COMPILER, MISSING, Machine
from tests.programs.examples import copies
from tirx import script as Tx
from tirx.ir import DType, PrimFunc
from tirx.runtime import pack_elements, unpack_elements

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

TARGET = "cuda -arch=sm_100a"
F4, COUNT = "float4_e2m1fn", 128
WIDE = ("float32", "float16", "bfloat16", "float64", "int32", "int8", "float8_e4m3fn", "float6_e3m2fn", "bool")
WIDTHS = (1, 2, 4, 8, 16, 32)
NUMBERS = unpack_elements(np.arange(0, 256, 17, dtype=np.uint8), F4)[::2].astype(np.float32)  # all sixteen


def conversion(dtype: str, lanes: int) -> PrimFunc:
    """To a wider type and from it, `lanes` at a time; single ones are gathered in a vector of two first."""
    with Tx.prim_func() as frame:
        Tx.func_name("conversion")
        A, O = (Tx.arg(name, Tx.Buffer((COUNT,), F4)) for name in "AO")
        W, P = (Tx.arg(name, Tx.Buffer((COUNT,), dtype)) for name in "WP")
        Tx.device_entry()
        step = max(lanes, 2)
        tx = Tx.thread_id([COUNT // step])
        if lanes > 1:
            P.vstore(
                [tx * lanes],
                Tx.cast(A.vload([tx * lanes], DType(F4).with_lanes(lanes)), DType(dtype).with_lanes(lanes)),
            )
            O.vstore(
                [tx * lanes],
                Tx.cast(W.vload([tx * lanes], DType(dtype).with_lanes(lanes)), DType(F4).with_lanes(lanes)),
            )
        else:
            for lane in range(2):
                Tx.buffer_store(P, Tx.cast(A[tx * 2 + lane], dtype), [tx * 2 + lane])
            O.vstore([tx * 2], Tx.Shuffle([Tx.cast(W[tx * 2 + lane], F4) for lane in range(2)], [0, 1]))
    return frame.get()


@Tx.prim_func
def anywhere(
    A: Tx.Buffer((4, 32), F4),
    W: Tx.Buffer((4, 32), "int32"),
    O: Tx.Buffer((4, 32), F4),
    P: Tx.Buffer((4, 32), "float32"),
):
    """Elements whose halves are known only when the kernel runs; a thread's own memory, written half by half."""
    Tx.device_entry()
    tx = Tx.thread_id([4])
    own = Tx.alloc_local((32,), F4)
    for i in Tx.serial(32):
        own[31 - i] = A[tx, W[tx, i]]
    for i in Tx.unroll(16):
        own[2 * i + 1] = Tx.cast(Tx.cast(own[2 * i + 1], "float32") * 2.0 + Tx.cast(own[i], "float32"), F4)
    for i in Tx.serial(4):
        for j in Tx.vectorized(8):
            O[tx, i * 8 + j] = own[i * 8 + j]
            P[tx, i * 8 + j] = Tx.cast(own[i * 8 + j], "float32")


@Tx.prim_func
def vectors(
    A: Tx.Buffer((COUNT,), F4),
    W: Tx.Buffer((COUNT // 8,), "uint32"),
    O: Tx.Buffer((COUNT,), F4),
    P: Tx.Buffer((COUNT // 2,), f"{F4}x2"),
):
    """Bits, lanes, choices, splats; a scalar and a vector that change; a view in pairs; pointers."""
    Tx.device_entry()
    tx = Tx.thread_id([COUNT // 8])
    tile = Tx.alloc_shared((COUNT,), F4)
    for j in Tx.vectorized(8):
        tile[tx * 8 + j] = A[tx * 8 + j]
    Tx.cuda.cta_sync()
    W[tx] = Tx.reinterpret("uint32", tile.vload([(15 - tx) * 8], f"{F4}x8")) ^ Tx.uint32(0x10000001)
    one: Tx.float4_e2m1fn = tile[tx]
    if Tx.cast(one, "float32") > 1.0:
        one = Tx.float4_e2m1fn(-0.5)
    pair = tile.view(f"{F4}x2")
    P[tx * 4] = pair[tx * 4 + 1]
    P[tx * 4 + 1] = Tx.Shuffle([pair[tx * 4 + 1], pair[tx * 4 + 2]], [3, 0])
    P[tx * 4 + 2] = Tx.Broadcast(one, 2)
    P[tx * 4 + 3] = Tx.reinterpret(f"{F4}x2", Tx.cast(tx * 3, "uint8"))
    for j in Tx.vectorized(8):
        O[tx * 8 + j] = Tx.Select(A[tx * 8 + j] > Tx.float4_e2m1fn(1.0), A[tx * 8 + j], one)
    words = Tx.decl_buffer((COUNT // 8,), "uint32", data=Tx.reinterpret("handle", tile.ptr_to([0])))
    W[tx] = W[tx] + words[tx]


KERNELS = {f"conversion_{dtype}_{lanes}": conversion(dtype, lanes) for dtype in WIDE for lanes in WIDTHS}
KERNELS |= {"anywhere": anywhere, "vectors": vectors}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """All of them in one shared object."""
    made = {name: tirx.compile(kernel, TARGET) for name, kernel in KERNELS.items()}
    return Machine.of(tmp_path_factory.mktemp("four"), made, "-O0")


def arguments(kernel: PrimFunc) -> tuple[Any, ...]:
    """All sixteen numbers in any order; wide numbers on, beside and far from what they round to; indices."""
    rng, made = np.random.default_rng(5), []
    for param in kernel.params:
        dtype, shape = DType(param.dtype), param.shape
        if dtype.is_packed:
            made.append(rng.integers(0, 256, (*shape[:-1], shape[-1] * dtype.lanes // 2)).astype(np.uint8))
        elif dtype.is_integer or dtype.is_bool:
            made.append(rng.integers(0, 2 if dtype.is_bool else 32, shape).astype(dtype.name))
        else:
            near = rng.choice(NUMBERS, shape) + rng.choice([0, 0.25, -0.25, 0.5, 0.26, 1e-3, 100, -1e30], shape)
            held = np.asarray(near).astype(getattr(ml_dtypes, dtype.name, None) or dtype.name)
            if dtype.name in ("float32", "float64", "bfloat16"):
                held.reshape(-1)[:3] = np.inf, -np.inf, np.nan
            made.append(held)
    return tuple(made)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
def test_four_bits(name: str, machine: Machine) -> None:
    given = arguments(KERNELS[name])
    real, simulated = copies(given), copies(given)
    machine.run(name, *real)
    report = tirx.simulate(KERNELS[name], *simulated, target=TARGET)
    assert report.verdict == "clean", str(report)
    for one, other in zip(real, simulated, strict=True):
        assert one.tobytes() == other.tobytes(), (one, other)


def test_numbers_become_the_nearest(machine: Machine) -> None:
    """Against ml_dtypes, which rounds alike, and does not saturate."""
    given = arguments(KERNELS["conversion_float32_8"])
    machine.run("conversion_float32_8", *given)
    a, o, w, p = given
    np.testing.assert_array_equal(p, unpack_elements(a, F4).astype(np.float32))
    wanted = np.clip(np.where(np.isnan(w), 6.0, w), -6, 6).astype(ml_dtypes.float4_e2m1fn)
    np.testing.assert_array_equal(o, pack_elements(wanted))
