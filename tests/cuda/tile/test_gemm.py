"""`gemm` by `mma.sync`: every shape and type against NumPy, and what it refuses."""

from __future__ import annotations

import pytest

from tirx.backend import load
from tirx.layout import S, TileLayout
from tirx.layout.syntax import AxisNames
from tirx.support.errors import DispatchError
from tirx.testing.operations import Place, check_tile_operation

load("cuda")

from tirx_cuda.layout.mma import mma_fragment_layout  # noqa: E402  # the backend must be loaded first


def fragments(operand, instruction, dtype, atom, shape, transposed=False):
    """A tile of `shape` that a warp holds in fragments, one after the other."""
    layout = mma_fragment_layout(operand, instruction, dtype)
    if transposed:
        grouped, separators = layout.group(atom)
        layout, atom, shape = grouped.permute_by_groups(separators, (1, 0)), atom[::-1], shape[::-1]
    return Place("local", shape, dtype, layout.tile_to(list(shape), list(atom)))


SHAPES = [
    ("float16", "float32", 16, 16, "sm_80"), ("float16", "float16", 16, 16, "sm_80"), ("float16", "float32", 16, 8, "sm_75"),
    ("bfloat16", "float32", 16, 16, "sm_80"), ("bfloat16", "float32", 16, 8, "sm_80"),
    ("float32", "float32", 16, 8, "sm_80"), ("float32", "float32", 16, 4, "sm_80"),
    ("float8_e4m3fn", "float32", 16, 32, "sm_89"), ("float8_e5m2", "float32", 16, 32, "sm_89"),
    ("int8", "int32", 16, 32, "sm_80"), ("uint8", "int32", 16, 16, "sm_80"),
    ("float64", "float64", 16, 16, "sm_90"), ("float64", "float64", 8, 4, "sm_80"),
]  # fmt: skip


def operands(dtype, result, m, k, transposed=(False, False), tiles=(2, 2, 1)):
    name, (rows, columns, depth) = f"m{m}n8k{k}", tiles
    return {
        "D": fragments("D", name, result, (m, 8), (rows * m, columns * 8)),
        "A": fragments("A", name, dtype, (m, k), (rows * m, depth * k), transposed[0]),
        "B": fragments("B", name, dtype, (k, 8), (depth * k, columns * 8), transposed[1]),
        "C": fragments("C", name, result, (m, 8), (rows * m, columns * 8)),
    }


@pytest.mark.parametrize(("dtype", "result", "m", "k", "arch"), SHAPES)
def test_shapes_and_types(dtype, result, m, k, arch):
    tiles = operands(dtype, result, m, k)
    check_tile_operation(
        "gemm", {**tiles, "beta": 1}, scope="warp", target=f"cuda -arch={arch}", tolerance=1e-3, dispatch="mma.m16n8k*"
    )


@pytest.mark.parametrize("transposed", [(True, False), (False, True), (True, True)])
def test_transposed_operands(transposed):
    tiles = operands("float16", "float32", 16, 16, transposed, (1, 2, 2))
    check_tile_operation("gemm", tiles, scope="warp", target="cuda -arch=sm_80", tolerance=1e-3, dispatch="mma.m16n8k*",
                         transpose_A=transposed[0], transpose_B=transposed[1])  # fmt: skip


@pytest.mark.parametrize("beta", [0, 1])
def test_another_accumulator_than_the_result(beta):
    check_tile_operation("gemm", {**operands("float16", "float32", 16, 16), "beta": beta}, scope="warp",
                         target="cuda -arch=sm_80", tolerance=1e-3, dispatch="mma.m16n8k*")  # fmt: skip


def refusal(tiles, arch="sm_80", scope="warp", **keywords):
    with pytest.raises(DispatchError) as raised:
        check_tile_operation(
            "gemm", tiles, scope=scope, target=f"cuda -arch={arch}", dispatch="mma.m16n8k*", **keywords
        )
    return " ".join(str(raised.value).split())


def test_refusals_say_why():
    half = operands("float16", "float32", 16, 16)
    assert "alpha is 1, beta is 0 or 1 (alpha=1.0" in refusal({**half, "alpha": 1, "beta": 2})
    assert "the architecture lacks this mma.sync" in refusal(operands("float8_e4m3fn", "float32", 16, 32))
    assert "all tiles must be spread over the lanes' registers" in refusal(
        {**half, "A": Place("local", (32, 16), "float16")}
    )
    wide = Place("local", (32, 16), "float64", half["D"].layout)
    assert "no mma.sync multiplies these types (A=float16, B=float16, D=float64)" in refusal(
        {**half, "D": wide, "C": wide}
    )
    rows = Place("local", (32, 16), "float16", TileLayout(S[(32, 16) : (1 @ AxisNames.laneid, 1)]))
    assert "lies otherwise in the lanes than the instruction takes it" in refusal({**half, "A": rows})
