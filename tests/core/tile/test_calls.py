"""What a call holds of what the author gave: operands, plain keywords, keywords for the variant."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import tirx
from tests.core.tile.building import built, call_of, calls_of
from tirx import script as Tx
from tirx.ir import BufferRegion, Expr, FloatImm, IndexFunction, IntImm, StringImm, Tuple, structural_equal
from tirx.tile import TileOp, TileOperand, Variant, check_tile_op, constant_of, reads, tiles, writes
from tirx.tile.ops import ALL

FLOAT = Tx.Buffer((128, 64), "float32")
HALF = Tx.Buffer((128, 64), "float16")
COLUMN = Tx.Buffer((128,), "float32")


def box(region: Expr | None) -> tuple[Any, ...]:
    """Name, starts and extents of a region with constant bounds."""
    assert isinstance(region, BufferRegion)
    return region.buffer.name, [item.value for item in region.starts], [item.value for item in region.extents]  # type: ignore[attr-defined]


# ---- operands -------------------------------------------------------------------------------------------------------------


def test_buffers_count_as_whole_regions_and_elements_as_regions_of_one() -> None:
    call = call_of(lambda a, b: Tx.tile.copy(a, b))
    assert (call.names, box(call.args[0])) == (("dst", "src"), ("A", [0, 0], [128, 64]))
    call = call_of(lambda a, b: Tx.tile.copy(a[3, 4:5], b[7, 9]))
    assert [box(arg) for arg in call.args] == [("A", [3, 4], [1, 1]), ("B", [7, 9], [1, 1])]


def test_views_are_buffers() -> None:
    call = call_of(lambda a, b: Tx.warp.copy(a.view(64, 128)[0:8, :], b.view(64, 128).sub[8:16, :]))
    assert [item.extents[1].value for item in tiles(call).values()] == [128, 128]  # type: ignore[attr-defined]


def test_mutable_scalars_are_values_where_one_is_read_and_tiles_where_one_is_written() -> None:
    def body(a: Any, b: Any) -> None:
        x = Tx.local_scalar("float16")
        Tx.tile.fill(x, 2)
        Tx.tile.mul(a, b, x)

    fill, mul = calls_of(built(body))
    assert box(fill.operand("dst")) == ("x", [0], [1])
    assert fill.operand("value").dtype == "float16"  # type: ignore[union-attr]
    assert type(mul.operand("src2")).__name__ == "BufferLoad"


def test_numbers_take_the_type_of_what_is_written() -> None:
    call = call_of(lambda a, b: Tx.tile.fma(a, b, 2, 0.5), HALF, HALF)
    scale, bias = call.operand("scale"), call.operand("bias")
    assert isinstance(scale, FloatImm)
    assert isinstance(bias, FloatImm)
    assert (scale.value, scale.dtype.name, bias.dtype.name) == (2.0, "float16", "float16")
    assert isinstance(call_of(lambda a: Tx.tile.fill(a, 3.0), Tx.Buffer((4,), "int8")).operand("value"), IntImm)


def test_typed_constants_count_as_numbers() -> None:
    for value in (Tx.float32(0.5), Tx.float16(0.5), 0.5):
        found = call_of(lambda a, value=value: Tx.tile.fill(a, value), HALF).operand("value")
        assert isinstance(found, FloatImm)
        assert (found.value, found.dtype.name) == (0.5, "float16")


def test_smaller_values_are_converted() -> None:
    def body(a: Any, n: Any) -> None:
        Tx.tile.fill(a, n)

    call = call_of(body, FLOAT, Tx.int16)
    assert type(call.operand("value")).__name__ == "Cast"
    assert call.operand("value").dtype == "float32"  # type: ignore[union-attr]


def test_what_is_left_out_is_absent_or_in_place() -> None:
    call = call_of(lambda a: Tx.tile.exp(a), FLOAT)
    assert call.names == ("dst", "src")
    assert call.operand("src") is call.operand("dst")
    assert call.operand("bias") is None
    assert call_of(lambda a: Tx.tile.exp(a, scale=2.0), FLOAT).names == ("dst", "src", "scale")
    assert call_of(lambda a: Tx.tile.zero(a), FLOAT).names == ("dst",)
    assert call_of(lambda a, b: Tx.tile.zero(a, b), FLOAT, FLOAT).names == ("dst", "src")


def test_positions_and_names_mean_the_same() -> None:
    one = call_of(lambda a, b: Tx.tile.fma(a, b, 2.0, 1.0))
    for other in (
        call_of(lambda a, b: Tx.tile.fma(bias=1.0, scale=2.0, src=b, dst=a)),
        call_of(lambda a, b: Tx.tile.fma(a, b, bias=1.0, scale=2.0)),
    ):
        assert structural_equal(one, other, map_free=True)


def test_the_function_of_a_selection() -> None:
    call = call_of(lambda a, b: Tx.tile.select(a[0:8, 0], b[0:8, 0], 0.0, lambda row, _: row > 3))
    pred = call.operand("pred")
    assert isinstance(pred, IndexFunction)
    assert [var.name for var in pred.vars] == ["row", "_"]
    call = call_of(lambda a, b: Tx.tile.select(a, b, 0.0, lambda *at: at[0] > at[1]))
    pred = call.operand("pred")
    assert isinstance(pred, IndexFunction)
    assert len(pred.vars) == 2


class Causal:
    """A predicate with state."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def holds(self, i: Any, j: Any) -> Any:
        return i + self.offset >= j


