"""Functions of the math library, the bits of values, vectors of all widths: C++ and simulator agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.machine.build import COMPILER, MISSING, Machine
from tests.cuda.machine.compare import distance, where
from tests.programs.examples import copies
from tirx import script as Tx
from tirx.ir import DType, PrimFunc
from tirx.ir.numpy_types import numpy_dtype

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

TARGET = "cuda -arch=sm_90a"
COUNT, LENGTH = 64, 48
UNARY = [
    "exp",
    "exp2",
    "exp10",
    "log",
    "log1p",
    "log2",
    "log10",
    "sqrt",
    "rsqrt",
    "erf",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "round",
    "nearbyint",
]
BINARY = ["atan2", "hypot", "pow", "fmod", "copysign"]
ULP = {"float32": 3, "float64": 3, "float16": 0, "bfloat16": 0}  # small ones: by way of float32
FLOATS = tuple(ULP)
BITS = [
    ("float32", "int32"), ("float32", "uint32"), ("int32", "float32"), ("uint32", "float32"), ("float64", "int64"), ("uint64", "float64"),
    ("float16", "uint16"), ("float16", "int16"), ("uint16", "float16"), ("bfloat16", "uint16"), ("int16", "bfloat16"),
    ("float16", "bfloat16"), ("int8", "uint8"), ("uint32", "int32"), ("float8_e4m3fn", "uint8"), ("int8", "float8_e5m2"),
    ("float6_e2m3fn", "uint8"), ("uint8", "float6_e3m2fn"),
]  # fmt: skip
VECTORS = [
    (dtype, lanes)
    for dtype in (
        "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float6_e2m3fn",
        "float6_e3m2fn", "bool",
    )
    for lanes in (2, 3, 4, 8, 16)
]  # fmt: skip


def mathematics(dtype: str) -> PrimFunc:
    """A row of the result for each function."""
    with Tx.prim_func() as frame:
        Tx.func_name("mathematics")
        A, B = (Tx.arg(name, Tx.Buffer((COUNT,), dtype)) for name in "AB")
        O = Tx.arg("O", Tx.Buffer((len(UNARY) + len(BINARY) + 2, COUNT), dtype))
        Tx.device_entry()
        tx = Tx.thread_id([COUNT])
        made = [getattr(Tx, name)(A[tx]) for name in UNARY]
        made += [getattr(Tx, name)(A[tx], B[tx]) for name in BINARY]
        made += [Tx.fma(A[tx], B[tx], A[63 - tx]), Tx.ldexp(A[tx], Tx.int32(3))]
        for row, value in enumerate(made):
            Tx.buffer_store(O, value, [row, tx])
    return frame.get()


def bits(source: str, target: str) -> PrimFunc:
    """Values seen as another type."""
    with Tx.prim_func() as frame:
        Tx.func_name("bits")
        A = Tx.arg("A", Tx.Buffer((COUNT,), source))
        O = Tx.arg("O", Tx.Buffer((COUNT,), target))
        Tx.device_entry()
        tx = Tx.thread_id([COUNT])
        Tx.buffer_store(O, Tx.reinterpret(target, A[tx]), [tx])
    return frame.get()


def vectors(dtype: str, lanes: int) -> PrimFunc:
    """Vectors loaded, stored, converted, taken apart."""
    with Tx.prim_func() as frame:
        Tx.func_name("vectors")
        A, O = (Tx.arg(name, Tx.Buffer((LENGTH,), dtype)) for name in "AO")
        P = Tx.arg("P", Tx.Buffer((LENGTH,), "float32"))
        Tx.device_entry()
        tx = Tx.thread_id([LENGTH // lanes])
        value = A.vload([tx * lanes], DType(dtype).with_lanes(lanes).name)
        O.vstore([tx * lanes], value)
        P.vstore([tx * lanes], Tx.cast(value, DType("float32").with_lanes(lanes).name))
        Tx.evaluate(Tx.cuda.cta_sync())
        with Tx.If(tx == 1), Tx.Then():
            Tx.buffer_store(O, Tx.Shuffle([value], [lanes - 1]), [0])
    return frame.get()


KERNELS = {f"math_{dtype}": mathematics(dtype) for dtype in FLOATS}
KERNELS |= {f"bits_{source}_{target}": bits(source, target) for source, target in BITS}
KERNELS |= {f"vectors_{dtype}_{lanes}": vectors(dtype, lanes) for dtype, lanes in VECTORS}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """All of them in one shared object."""
    made = {name: tirx.compile(kernel, TARGET) for name, kernel in KERNELS.items()}
    return Machine.of(tmp_path_factory.mktemp("types"), made, "-O0")


def arguments(kernel: PrimFunc) -> tuple[Any, ...]:
    """Any bits for `bits` (8-bit floats: numbers), else numbers that all functions take."""
    rng, made = np.random.default_rng(4), []
    for param in kernel.params:
        dtype = numpy_dtype(DType(param.dtype))
        if kernel.name == "bits":
            size = param.shape[0] * dtype.itemsize
            codes = 64 if "float6" in kernel.params[0].dtype.name else 120
            made.append(rng.integers(0, codes, size).astype(np.uint8).view(dtype))
        elif DType(param.dtype).is_float:
            made.append((rng.random(param.shape) * 1.9 - 0.9).astype(dtype))
        else:
            made.append(rng.integers(0, 2 if dtype.kind == "b" else 99, param.shape).astype(dtype))
    return tuple(made)


@pytest.mark.parametrize("name", KERNELS)
def test_types(name: str, machine: Machine) -> None:
    given = arguments(KERNELS[name])
    real, simulated = copies(given), copies(given)
    machine.run(name, *real)
    report = tirx.simulate(KERNELS[name], *simulated, target=TARGET, checks="none")
    assert report.verdict == "clean", str(report)
    allowed = ULP[name.removeprefix("math_")] if name.startswith("math_") else 0
    for one, other in zip(real, simulated, strict=True):
        assert distance(one, other) <= allowed, where(one, other, allowed)


@pytest.mark.parametrize("pair", BITS)
def test_bits_are_kept(pair: tuple[str, str], machine: Machine) -> None:
    name = "bits_{}_{}".format(*pair)
    given, made = arguments(KERNELS[name])
    machine.run(name, given, made)
    assert given.tobytes() == made.tobytes()
