"""Layouts in kernels: printed, read back, and the same program under other names."""

from __future__ import annotations

import pytest

from tirx import script as Tx
from tirx.ir import structural_equal
from tirx.support.errors import LayoutError
from tirx.testing import assert_round_trip

LAYOUTS = [
    "T.TileLayout(T.S[(8, 64):(64, 1)] + 5)",
    "T.TileLayout(T.S[512:1])",
    "T.TileLayout(T.S[(8, 64):(1 @ Axis.laneid, 1)] + T.R[2:4 @ Axis.warpid] + 5 @ Axis.warpid)",
    "T.TileLayout(T.S[(8, 64):(1 @ Axis.laneid, 1)] + T.R[(2, 3):(4 @ Axis.warpid, 1)] + (5 @ Axis.warpid + 3))",
    "T.TileLayout(T.S[(8, 64):(n * 8, n + 1)] + (n - 1))",
    "T.TileLayout(T.S[(8, 64):((n + 1) @ Axis.laneid, 1)] + ((n * 2) @ Axis.laneid + n))",
    "T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[(8, 64):(64, 1)]))",
    "T.ComposeLayout(3, 2, 3, T.TileLayout(T.S[(8, 64):(64, 1)] + 64), swizzle_inner=False)",
    "T.ComposeLayout(0, 0, 0, T.TileLayout(T.S[(8, 64):(64, n)]))",
]
KERNEL = """
@T.prim_func
def kernel(A: T.Buffer((8, 64), "float16"), n: T.int32):
    T.device_entry()
    tx = T.thread_id([32])
    t = T.decl_buffer((8, 64), "float16", data=A.data, layout={layout})
    t[0, tx] = 1.0
"""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_round_trip(layout: str) -> None:
    func = Tx.from_source(KERNEL.format(layout=layout))
    assert f"layout={layout}" in func.script()
    assert_round_trip(func)


def test_variables_of_layouts_count_by_place() -> None:
    text = KERNEL.format(layout="T.TileLayout(T.S[(8, 64):(n * 8, 1)])")
    one, other = Tx.from_source(text), Tx.from_source(text.replace("n: T", "k: T").replace("(n *", "(k *"))
    assert structural_equal(one, other)
    third = Tx.from_source(text.replace("n * 8", "n * 9"))
    assert not structural_equal(one, third)
    swizzled = Tx.from_source(KERNEL.format(layout="T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[8, 64]))"))
    assert not structural_equal(one, swizzled)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("T.ComposeLayout(3, 4, 3, T.TileLayout(T.S[8, 64]))", "a swizzle of 4 bits does not fit an atom of 3"),
        ("T.TileLayout(T.S[(8, 64):(64,)])", "2 extents and 1 strides"),
        ("T.TileLayout(T.S[(8, 64):(1 @ Axis.lane, 1)])", "there is no layout axis `lane`"),
        ("T.TileLayout(T.S[8, 64]).slice([8, 64], [(0, 9), (0, 64)])", "9 is outside dimension 0 of extent 8"),
    ],
)
def test_mistakes_are_shown_in_the_kernel(layout: str, message: str) -> None:
    with pytest.raises(LayoutError) as caught:
        Tx.from_source(KERNEL.format(layout=layout))
    assert caught.value.message == message
    assert caught.value.span is not None
    assert caught.value.span.line == 6
    assert caught.value.hint is not None