def test_a_bound_method_can_select() -> None:
    call = call_of(lambda a, b: Tx.tile.select(a, b, 0.0, Causal(3).holds))
    assert call.operand("pred").vars[1].name == "j"  # type: ignore[union-attr]


# ---- plain keywords -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("axes", "kept"), [(-1, (1,)), (0, (0,)), ([-2], (0,)), ((1, 0), (0, 1)), ((-1, -2), (0, 1))])
def test_axes_are_sorted_and_count_from_the_front(axes: Any, kept: tuple[int, ...]) -> None:
    shape = tuple(1 if axis in kept else size for axis, size in enumerate((128, 64)))
    call = call_of(lambda a, b: Tx.tile.sum(a, b, axes=axes), Tx.Buffer(shape), FLOAT)
    assert call.attrs == (("accum", False), ("axes", kept))


@pytest.mark.parametrize(
    "value", ["maximum", "max", "tirx.tile.max", "Tx.tile.maximum", Tx.tile.maximum, Tx.max, Tx.warp.max]
)
def test_operations_by_name_or_function(value: Any) -> None:
    call = call_of(lambda a, b: Tx.tile.binary_chain(a, b, 1.0, b, value, "add"))
    assert call.attr("op0") == "maximum"


def test_names_of_reductions() -> None:
    for value, name in ((Tx.tile.add, "sum"), ("add", "sum"), ("maximum", "max"), (Tx.tile.min, "min")):
        call = call_of(lambda a, c, value=value: Tx.tile.reduce_negate(c, a, value), FLOAT, COLUMN)
        assert call.attr("reduce_op") == name


def test_alpha_beta_and_accumulation_may_be_values_of_the_kernel() -> None:
    def body(d: Any, a: Any, n: Any) -> None:
        Tx.tile.gemm(d[0:64, :], a[0:64, :], a[64:128, :], d[0:64, :], alpha=2, beta=Tx.cast(n, "float32"))
        Tx.tile.gemm_async(d[0:64, :], a[0:64, :], a[64:128, :], accum=n)
        Tx.tile.gemm_async(d[0:64, :], a[0:64, :], a[64:128, :], accum=True)

    gemm, running, fixed = calls_of(built(body, FLOAT, HALF, Tx.int32))
    assert constant_of(gemm, "alpha", 1.0) == 2.0
    assert isinstance(constant_of(gemm, "beta", 0.0), Expr)
    assert constant_of(running, "alpha", 1.0) == 1.0
    assert running.operand("accum").dtype == "bool"  # type: ignore[union-attr]
    assert constant_of(fixed, "accum", False) == 1


# ---- keywords for the variant ---------------------------------------------------------------------------------------------


def test_other_keywords_are_for_the_variant() -> None:
    def body(a: Any, b: Any, n: Any) -> None:
        Tx.warp.copy(
            a, b, dispatch="fast", count=3, half=0.5, name="x", flag=True, runtime=n + 1, tile=b[0:8, :], whole=a,
            kind=Tx.float16, nothing=None, pairs=[(n > 0, a), (n < 0, b)], rule=lambda q: q * 2,
        )  # fmt: skip

    call = call_of(body, HALF, HALF, Tx.int32)
    found = dict(zip(call.config_names, call.config, strict=True))
    assert call.dispatch == "fast"
    assert list(found) == sorted(found)
    assert "nothing" not in found
    assert isinstance(found["name"], StringImm)
    assert (found["flag"].dtype.name, found["flag"].value) == ("bool", 1)  # type: ignore[attr-defined]
    assert box(found["whole"]) == ("A", [0, 0], [128, 64])
    pairs = found["pairs"]
    assert isinstance(pairs, Tuple)
    assert [type(part).__name__ for part in pairs.items[0].items] == ["GT", "BufferRegion"]  # type: ignore[attr-defined]
    assert isinstance(found["rule"], IndexFunction)


