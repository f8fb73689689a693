"""Elementwise operations in registers: pairs of float32, conversions in pairs, roundings that a call asks for."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.ir import DType
from tirx.ir.numpy_types import numpy_dtype
from tirx.layout import S, TileLayout
from tirx.layout.syntax import AxisNames as Axis
from tirx.support.errors import DispatchError
from tirx.testing.operations import Place, check_tile_operation

NEW, OLD = "cuda -arch=sm_100a", "cuda -arch=sm_90a"
FRAGMENT = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ Axis.laneid, 1 @ Axis.laneid, 1)])  # 16 x 8 over 32 lanes
SCATTERED = TileLayout(S[(2, 8, 4, 2) : (1, 4 @ Axis.laneid, 1 @ Axis.laneid, 2)])  # neighbours two registers apart
COLUMN = TileLayout(S[(2, 8) : (1, 4 @ Axis.laneid)])
ALONE = {"scope": "thread", "threads": 1}


def of_a_thread(operation, arch=NEW, *, dtype="float32", source=None, count=8, second="src2", **keywords):
    """The source of a kernel whose threads compute `operation` on registers of their own."""
    source = source or dtype

    @Tx.prim_func
    def kernel(A: Tx.Buffer((64, count), source), B: Tx.Buffer((64, count), dtype)):
        Tx.device_entry()
        t = Tx.thread_id([64])
        left = Tx.alloc_local((count,), source)
        result = Tx.alloc_local((count,), dtype)
        Tx.tile.copy(left, A[t, :])
        getattr(Tx.tile, operation)(result, left, *operands(operation, left), **keywords)
        Tx.tile.copy(B[t, :], result)

    return kernel, str(tirx.compile(kernel, arch).source)


def operands(operation, left):
    return {"cast": (), "fma": (left, 2.0)}.get(operation, (left,))


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "fma"])
def test_two_at_a_time_where_the_architecture_has_it(operation):
    assert f"{operation}.rn.f32x2 %0" in of_a_thread(operation)[1]
    assert "asm" not in of_a_thread(operation, OLD)[1]
    assert f"{operation}.rz.ftz.f32x2 %0" in of_a_thread(operation, rounding_mode="rz", ftz=True)[1]
    assert f"{operation}.rz.ftz.f32 %0" in of_a_thread(operation, OLD, rounding_mode="rz", ftz=True)[1]
    assert f"{operation}.rp.f32 %0" in of_a_thread(operation, rounding_mode="rp", count=7)[1]
    assert f"{operation}.rm.f64 %0" in of_a_thread(operation, rounding_mode="rm", dtype="float64")[1]


@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
@pytest.mark.parametrize("arch", [NEW, OLD])
class TestValues:
    @pytest.mark.parametrize("shape", [(8,), (3, 6), (7,), (2, 1)])
    def test_of_a_thread(self, operation, arch, shape):
        tiles = {name: Place("local", shape) for name in ("dst", "src1", "src2")}
        check_tile_operation(operation, tiles, **ALONE, target=arch)

    @pytest.mark.parametrize("other", [(6,), (3, 1), (1, 6), (1,)])
    def test_stretched(self, operation, arch, other):
        tiles = {"dst": Place("local", (3, 6)), "src1": Place("local", (3, 6)), "src2": Place("local", other)}
        check_tile_operation(operation, tiles, **ALONE, target=arch)

    def test_by_a_number(self, operation, arch):
        tiles = {"dst": Place("local", (3, 6)), "src1": Place("local", (3, 6)), "src2": 0.75}
        check_tile_operation(operation, tiles, **ALONE, target=arch)

    @pytest.mark.parametrize("second", [FRAGMENT, SCATTERED])
    def test_fragments(self, operation, arch, second):
        tiles = {name: Place("local", (16, 8), layout=FRAGMENT) for name in ("dst", "src1")}
        tiles["src2"] = Place("local", (16, 8), layout=second)
        check_tile_operation(operation, tiles, scope="warp", target=arch)

    def test_a_result_that_does_not_lie_in_pairs(self, operation, arch):
        tiles = {name: Place("local", (16, 8), layout=SCATTERED) for name in ("dst", "src1")}
        check_tile_operation(operation, {**tiles, "src2": 3.0}, scope="warp", target=arch)


@pytest.mark.parametrize("arch", [NEW, OLD])
@pytest.mark.parametrize(("mode", "way"), [("rn", None), ("rz", 0), ("rm", -1), ("rp", 1)])
def test_roundings(arch, mode, way):
    kernel, _ = of_a_thread("mul", arch, rounding_mode=mode)
    a = np.random.default_rng(1).standard_normal((64, 8)).astype("float32")
    b = np.zeros_like(a)
    assert tirx.simulate(kernel, a, b, target=arch).verdict == "clean"
    exact = a.astype("float64") ** 2
    near = exact.astype("float32")
    if way is not None:
        wrong = {0: near > exact, -1: near > exact, 1: near < exact}[way]
        near = np.where(wrong, np.nextafter(near, np.float32(np.inf if way == 1 else 0)), near)
    np.testing.assert_array_equal(b, near)


@pytest.mark.parametrize("arch", [NEW, OLD])
def test_subnormal_numbers_are_zero_where_that_is_asked_for(arch):
    kernel, _ = of_a_thread("add", arch, ftz=True)
    a = np.full((64, 8), 1e-40, "float32")
    b = np.ones_like(a)
    assert tirx.simulate(kernel, a, b, target=arch).verdict == "clean"
    assert (b == 0).all()


CASTS = [
    ("float32", "float16", "cvt.rn.f16x2.f32"), ("float32", "bfloat16", "cvt.rn.bf16x2.f32"),
    ("float32", "float8_e4m3fn", "cvt.rn.satfinite.e4m3x2.f32"), ("float32", "float8_e5m2", "cvt.rn.satfinite.e5m2x2.f32"),
    ("float16", "float8_e4m3fn", "cvt.rn.satfinite.e4m3x2.f16x2"), ("float8_e4m3fn", "float16", "cvt.rn.f16x2.e4m3x2"),
    ("float8_e5m2", "float16", "cvt.rn.f16x2.e5m2x2"), ("float16", "float32", "(float2*)&result"),
    ("bfloat16", "float32", "(float2*)&result"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target", "words"), CASTS)
def test_conversions_of_pairs(source, target, words):
    assert words in of_a_thread("cast", OLD, dtype=target, source=source)[1]
    for layout, shape in ((None, (8,)), (None, (7,)), (FRAGMENT, (16, 8)), (SCATTERED, (16, 8))):
        tiles = {"dst": Place("local", shape, target, layout), "src": Place("local", shape, source, layout)}
        check_tile_operation("cast", tiles, target=OLD, **({"scope": "warp"} if layout else ALONE))


@pytest.mark.parametrize(
    ("source", "target"), [("float32", "float16"), ("float32", "float8_e4m3fn"), ("float32", "bfloat16")]
)
def test_pairs_are_converted_as_single_values_are(source, target):
    """Rounding, overflow, infinities and NaN."""
    special = [
        1.0000001,
        3.14159,
        65519.9,
        65520,
        1e6,
        -1e6,
        np.inf,
        -np.inf,
        np.nan,
        448,
        464,
        465,
        500,
        -0.0,
        1e-8,
        0.00001,
    ]
    a = np.resize(np.array(special, source), (64, 8))
    found = []
    for arch in (OLD, "cuda -arch=sm_75"):
        b = np.zeros((64, 8), numpy_dtype(DType(target)))
        assert (
            tirx.simulate(of_a_thread("cast", OLD, dtype=target, source=source)[0], a, b, target=arch).verdict
            == "clean"
        )
        found.append(b.astype("float32"))
    np.testing.assert_array_equal(*found)


def test_on_older_architectures_one_at_a_time():
    assert "cvt" not in of_a_thread("cast", "cuda -arch=sm_75", dtype="float16", source="float32")[1]
    assert "cvt" not in of_a_thread("cast", "cuda -arch=sm_86", dtype="float8_e4m3fn", source="float32")[1]


def test_refusals_say_why():
    def refusal(operation="add", **keywords):
        with pytest.raises(DispatchError) as raised:
            of_a_thread(operation, **keywords)
        return " ".join(str(raised.value).split())

    assert "`rounding_mode` is for float32 and float64, `ftz` for float32 (dtype=float16)" in refusal(
        dtype="float16", rounding_mode="rz", dispatch="reg"
    )
    assert "(dtype=float64)" in refusal(dtype="float64", ftz=True, dispatch="reg")
    assert "`rounding_mode` is 'rn' or" in refusal(rounding_mode="up", dispatch="reg")
