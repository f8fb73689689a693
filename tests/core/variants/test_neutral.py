"""Core's neutral variants: every operation in every place, against its meaning in NumPy."""

from __future__ import annotations

import pytest

from tirx.backend import find
from tirx.layout import R, S, TileLayout
from tirx.layout.syntax import AxisNames as Axis
from tirx.testing.operations import Place, check_tile_operation
from tirx.variants import neutral_variants

FRAGMENT = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ Axis.laneid, 1 @ Axis.laneid, 1)])  # 16 x 8 over 32 lanes
ROWS = TileLayout(S[(2, 8) : (1, 4 @ Axis.laneid)] + R[4 : 1 @ Axis.laneid])  # 16 values, one per row of it
COLUMNS = TileLayout(S[(4, 2) : (1 @ Axis.laneid, 1)] + R[8 : 4 @ Axis.laneid])  # 8 values, one per column
WARPS = TileLayout(S[(4, 8, 4, 2) : (1 @ Axis.warpid, 4 @ Axis.laneid, 1 @ Axis.laneid, 1)])  # 32 x 8 over 4 warps

UNARY = ("sqrt", "exp", "exp2", "log2", "reciprocal", "silu")
BINARY = ("add", "sub", "mul", "fdiv", "maximum", "minimum")
LOOSE = 2e-6  # functions are right to a few units in the last place


ALONE = {"scope": "thread", "threads": 1}


def at(place: str, rows: int, columns: int, dtype: str = "float32") -> Place:
    return Place(place, (rows, columns), dtype)


@pytest.mark.parametrize("place", ["shared", "local", "global"])
@pytest.mark.parametrize("operation", BINARY)
def test_binary(operation, place):
    tiles = {name: at(place, 6, 20) for name in ("dst", "src1", "src2")}
    check_tile_operation(operation, tiles, **(ALONE if place == "local" else {"threads": 64}))


@pytest.mark.parametrize("operation", BINARY)
def test_binary_of_a_row_and_a_column(operation):
    check_tile_operation(
        operation, {"dst": at("shared", 6, 20), "src1": at("shared", 6, 1), "src2": Place("shared", (20,))}
    )


@pytest.mark.parametrize("operation", UNARY)
@pytest.mark.parametrize("place", ["shared", "local"])
def test_unary(operation, place):
    tiles = {"dst": at(place, 6, 20), "src": at(place, 6, 20)}
    check_tile_operation(operation, tiles, **(ALONE if place == "local" else {}), tolerance=LOOSE)


@pytest.mark.parametrize("operation", ["sqrt", "exp", "exp2", "log2"])
def test_scale_and_bias(operation):
    tiles = {"dst": at("shared", 6, 20), "src": at("shared", 6, 20), "bias": Place("shared", (6, 1)), "scale": 0.5}
    check_tile_operation(operation, tiles, tolerance=LOOSE)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "uint8", "int64", "float8_e4m3fn"])
@pytest.mark.parametrize("width", [16, 20, 7])
def test_copies_of_every_width(dtype, width):
    check_tile_operation(
        "copy", {"dst": at("shared", 5, width, dtype), "src": at("global", 5, width, dtype)}, threads=64
    )


@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("zero", {}),
        ("fill", {"value": 3.0}),
        ("memset", {"value": -1.5}),
    ],
)
@pytest.mark.parametrize("place", ["shared", "local"])
def test_constants(operation, operands, place):
    check_tile_operation(operation, {"dst": at(place, 6, 20), **operands}, **(ALONE if place == "local" else {}))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("float32", "float16"),
        ("float16", "float32"),
        ("float32", "bfloat16"),
        ("float32", "int32"),
        ("int32", "float32"),
        ("float32", "float8_e4m3fn"),
        ("uint8", "int32"),
    ],
)
def test_cast(source, target):
    check_tile_operation("cast", {"dst": at("shared", 6, 20, target), "src": at("shared", 6, 20, source)})


def test_fused_multiply_add():
    check_tile_operation(
        "fma", {"dst": at("shared", 6, 20), "src": at("shared", 6, 20), "scale": 0.5, "bias": Place("shared", (20,))}
    )


def test_select_by_index():
    tiles = {"dst": at("shared", 6, 20), "true_value": at("shared", 6, 20), "false_value": 0.0}
    check_tile_operation("select", {**tiles, "pred": lambda i, j: i * 3 > j})


@pytest.mark.parametrize("reverse", [False, True])
def test_chain_of_two(reverse):
    tiles = {
        "output": at("shared", 6, 20),
        "data": at("shared", 6, 20),
        "operand0": Place("shared", (6, 1)),
        "operand1": 3.0,
    }
    check_tile_operation("binary_chain", tiles, op0="mul", op1="sub", reverse1=reverse)