def test_workspace() -> None:
    call = call_of(lambda a, b: Tx.tile.copy(a[0:8, :], b[0:8, :], workspace={"two": b, "one": a[8:16, :]}))
    assert call.workspace_names == ("one", "two")
    assert box(call.workspace[0]) == ("A", [8, 0], [8, 64])


def test_a_variant_may_know_further_forms() -> None:
    checked: list[str] = []
    variant = Variant(
        "copy", "generic", "payload", emit="acme:emit", on_request=True, check=lambda call: checked.append(call.scope)
    )

    class Plugin:
        @staticmethod
        @tirx.backend.hookimpl
        def tirx_dispatch_variants() -> list[Variant]:
            return [variant]

    tirx.backend.register("acme_forms", Plugin())
    tirx.backend.load("acme_forms")
    try:
        call_of(lambda a, b: Tx.cta.copy(a[0:8, :], b[0:16, 0:32], dispatch="payload"))
    finally:
        tirx.backend.unload("acme_forms")
    assert checked == ["cta"]


# ---- reads and writes -----------------------------------------------------------------------------------------------------


def names(regions: list[BufferRegion]) -> list[str]:
    return [region.buffer.name for region in regions]


@pytest.mark.parametrize(
    ("body", "read", "written"),
    [
        (lambda a, b: Tx.tile.copy(a, b), ["B"], ["A"]),
        (lambda a, b: Tx.tile.exp(a), ["A"], ["A"]),
        (lambda a, b: Tx.tile.fill(a, 1.0), [], ["A"]),
        (lambda a, b: Tx.tile.sum(a[:, 0], b), ["B"], ["A"]),
        (lambda a, b: Tx.tile.sum(a[:, 0], b, accum=True), ["A", "B"], ["A"]),
        (lambda a, b: Tx.tile.gemm_async(a[0:64, :], b[0:64, :], b[64:128, :], accum=False), ["B", "B"], ["A"]),
        (lambda a, b: Tx.tile.gemm_async(a[0:64, :], b[0:64, :], b[64:128, :], accum=True), ["A", "B", "B"], ["A"]),
        (lambda a, b: Tx.tile.copy(a[0:8, :], b[0:8, :], workspace={"t": b[8:16, :]}), ["B"], ["A", "B"]),
    ],
)  # fmt: skip
def test_what_a_call_reads_and_writes(body: Any, read: list[str], written: list[str]) -> None:
    call = call_of(body)
    assert (names(reads(call)), names(writes(call))) == (read, written)


def test_operations_with_two_results_write_both() -> None:
    column = Tx.Buffer((128,), "float16")
    call = call_of(lambda a, b, c: Tx.tile.binary_reduce(a, c, b, 1.0, "add", "max"), HALF, HALF, column)
    assert (names(reads(call)), names(writes(call))) == (["B"], ["A", "C"])


# ---- rows -----------------------------------------------------------------------------------------------------------------

DST = TileOperand("dst", "w")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (TileOp("warp", [DST], meaning="m:f", doc="d"), "'warp' is no name that the language can offer"),
        (TileOp("two words", [DST], meaning="m:f", doc="d"), "is no name that the language can offer"),
        (TileOp("x", [DST], meaning="f", doc="d"), "meaning 'f' is not 'module:function'"),
        (TileOp("x", [TileOperand("src")], meaning="m:f", doc="d"), "tile operation x writes nothing"),
        (TileOp("x", [DST, TileOperand("src", kinds=("list",))], meaning="m:f", doc="d"), "operand src has kinds"),
        (TileOp("x", [DST, TileOperand("dispatch")], meaning="m:f", doc="d"), "does not name each operand and attr once"),
        (TileOp("x", [DST], form=("dst", "axes"), meaning="m:f", doc="d"), "does not name each operand and attr once"),
        (3, "expected a TileOp, got int"),
    ],
)  # fmt: skip
def test_malformed_rows(row: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_tile_op(row)


def test_rows_of_core_are_well_formed_and_travel_by_name() -> None:
    for row in ALL:
        check_tile_op(row)
        assert pickle.loads(pickle.dumps(row)) is row
