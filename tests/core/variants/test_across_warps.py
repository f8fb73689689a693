"""Reductions whose rows several warps fold: partial results meet in shared memory."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.layout import R, S, TileLayout
from tirx.layout.syntax import AxisNames as Axis
from tirx.support.errors import DispatchError
from tirx.testing.operations import Place, check_tile_operation

pytestmark = pytest.mark.needs("tirx-backend-cuda")  # warpgroups, and addresses as source shows them

THREADS = TileLayout(S[(3, 128) : (1, 1 @ Axis.tx)])  # each thread one element of every row
WARPS = TileLayout(S[(2, 8, 4, 4, 2) : (2, 4 @ Axis.laneid, 1 @ Axis.warpid, 1 @ Axis.laneid, 1)])  # 16 x 32
ROWS = TileLayout(S[(2, 8) : (1, 4 @ Axis.laneid)] + R[(4, 4) : (1 @ Axis.laneid, 1 @ Axis.warpid)])
SPREAD = {"threads": 128, "thread_reduce": True, "tolerance": 1e-6}


@pytest.mark.parametrize("target", ["generic", "cuda -arch=sm_80"])
@pytest.mark.parametrize("operation", ["sum", "max", "min"])
class TestValues:
    @pytest.mark.parametrize("accum", [False, True])
    @pytest.mark.parametrize("place", ["local", "shared"])
    def test_a_row_over_all_threads(self, operation, place, accum, target):
        tiles = {"dst": Place(place, (3,)), "src": Place("local", (3, 128), layout=THREADS)}
        check_tile_operation(operation, tiles, accum=accum, target=target, **SPREAD)

    @pytest.mark.parametrize(
        "result", [Place("shared", (16,)), Place("local", (16,), layout=ROWS), Place("shared", (16, 1))]
    )
    def test_fragments_side_by_side(self, operation, result, target):
        tiles = {"dst": result, "src": Place("local", (16, 32), layout=WARPS)}
        check_tile_operation(operation, tiles, target=target, **SPREAD)

    def test_columns_stay_with_their_warps(self, operation, target):
        tiles = {"dst": Place("shared", (32,)), "src": Place("local", (16, 32), layout=WARPS)}
        check_tile_operation(operation, tiles, target=target, axes=0, **SPREAD)

    def test_half_precision(self, operation, target):
        tiles = {"dst": Place("shared", (16,), "float16"), "src": Place("local", (16, 32), "float16", WARPS)}
        check_tile_operation(operation, tiles, target=target, **{**SPREAD, "tolerance": 1e-3})


@pytest.mark.parametrize("target", ["generic", "cuda -arch=sm_80"])
class TestFewLongRowsInMemory:
    @pytest.mark.parametrize("operation", ["sum", "max", "min"])
    @pytest.mark.parametrize("accum", [False, True])
    @pytest.mark.parametrize(("rows", "length", "threads"), [(1, 1024, 128), (2, 600, 192), (3, 517, 256)])
    def test_several_warps_fold_one_row(self, operation, accum, rows, length, threads, target):
        tiles = {"dst": Place("shared", (rows,)), "src": Place("shared", (rows, length))}
        check_tile_operation(operation, tiles, accum=accum, target=target, threads=threads, tolerance=1e-4)

    def test_columns(self, target):
        tiles = {"dst": Place("shared", (2,), "int32"), "src": Place("shared", (512, 2), "int32")}
        check_tile_operation("sum", tiles, axes=0, target=target, threads=128)


@pytest.mark.parametrize(
    ("rows", "length", "partials"), [(1, 1024, 8), (2, 1024, 8), (3, 1024, 6), (1, 300, 2), (1, 128, 0), (8, 1024, 0)]
)
def test_as_many_warps_a_row_as_there_are_and_as_it_pays(rows, length, partials):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((rows, length), "float32"), B: Tx.Buffer((rows,), "float32")):
        Tx.device_entry()
        Tx.thread_id([256])
        Tx.cta.sum(B, A)

    text = str(tirx.compile(kernel, "cuda -arch=sm_80").source)
    assert (f"float partials[{partials}];" in text) == (partials > 0)
    assert ("partials" in text) == (partials > 0)


def test_warpgroups_fold_their_own_long_rows():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((2, 1024), "float32"), B: Tx.Buffer((2,), "float32")):
        Tx.device_entry()
        group = Tx.warpgroup_id([2])
        Tx.thread_id([256])
        Tx.warpgroup.sum(B[group : group + 1], A[group : group + 1, :])

    a = np.random.default_rng(3).integers(0, 9, (2, 1024)).astype("float32")
    b = np.zeros(2, "float32")
    report = tirx.simulate(kernel, a, b, target="cuda -arch=sm_90a")
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(b, a.sum(axis=1))
    assert "float partials[8];" in str(tirx.compile(kernel, "cuda -arch=sm_90a").source)


def of_warpgroups(loops=1, workspace=None, guard=None):
    """Two warpgroups, each its own 8 rows of 128; the sums are added up over the loop."""

    @Tx.prim_func
    def kernel(A: Tx.Buffer((2, 8, 128), "float32"), B: Tx.Buffer((2, 8), "float32")):
        Tx.device_entry()
        group = Tx.warpgroup_id([2])
        Tx.thread_id([256])
        values = Tx.alloc_buffer(
            (8, 128), "float32", scope="local", layout=TileLayout(S[(8, 128) : (1, 1 @ Axis.tid_in_wg)])
        )
        total = Tx.alloc_local((8,), "float32")
        Tx.warpgroup.copy(values, A[group, :, :])
        Tx.warpgroup.fill(total, 0.0)
        for _ in Tx.serial(loops):
            if guard is None:
                given = {} if workspace is None else {"workspace": {"partials": Tx.alloc_shared(*workspace)}}
                Tx.warpgroup.sum(total, values, thread_reduce=True, accum=True, **given)
            else:
                with Tx.If(Tx.lane_id() < 16), Tx.Then():
                    Tx.warp.sum(total, values, thread_reduce=True, accum=True)
        Tx.warpgroup.copy(B[group, :], total)

    return kernel


def held(kernel, loops=1):
    a = np.random.default_rng(3).integers(0, 9, (2, 8, 128)).astype("float32")
    b = np.zeros((2, 8), "float32")
    report = tirx.simulate(kernel, a, b, target="cuda -arch=sm_90a")
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(b, loops * a.sum(axis=2))


@pytest.mark.parametrize("workspace", [None, ((64,), "float32"), ((2, 40), "float32")])
@pytest.mark.parametrize("loops", [1, 3])
def test_warpgroups_do_not_meet_each_other(loops, workspace):
    held(of_warpgroups(loops, workspace), loops)


def test_two_barriers_of_the_scope_and_one_buffer():
    text = str(tirx.compile(of_warpgroups(), "cuda -arch=sm_90a").source)
    assert text.count("warpgroup_sync(15 - group);") == 2
    assert "float partials[64];" in text
    assert "__syncthreads" not in text


@pytest.mark.parametrize(
    ("workspace", "given"),
    [(((63,), "float32"), "63 float32 in shared"), (((64,), "float16"), "64 float16 in shared")],
)
def test_workspaces_that_do_not_do(workspace, given):
    with pytest.raises(DispatchError) as raised:
        tirx.compile(of_warpgroups(1, workspace), "cuda -arch=sm_90a")
    said = " ".join(str(raised.value).split())
    assert f"workspace `partials` must hold 64 float32 in shared memory (given={given})" in said


def test_parts_of_fused_operations_meet_too():
    tiles = {
        "unary_output": Place("local", (16, 32), layout=WARPS),
        "reduce_output": Place("shared", (16,)),
        "unary_input": Place("local", (16, 32), layout=WARPS),
    }
    check_tile_operation("unary_reduce", tiles, unary_op="sqrt", reduce_op="sum", **{**SPREAD, "tolerance": 1e-5})


def refusal(operands, **keywords):
    with pytest.raises(DispatchError) as raised:
        check_tile_operation("sum", operands, **{"threads": 128, **keywords})
    return " ".join(str(raised.value).split())


def test_refusals_say_why():
    tiles = {"dst": Place("shared", (3,)), "src": Place("local", (3, 128), layout=THREADS)}
    assert "a row is spread over lanes; say thread_reduce=True to exchange between them" in refusal(tiles)
    tiles = {"dst": Place("local", (16,)), "src": Place("local", (16, 32), layout=WARPS)}
    assert "the destination is private, but rows are spread over threads" in refusal(tiles, thread_reduce=True)


def test_where_not_everybody_is_there():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((3,), "float32")):
        Tx.device_entry()
        t = Tx.thread_id([128])
        values = Tx.alloc_buffer((3, 128), "float32", scope="local", layout=THREADS)
        Tx.cta.fill(values, 1.0)
        if t < 96:
            Tx.cta.sum(A, values, thread_reduce=True)

    with pytest.raises(DispatchError) as raised:
        tirx.compile(kernel, "cuda -arch=sm_80")
    said = " ".join(str(raised.value).split())
    assert "a row is spread over several warps, and only some threads of the cta are here (threads=96)" in said
