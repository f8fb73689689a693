"""Fragments of mma.sync and ldmatrix, compared with the rows and columns that PTX gives for each element of each lane."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tirx.layout import S, TileLayout, laneid, ldmatrix_layout, mma_fragment_layout
from tirx.support.errors import LayoutError
from tirx_cuda.layout.mma import INSTRUCTIONS

# (row, column) of element i in group g, thread t of a group: one function for each line of the tables of PTX ISA 9.7.14.5.
Rule = Callable[[int, int, int], tuple[int, int]]
A: dict[tuple[str, int], Rule] = {
    ("m8n8k4", 64): lambda i, g, t: (g, t),
    ("m16n8k4", 64): lambda i, g, t: (g if i == 0 else g + 8, t),
    ("m16n8k8", 64): lambda i, g, t: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
    ("m16n8k16", 64): lambda i, g, t: (g, i * 2 + t) if i % 2 == 0 else (g + 8, i * 2 - 2 + t),
    ("m16n8k4", 32): lambda i, g, t: (g if i == 0 else g + 8, t),
    ("m16n8k8", 32): lambda i, g, t: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
    ("m16n8k8", 16): lambda i, g, t: (g if i < 2 else g + 8, t * 2 + (i & 1)),
    ("m16n8k16", 16): lambda i, g, t: (g if i < 2 or 4 <= i < 6 else g + 8, t * 2 + (i & 1) + (8 if i >= 4 else 0)),
    ("m8n8k16", 8): lambda i, g, t: (g, t * 4 + i),
    ("m16n8k16", 8): lambda i, g, t: (g if i < 4 else g + 8, t * 4 + (i & 3)),
    ("m16n8k32", 8): lambda i, g, t: (g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + (i & 3) + (16 if i >= 8 else 0)),
    ("m8n8k32", 4): lambda i, g, t: (g, t * 8 + i),
    ("m16n8k32", 4): lambda i, g, t: (g if i < 8 else g + 8, t * 8 + (i & 7)),
    ("m16n8k64", 4): lambda i, g, t: (g if i < 8 or 16 <= i < 24 else g + 8, t * 8 + (i & 7) + (32 if i >= 16 else 0)),
    ("m8n8k128", 1): lambda i, g, t: (g, t * 32 + i),
    ("m16n8k128", 1): lambda i, g, t: (g if i < 32 else g + 8, t * 32 + (i & 31)),
    ("m16n8k256", 1): lambda i, g, t: (
        g if i < 32 or 64 <= i < 96 else g + 8,
        t * 32 + (i & 31) + (128 if i >= 64 else 0),
    ),
}
B: dict[tuple[str, int], Rule] = {
    ("m8n8k4", 64): lambda i, g, t: (t, g),
    ("m16n8k4", 64): lambda i, g, t: (t, g),
    ("m16n8k8", 64): lambda i, g, t: (t + i * 4, g),
    ("m16n8k16", 64): lambda i, g, t: (t + i * 4, g),
    ("m16n8k4", 32): lambda i, g, t: (t, g),
    ("m16n8k8", 32): lambda i, g, t: (t if i == 0 else t + 4, g),
    ("m16n8k8", 16): lambda i, g, t: (t * 2 + i, g),
    ("m16n8k16", 16): lambda i, g, t: (t * 2 + (i & 1) + (8 if i >= 2 else 0), g),
    ("m8n8k16", 8): lambda i, g, t: (t * 4 + i, g),
    ("m16n8k16", 8): lambda i, g, t: (t * 4 + i, g),
    ("m16n8k32", 8): lambda i, g, t: (t * 4 + (i & 3) + (16 if i >= 4 else 0), g),
    ("m8n8k32", 4): lambda i, g, t: (t * 8 + i, g),
    ("m16n8k32", 4): lambda i, g, t: (t * 8 + i, g),
    ("m16n8k64", 4): lambda i, g, t: (t * 8 + (i & 7) + (32 if i >= 8 else 0), g),
    ("m8n8k128", 1): lambda i, g, t: (t * 32 + i, g),
    ("m16n8k128", 1): lambda i, g, t: (t * 32 + i, g),
    ("m16n8k256", 1): lambda i, g, t: (t * 32 + (i & 31) + (128 if i >= 32 else 0), g),
}
BITS = {1: 32, 2: 16, 4: 8, 8: 4, 32: 1}  # by elements in a register
ROWS = [
    (item.shape, dtype, 64 if dtype == "float64" else BITS[item.packed], item.accumulators)
    for item in INSTRUCTIONS
    for dtype in item.dtypes
    if (item.shape, dtype) != ("m8n8k4", "float16")
]


def accumulator(i: int, g: int, t: int) -> tuple[int, int]:
    """C and D of all instructions but the oldest."""
    return (g if i < 2 else g + 8), t * 2 + (i & 1)


def check(layout: TileLayout, shape: tuple[int, ...], rule: Callable[[int, int], tuple[int, ...]]) -> None:
    """Lane by lane and element by element, the rule and the layout agree, and nothing else is held."""
    elements = layout.size() // 32
    held = {}
    for lane in range(32):
        for i in range(elements):
            coord = rule(i, lane)
            place = layout.physical(coord, shape)
            assert (place["laneid"], place.get("m", 0)) == (lane, i)
            held[coord] = lane
    assert len(held) == layout.size()


@pytest.mark.parametrize(("shape", "dtype", "bits", "accumulators"), ROWS)
def test_fragments_are_those_of_ptx(shape: str, dtype: str, bits: int, accumulators: tuple[str, ...]) -> None:
    m, n, k = map(int, re.findall(r"\d+", shape))
    a, b = A[shape, bits], B[shape, bits]
    check(mma_fragment_layout("A", shape, dtype), (m, k), lambda i, lane: a(i, lane >> 2, lane % 4))
    check(mma_fragment_layout("B", (m, n, k), dtype), (k, n), lambda i, lane: b(i, lane >> 2, lane % 4))
    for name in accumulators:
        c = mma_fragment_layout("C", shape, name)
        check(c, (m, n), lambda i, lane: accumulator(i, lane >> 2, lane % 4))
        assert mma_fragment_layout("D", shape, name) == c


def test_every_shape_has_a_rule() -> None:
    assert {(shape, bits) for shape, _, bits, _ in ROWS} == set(A) == set(B)


@pytest.mark.parametrize(
    ("operand", "dtype", "order", "shape", "rule"),
    [
        ("A", "float16", "row", (4, 8, 4), lambda i, lane: (lane % 4 + 4 * (lane >= 16), i)),
        ("A", "float16", "col", (4, 8, 4), lambda i, lane: (i % 4 + 4 * (lane >= 16), lane % 4)),
        ("B", "float16", "row", (4, 4, 8), lambda i, lane: (lane % 4, i + 4 * (lane >= 16))),
        ("B", "float16", "col", (4, 4, 8), lambda i, lane: (i, lane % 4 + 4 * (lane >= 16))),
        ("C", "float16", None, (4, 8, 8), lambda i, lane: (lane % 4 + 4 * (lane >= 16), i)),
        ("D", "float32", None, (4, 8, 8), lambda i, lane: ((lane & 1) + (i & 2) + 4 * (lane >= 16), (i & 4) + (lane & 2) + (i & 1))),
    ],
)  # fmt: skip
def test_the_oldest_instruction_multiplies_four_pairs(
    operand: str, dtype: str, order: str | None, shape: tuple[int, ...], rule: Callable[[int, int], tuple[int, int]]
) -> None:
    layout = mma_fragment_layout(operand, "m8n8k4", dtype, order)
    check(layout, shape, lambda i, lane: (lane % 16 // 4, *rule(i, lane)))


def test_the_usual_order_is_rows_of_a_and_columns_of_b() -> None:
    for operand, order in (("A", "row"), ("B", "col")):
        for shape in ("m8n8k4", "m16n8k16"):
            usual = mma_fragment_layout(operand, shape, "float16")
            assert mma_fragment_layout(operand, shape, "float16", order) == usual


def test_fragments_as_they_are_written_by_hand() -> None:
    accumulators = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])
    assert mma_fragment_layout("C", "m16n8k16", "float32") == accumulators
    a = TileLayout(S[(2, 8, 2, 4, 2) : (2, 4 @ laneid, 4, 1 @ laneid, 1)])
    assert mma_fragment_layout("A", "m16n8k16", "bfloat16") == a
    assert mma_fragment_layout("A", "m16n8k8", "tf32") == mma_fragment_layout("A", "m16n8k8", "float32")


@pytest.mark.parametrize("matrices", [1, 2, 4])
def test_ldmatrix(matrices: int) -> None:
    shape = (matrices, 8, 8)
    check(ldmatrix_layout(matrices), shape, lambda i, lane: (i // 2, lane // 4, 2 * (lane % 4) + i % 2))
    check(
        ldmatrix_layout(matrices, transposed=True), shape, lambda i, lane: (i // 2, 2 * (lane % 4) + i % 2, lane // 4)
    )


def test_four_matrices_of_ldmatrix_are_operand_a() -> None:
    """Matrices in the order upper left, lower left, upper right, lower right, as kernels load them."""
    a, parts = mma_fragment_layout("A", "m16n8k16", "float16"), ldmatrix_layout(4)
    for row in range(16):
        for column in range(16):
            matrix = row // 8 + 2 * (column // 8)
            assert a.apply(row, column, shape=(16, 16)) == parts.apply(matrix, row % 8, column % 8, shape=(4, 8, 8))


def test_two_transposed_matrices_are_operand_b() -> None:
    b, parts = mma_fragment_layout("B", "m16n8k16", "float16"), ldmatrix_layout(2, transposed=True)
    for row in range(16):
        for column in range(8):
            place = parts.apply(row // 8, row % 8, column, shape=(2, 8, 8))
            assert b.apply(row, column, shape=(16, 8)) == place


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("E", "m16n8k16", "float16"), "operand is 'E'", "it is one of A, B, C, D"),
        (("A", "m16n16k16", "float16"), "the shape of mma is 'm16n16k16'",
         "it is one of m8n8k4, m16n8k4, m16n8k8, m16n8k16, m16n8k32, m16n8k64, m8n8k16, m8n8k32, m8n8k128, m16n8k128, m16n8k256"),
        (("A", (16, 8), "float16"), "the shape of mma is '(16, 8)'", None),
        (("A", "m16n8k4", "float16"), "operand A of m16n8k4 is not float16", "it is one of float64, float32"),
        (("A", "m16n8k16", "int16"), "operand A of m16n8k16 is not int16",
         "it is one of float64, float16, bfloat16, float8_e4m3fn, float8_e5m2, int8, uint8"),
        (("C", "m16n8k16", "bfloat16"), "operand C of m16n8k16 is not bfloat16", "it is one of float64, float16, float32, int32"),
        (("A", "m16n8k16", "float16", "col"), "order is 'col'", "it is one of row"),
        (("B", "m16n8k16", "float16", "row"), "order is 'row'", "it is one of col"),
        (("A", "m8n8k4", "float16", "diagonal"), "order is 'diagonal'", "it is one of row, col"),
    ],
)  # fmt: skip
def test_fragments_that_are_not(arguments: tuple[Any, ...], message: str, hint: str | None) -> None:
    with pytest.raises(LayoutError) as caught:
        mma_fragment_layout(*arguments)
    assert caught.value.message == message
    assert hint is None or caught.value.hint == hint


@pytest.mark.parametrize(
    ("matrices", "dtype", "message"),
    [
        (3, "float16", "the number of matrices is 3"),
        (4, "float32", "elements of float32 have 32 bits"),
        (4, "flout16", "unknown dtype 'flout16'"),
    ],
)
def test_what_ldmatrix_does_not_move(matrices: int, dtype: str, message: str) -> None:
    with pytest.raises(LayoutError) as caught:
        ldmatrix_layout(matrices, dtype=dtype)
    assert caught.value.message.startswith(message)
