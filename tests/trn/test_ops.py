"""Every instruction on small vectors worked out by hand: emitted, executed, compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.trn.build import kernel, psum, run, sbuf
from tests.trn.vectors import FUNCTIONS, VECTORS
from tirx.ir import Buffer, Call, PrimFunc
from tirx_trn import script as nki
from tirx_trn.opcodes import ACTIVATIONS

Build = Callable[..., Sequence[Any]]
X = np.array([[1, -2, 3, 4], [0.5, 6, -7, 8]], np.float32)
Y = np.array([[2, 2, -1, 4], [3, 0.25, 5, -8]], np.float32)
COLUMN = np.array([[10], [100]], np.float32)
NAMES = {
    "float32": np.float32, "bfloat16": ml_dtypes.bfloat16, "int32": np.int32, "int8": np.int8, "uint8": np.uint8, "uint32": np.uint32,
    "float8_e4m3": ml_dtypes.float8_e4m3,
}  # fmt: skip


def dtype_name(array: np.ndarray) -> str:
    return next(name for name, dtype in NAMES.items() if array.dtype == dtype)


def tile_kernel(build: Build, inputs: Sequence[np.ndarray], *results: tuple[tuple[int, ...], str]) -> PrimFunc:
    """Load each input to a tile, let `build` work on those and on a tile per result, store the results."""
    params = [Buffer(f"a{n}", x.shape, dtype_name(x)) for n, x in enumerate(inputs)]
    outs = [Buffer(f"r{n}", shape, dtype) for n, (shape, dtype) in enumerate(results)]
    tiles = [sbuf(f"t{n}", *p.shape, dtype=p.dtype.name) for n, p in enumerate((*params, *outs))]  # type: ignore[misc]
    loads = [nki.load(tile, param) for tile, param in zip(tiles, params, strict=False)]
    body = build(*tiles[: len(params)], *tiles[len(params) :])
    stores = [nki.store(out, tile) for out, tile in zip(outs, tiles[len(params) :], strict=True)]
    return kernel("op", [*params, *outs], *tiles, *loads, *body, *stores)


def wanted_array(item: Any, dtype: str = "float32") -> np.ndarray:
    """A result: integers as they are given, everything else of type `dtype`."""
    return item if isinstance(item, np.ndarray) and item.dtype.kind in "iu" else np.array(item, NAMES[dtype])


def case_kernel(case: tuple[Build, Sequence[np.ndarray], Sequence[Any]]) -> PrimFunc:
    """The kernel of a vector."""
    build, inputs, expected = case
    return tile_kernel(build, inputs, *((item.shape, dtype_name(item)) for item in map(wanted_array, expected)))


def check(
    folder: Path,
    build: Build,
    inputs: Sequence[np.ndarray],
    *expected: Any,
    dtype: str = "float32",
    target: str = "trn",
) -> None:
    """The emitted kernel gives `expected`."""
    wanted = [wanted_array(item, dtype) for item in expected]
    func = tile_kernel(build, inputs, *((item.shape, dtype_name(item)) for item in wanted))
    got = run(func, folder, *inputs, target=target)
    for result, item in zip(got if isinstance(got, tuple) else (got,), wanted, strict=True):
        np.testing.assert_array_equal(result, item)


CASES: dict[str, tuple[Build, list[np.ndarray], list[Any]]] = {
    "tensor_copy": (lambda x, r: [nki.tensor_copy(r, x)], [X], [X]),
    "memset": (lambda x, r: [nki.memset(r, 1.5)], [X], [np.full((2, 3), 1.5)]),
    "reciprocal": (lambda x, r: [nki.reciprocal(r, x)], [Y], [[[0.5, 0.5, -1, 0.25], [np.float32(1) / np.float32(3), 4, 0.2, -0.125]]]),
    "add": (lambda x, y, r: [nki.tensortensor(r, x, y, "add")], [X, Y], [[[3, 0, 2, 8], [3.5, 6.25, -2, 0]]]),
    "sub": (lambda x, y, r: [nki.tensortensor(r, x, y, "sub")], [X, Y], [[[-1, -4, 4, 0], [-2.5, 5.75, -12, 16]]]),
    "mul": (lambda x, y, r: [nki.tensortensor(r, x, y, "mul")], [X, Y], [[[2, -4, -3, 16], [1.5, 1.5, -35, -64]]]),
    "max": (lambda x, y, r: [nki.tensortensor(r, x, y, "max")], [X, Y], [[[2, 2, 3, 4], [3, 6, 5, 8]]]),
    "min": (lambda x, y, r: [nki.tensortensor(r, x, y, "min")], [X, Y], [[[1, -2, -1, 4], [0.5, 0.25, -7, -8]]]),
    "scalar number": (lambda x, r: [nki.tensorscalar(r, x, 3.0, "sub")], [X], [[[-2, -5, 0, 1], [-2.5, 3, -10, 5]]]),
    "scalar reversed": (lambda x, r: [nki.tensorscalar(r, x, 3.0, "sub", True)], [X], [[[2, 5, 0, -1], [2.5, -3, 10, -5]]]),
    "scalar column": (lambda x, c, r: [nki.tensorscalar(r, x, c, "mul")], [X, COLUMN], [[[10, -20, 30, 40], [50, 600, -700, 800]]]),
    "reduce add": (lambda x, r: [nki.tensorreduce(r, x, "add", False, 1)], [X], [[[6], [7.5]]]),
    "reduce max negated": (lambda x, r: [nki.tensorreduce(r, x, "max", True, -1)], [X], [[[-4], [-8]]]),
    "reduce min": (lambda x, r: [nki.tensorreduce(r, x, "min", False, -1)], [X], [[[-2], [-7]]]),
    "reduce mul": (lambda x, r: [nki.tensorreduce(r, x, "mul", False, -1)], [X], [[[-24], [-168]]]),
    "sqrt": (lambda x, r: [nki.activation(r, x, "sqrt", 1.0, 3.0)], [np.array([[1, 5], [8, 33]], np.float32)], [[[2, 4], [5, 10]]]),
    "exp bias first column": (
        lambda x, b, r: [nki.activation(r, x, "exp", b, 0.0)],
        [X[:, :2], np.array([[0], [1]], np.float32)],
        [[[1, 1], [np.exp(np.float32(1))] * 2]],
    ),
    "scale column": (
        lambda x, s, r: [nki.activation(r, x, "sqrt", 0.0, s)], [np.full((2, 2), 4, np.float32), COLUMN * COLUMN],
        [[[20, 20], [200, 200]]],
    ),
    "activation_reduce": (
        lambda x, s, r: [nki.activation_reduce(s, r, x, "sqrt", "add", 1.0, 3.0)],
        [np.array([[1, 5], [8, 33]], np.float32)],
        [[[6], [15]], [[2, 4], [5, 10]]],
    ),
    "tensorscalar_reduce": (
        lambda x, s, r: [nki.tensorscalar_reduce(s, r, x, 2.0, "mul", "max")],
        [X],
        [[[8], [16]], X * 2],
    ),
    "scalar_tensor_tensor": (
        lambda x, y, r: [nki.scalar_tensor_tensor(r, x, 2.0, y, "mul", "sub")],
        [X, Y],
        [X * 2 - Y],
    ),
    "scalar_tensor_tensor reversed": (
        lambda x, y, r: [nki.scalar_tensor_tensor(r, x, 2.0, y, "sub", "sub", True, True)],
        [X, Y],
        [Y - (2 - X)],
    ),
    "scalar_tensor_scalar": (
        lambda x, c, r: [nki.scalar_tensor_scalar(r, x, c, 1.0, "mul", "sub", False, True)],
        [X, COLUMN],
        [1 - X * COLUMN],
    ),
    "identity": (lambda x, r: [nki.identity(r, 3)], [X], [np.eye(3)]),
    "select lower triangle": (
        lambda x, r: [nki.affine_select(r, nki.index(0) >= nki.index(1), x, -1.0)],
        [X],
        [[[1, -1, -1, -1], [0.5, 6, -1, -1]]],
    ),
    "select even": (
        lambda x, r: [nki.affine_select(r, nki.index(1) * 2 + nki.index(0) < 3, x, 0.0)],
        [X],
        [[[1, -2, 0, 0], [0.5, 0, 0, 0]]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_instruction(name: str, tmp_path: Path) -> None:
    build, inputs, expected = CASES[name]
    check(tmp_path, build, inputs, *expected)


ALL: dict[str, tuple[Build, list[np.ndarray], list[Any]]] = {**CASES, **VECTORS}


@pytest.mark.parametrize("name", VECTORS)
def test_vector(name: str, tmp_path: Path) -> None:
    build, inputs, expected = VECTORS[name]
    check(tmp_path, build, inputs, *expected)


@pytest.mark.parametrize("opcode", ACTIVATIONS)
def test_function(opcode: str, tmp_path: Path) -> None:
    argument, value = FUNCTIONS[opcode]
    func = tile_kernel(lambda x, r: [nki.activation(r, x, opcode)], [np.float32([[argument]])], ((1, 1), "float32"))
    np.testing.assert_allclose(run(func, tmp_path, np.float32([[argument]])), [[value]], rtol=2e-7, atol=0)


def test_device_memory_is_copied_without_a_tile(tmp_path: Path) -> None:
    a, b = Buffer("a", (4, 6)), Buffer("b", (6, 4))
    rows = [nki.dma_copy(dst=b[i, :], src=a[:, i]) for i in range(6)]
    func = kernel("columns", [a, b], *rows)
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    np.testing.assert_array_equal(run(func, tmp_path, x), x.T)


def test_matmul_is_transposed_lhs_times_rhs(tmp_path: Path) -> None:
    lhs, rhs = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.array([[1, 0], [10, 1]], np.float32)

    def build(a: Buffer, b: Buffer, r: Buffer) -> list[Buffer | Call]:
        acc = psum("acc", 3, 2)
        return [acc, nki.matmul(acc, a, b), nki.tensor_copy(r, acc)]

    check(tmp_path, build, [lhs, rhs], [[41, 4], [52, 5], [63, 6]])


@pytest.mark.parametrize(("accum", "factor"), [(True, 3), (False, 1)])
def test_matmul_accumulates_or_replaces(accum: bool, factor: int, tmp_path: Path) -> None:
    def build(a: Buffer, b: Buffer, r: Buffer) -> list[Buffer | Call]:
        acc = psum("acc", 4, 4)
        return [acc, *(nki.matmul(acc, a, b, accum) for _ in range(3)), nki.tensor_copy(r, acc)]

    check(tmp_path, build, [X, Y], (X.T @ Y) * factor)


def test_a_bias_that_is_a_number_becomes_a_tile_on_v2(tmp_path: Path) -> None:
    data = np.array([[1, 5], [8, 33]], np.float32)
    check(
        tmp_path,
        lambda x, r: [nki.activation(r, x, "sqrt", 1.0, 3.0)],
        [data],
        [[2, 4], [5, 10]],
        target="trn -generation=v2",
    )


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        ("int32", [[0.5, 1.5, -2.5, 3e10]], [[0, 2, -2, 2**31 - 1]]),
        ("int8", [[127.4, 300, -300, -0.5]], [[127, 127, -128, 0]]),
        ("uint8", [[-5, 254.5, 255.5, 3]], [[0, 254, 255, 3]]),
        ("bfloat16", [[1.00390625, 1.01171875, 3, -4]], [[1, 1.015625, 3, -4]]),
    ],
)
def test_conversion_rounds_to_even_and_saturates(dtype: str, values: Any, expected: Any, tmp_path: Path) -> None:
    check(tmp_path, lambda x, r: [nki.tensor_copy(r, x)], [np.array(values, np.float32)], expected, dtype=dtype)


def test_int32_work_is_exact(tmp_path: Path) -> None:
    big = np.array([[2**24 + 1, 2**30]], np.int32)
    check(
        tmp_path,
        lambda x, y, r: [nki.tensortensor(r, x, y, "add")],
        [big, np.ones((1, 2), np.int32)],
        [[2**24 + 2, 2**30 + 1]],
        dtype="int32",
    )