@pytest.mark.parametrize("operation", ["sum", "max", "min"])
class TestReductions:
    @pytest.mark.parametrize(
        ("shape", "axes", "result"),
        [
            ((6, 20), -1, (6,)),
            ((6, 20), 0, (20,)),
            ((6, 20), -1, (6, 1)),
            ((3, 5, 40), (0, 2), (5,)),
            ((4, 70), (0, 1), (1,)),
        ],
    )
    @pytest.mark.parametrize("threads", [32, 96])
    def test_in_memory(self, operation, shape, axes, result, threads):
        tiles = {"dst": Place("shared", result), "src": Place("shared", shape)}
        check_tile_operation(operation, tiles, axes=axes, threads=threads, tolerance=1e-6)

    def test_on_64_lanes(self, operation):
        tiles = {"dst": Place("shared", (6,)), "src": Place("shared", (6, 100))}
        check_tile_operation(operation, tiles, threads=128, target={"kind": "generic", "width": 64}, tolerance=1e-6)

    @pytest.mark.parametrize("accum", [False, True])
    def test_of_a_thread(self, operation, accum):
        tiles = {"dst": Place("local", (6,)), "src": Place("local", (6, 5))}
        check_tile_operation(operation, tiles, **ALONE, accum=accum, tolerance=1e-6)

    @pytest.mark.parametrize("accum", [False, True])
    def test_along_rows_of_a_fragment(self, operation, accum):
        tiles = {"dst": Place("local", (16,), layout=ROWS), "src": Place("local", (16, 8), layout=FRAGMENT)}
        check_tile_operation(operation, tiles, scope="warp", thread_reduce=True, accum=accum, tolerance=1e-6)

    def test_along_columns_of_a_fragment(self, operation):
        tiles = {"dst": Place("local", (8,), layout=COLUMNS), "src": Place("local", (16, 8), layout=FRAGMENT)}
        check_tile_operation(operation, tiles, axes=0, scope="warp", thread_reduce=True, tolerance=1e-6)

    def test_from_a_fragment_into_memory(self, operation):
        tiles = {"dst": Place("shared", (16,)), "src": Place("local", (16, 8), layout=FRAGMENT)}
        check_tile_operation(operation, tiles, scope="warp", thread_reduce=True, tolerance=1e-6)

    def test_negated(self, operation):
        tiles = {"output": Place("shared", (6,)), "input": Place("shared", (6, 20))}
        check_tile_operation("reduce_negate", tiles, reduce_op=operation, accum=True, tolerance=1e-6)


@pytest.mark.parametrize("layout", [None, FRAGMENT])
@pytest.mark.parametrize("operation", ["add", "maximum"])
def test_fragments_meet_what_their_threads_hold(layout, operation):
    fragment = Place("local", (16, 8), layout=FRAGMENT)
    other = Place("local", (16, 8), layout=FRAGMENT) if layout else Place("shared", (16, 8))
    check_tile_operation(operation, {"dst": fragment, "src1": fragment, "src2": other}, scope="warp")


def test_a_row_vector_stretched_over_a_fragment():
    tiles = {"dst": Place("local", (16, 8), layout=FRAGMENT), "src1": Place("local", (16, 8), layout=FRAGMENT)}
    check_tile_operation("mul", {**tiles, "src2": Place("local", (8,), layout=COLUMNS)}, scope="warp")


def test_a_tile_over_the_warps_of_a_cta():
    check_tile_operation(
        "exp",
        {"dst": Place("local", (32, 8), layout=WARPS), "src": Place("shared", (32, 8))},
        threads=128,
        tolerance=LOOSE,
    )


@pytest.mark.parametrize("transposes", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(("dtype", "result"), [("float32", "float32"), ("float16", "float32"), ("int8", "int32")])
def test_matrix_product(transposes, dtype, result):
    rows, columns, depth = 12, 10, 9
    left = (depth, rows) if transposes[0] else (rows, depth)
    right = (columns, depth) if transposes[1] else (depth, columns)
    tiles = {
        "D": Place("shared", (rows, columns), result), "A": Place("shared", left, dtype),
        "B": Place("shared", right, dtype), "C": Place("shared", (rows, columns), result),
    }  # fmt: skip
    check_tile_operation(
        "gemm", {**tiles, "alpha": 2, "beta": 3}, transpose_A=transposes[0], transpose_B=transposes[1], threads=64
    )


def test_reductions_that_keep_what_they_reduce():
    tiles = {
        "binary_output": at("shared", 6, 20),
        "reduce_output": Place("shared", (6,)),
        "binary_input1": at("shared", 6, 20),
        "binary_input2": 2.0,
    }
    check_tile_operation("binary_reduce", tiles, binary_op="mul", reduce_op="max", threads=64)
    tiles = {
        "unary_output": at("shared", 6, 20),
        "reduce_output": Place("shared", (6,)),
        "unary_input": at("shared", 6, 20),
    }
    check_tile_operation("unary_reduce", tiles, unary_op="exp", reduce_op="sum", threads=64, tolerance=LOOSE)


def test_permuted_into_other_storage():
    columns = TileLayout(S[(6, 20) : (1, 6)])
    check_tile_operation(
        "permute_layout", {"dst": Place("shared", (6, 20), layout=columns), "src": at("shared", 6, 20)}, threads=64
    )


@pytest.mark.parametrize("kind", ["generic", "acme"])
def test_core_has_a_variant_of_each_of_the_thirty(kind):
    rows = neutral_variants(kind)
    assert {row.kind for row in rows} == {kind}
    assert all(find("tile_ops", row.operation) is not None for row in rows)
    assert len({row.operation for row in rows}) == 30
    assert len({(row.operation, row.name) for row in rows}) == len(rows)


@pytest.mark.parametrize("transposes", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("accum", [None, False, True])
def test_asynchronous_products_are_done_at_once(transposes, accum):
    left = (9, 12) if transposes[0] else (12, 9)
    right = (9, 10) if transposes[1] else (10, 9)
    tiles = {
        "C": Place("shared", (12, 10)),
        "A": Place("shared", left, "float16"),
        "B": Place("shared", right, "float16"),
    }
    given = {} if accum is None else {"accum": accum}
    check_tile_operation("gemm_async", {**tiles, **given}, transA=transposes[0], transB=transposes[1], threads=64)


def test_asynchronous_copies_are_done_at_once():
    check_tile_operation("copy_async", {"dst": at("shared", 6, 20), "src": at("global", 6, 20)}, threads=64)
