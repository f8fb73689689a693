"""Tile calls as text, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.core.tile.building import built, calls_of
from tirx import script as Tx
from tirx.ir import Buffer, PrimFunc, TileCall, mask_of, structural_equal, structural_hash, substitute, walk
from tirx.testing import assert_round_trip
from tirx.testing.strategies import programs

WIDE = Tx.Buffer((128, 64), "float32")
HALF = Tx.Buffer((128, 64), "float16")
COLUMN = Tx.Buffer((128,), "float16")
VALUE = Tx.int32


def line_of(body: Any, *buffers: Any) -> str:
    """The text of the only call of a kernel, which can be read back."""
    func = built(body, *buffers)
    back = assert_round_trip(func)
    assert structural_hash(back) == structural_hash(func)
    (found,) = [
        line.strip() for line in func.script().splitlines() if "T.tile" in line or "T.w" in line or "T.c" in line
    ]
    return found


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (lambda a, b, c, n: Tx.tile.copy(a, b), "T.tile.copy(A[0:128, 0:64], B[0:128, 0:64])"),
        (lambda a, b, c, n: Tx.warp.copy(a[n, 0:8], b[8:16, n]), "T.warp.copy(A[n, 0:8], B[8:16, n])"),
        (
            lambda a, b, c, n: Tx.wg.copy(a[n * 8:n * 8 + 8, :], b[0:8, :]),
            "T.warpgroup.copy(A[n * 8:n * 8 + 8, 0:64], B[0:8, 0:64])",
        ),
        (lambda a, b, c, n: Tx.tile.copy(a[1, 2], b[n, 3]), "T.tile.copy(A[1:2, 2], B[n:n + 1, 3])"),
        (lambda a, b, c, n: Tx.tile.copy(a[n:2 * n, 0], b[0:n, 0]), "T.tile.copy(A[n:n + n, 0], B[0:n, 0])"),
        (lambda a, b, c, n: Tx.cta.fill(a, 1), "T.cta.fill(A[0:128, 0:64], 1.0)"),
        (lambda a, b, c, n: Tx.cta.fill(a, float("-inf")), 'T.cta.fill(A[0:128, 0:64], T.float16("-inf"))'),
        (lambda a, b, c, n: Tx.tile.exp(a), "T.tile.exp(A[0:128, 0:64], A[0:128, 0:64])"),
        (lambda a, b, c, n: Tx.tile.exp(a, b, scale=2.0), "T.tile.exp(A[0:128, 0:64], B[0:128, 0:64], scale=2.0)"),
        (lambda a, b, c, n: Tx.tile.exp(a, b, -1.5, 2.0), "T.tile.exp(A[0:128, 0:64], B[0:128, 0:64], -1.5, 2.0)"),
        (lambda a, b, c, n: Tx.tile.zero(a), "T.tile.zero(A[0:128, 0:64])"),
        (lambda a, b, c, n: Tx.tile.sum(c, a), "T.tile.sum(C[0:128], A[0:128, 0:64])"),
        (
            lambda a, b, c, n: Tx.tile.sum(c[0:64], a, axes=0, accum=True),
            "T.tile.sum(C[0:64], A[0:128, 0:64], axes=0, accum=True)",
        ),
        (lambda a, b, c, n: Tx.tile.max(c[0], a, axes=(0, 1)), "T.tile.max(C[0:1], A[0:128, 0:64], axes=(0, 1))"),
        (
            lambda a, b, c, n: Tx.tile.gemm_async(a[:, 0:16], b, b[0:16, :], accum=n > 0),
            "T.tile.gemm_async(A[0:128, 0:16], B[0:128, 0:64], B[0:16, 0:64], accum=n > 0)",
        ),
        (
            lambda a, b, c, n: Tx.tile.gemm_async(a[:, 0:16], b, b[0:16, :], accum=True),
            "T.tile.gemm_async(A[0:128, 0:16], B[0:128, 0:64], B[0:16, 0:64], accum=True)",
        ),
        (
            lambda a, b, c, n: Tx.tile.binary_reduce(a, c, b, 2, Tx.tile.mul, "sum"),
            'T.tile.binary_reduce(A[0:128, 0:64], C[0:128], B[0:128, 0:64], 2.0, binary_op="mul", reduce_op="sum")',
        ),
        (
            lambda a, b, c, n: Tx.tile.unary_reduce(a, c, b, "exp", "max", scale=3),
            'T.tile.unary_reduce(A[0:128, 0:64], C[0:128], B[0:128, 0:64], unary_op="exp", reduce_op="max", scale=3.0)',
        ),
        (
            lambda a, b, c, n: Tx.tile.select(a, b, 0, lambda i, j: Tx.And(i < j, j != n)),
            "T.tile.select(A[0:128, 0:64], B[0:128, 0:64], 0.0, lambda i, j: i < j and j != n)",
        ),
        (
            lambda a, b, c, n: Tx.tile.copy(a, b, dispatch="reg", k=n, on=False, of=[1, ("x", b[0:2, 0])]),
            'T.tile.copy(A[0:128, 0:64], B[0:128, 0:64], dispatch="reg", k=n, of=[1, ["x", B[0:2, 0]]], on=False)',
        ),
        (
            lambda a, b, c, n: Tx.tile.copy(a, b, workspace={"tmp": c}),
            'T.tile.copy(A[0:128, 0:64], B[0:128, 0:64], workspace={"tmp": C[0:128]})',
        ),
    ],
)  # fmt: skip
def test_text(body: Any, text: str) -> None:
    assert line_of(body, HALF, HALF, COLUMN, VALUE) == text


def test_names_of_a_predicate_do_not_hide_what_it_uses() -> None:
    def body(a: Any, b: Any) -> None:
        with Tx.serial(8) as i:
            Tx.tile.select(a, b, 0, lambda j, i_, i=i: j < i)
            Tx.tile.select(a, b, 0, eval("lambda i, j: i < outer + j", {"outer": i}))

    func = built(body, HALF, HALF)
    assert "lambda i_1, j: i_1 < i + j)" in func.script()
    assert_round_trip(func)


def test_scalars_of_the_kernel() -> None:
    def body(a: Any, b: Any) -> None:
        x = Tx.local_scalar("float16")
        Tx.tile.fill(x, 1)
        Tx.tile.mul(a, b, x)
        Tx.tile.add(a[0:1, 0], b[0, 0:1], x)

    text = built(body, HALF, HALF).script()
    assert "T.tile.fill(x[0:1], 1.0)" in text
    assert "T.tile.mul(A[0:128, 0:64], B[0:128, 0:64], x)" in text
    assert_round_trip(built(body, HALF, HALF))


PARSED = """
@Tx.prim_func
def kernel(A: Tx.Buffer((128, 64), "float16"), B: Tx.Buffer((128, 64), "float16"), C: Tx.Buffer(("m", 64), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([8])
    lane = Tx.lane_id([32])
    tile = Tx.alloc_shared((16, 64), "float16")
    scale = 2.0
    Tx.cta.copy(tile, A[bx * 16:(bx + 1) * 16, :])
    for k in range(4):
        if lane < 16 and Tx.filter(bx, bx > 0):
            Tx.warp.mul(C[k * 16:k * 16 + 16, :], tile, scale, dispatch="reg")
    Tx.warp.select(tile, B[0:16, :], 0, lambda i, j: i <= j and not (j > lane or i == 0))
"""


def test_parsed_kernels() -> None:
    func = Tx.from_source(PARSED)
    assert isinstance(func, PrimFunc)
    assert [call.scope for call in calls_of(func)] == ["cta", "warp", "warp"]
    text = func.script()
    assert "T.cta.copy(tile[0:16, 0:64], A[bx * 16:bx * 16 + 16, 0:64])" in text
    assert "if lane < 16 and T.filter(bx, bx > 0):" in text
    assert "lambda i, j: i <= j and not (j > lane or i == 0)" in text
    assert_round_trip(func)


def test_equality_looks_at_everything() -> None:
    def call(**keywords: Any) -> TileCall:
        (found,) = calls_of(built(lambda a, c: Tx.warp.sum(c, a, **{"axes": 1, **keywords}), HALF, COLUMN))
        return found

    same = call()
    assert structural_equal(same, call(), map_free=True)
    for other in (
        call(accum=True),
        call(dispatch="x"),
        call(k=1),
        call(scope="warp", workspace={"w": Buffer("w", (4,))}),
    ):
        assert not structural_equal(same, other, map_free=True)


def test_substitution_reaches_regions_and_predicates() -> None:
    func = built(lambda a, b, n: Tx.tile.select(a[n:n + 8, :], b[0:8, :], 0, lambda i, j: i < n), HALF, HALF, VALUE)  # fmt: skip
    (value,) = [param for param in func.params if not isinstance(param, Buffer)]
    (call,) = [
        node
        for node in walk(substitute(func.body, {value: value + 1}), mask_of(TileCall))
        if isinstance(node, TileCall)
    ]
    assert (
        call.script().splitlines()[-1]
        == "T.tile.select(A[n + 1:n + 1 + 8, 0:64], B[0:8, 0:64], 0.0, lambda i, j: i < n + 1)"
    )


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_calls_can_be_read_back(program: PrimFunc) -> None:
    if calls_of(program):
        assert_round_trip(program)
