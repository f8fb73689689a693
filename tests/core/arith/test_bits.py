"""Masks, shifts and exclusive ors in indices: what is written, and what it becomes."""

from __future__ import annotations

import pytest

from tirx import ir
from tirx.arith import Analyzer

row, col, k, j, n = (ir.Var(name, ir.INT32) for name in ("row", "col", "k", "j", "n"))


def analyzer() -> Analyzer:
    made = Analyzer()
    for var, size in ((row, 128), (col, 64), (k, 8), (j, 8)):
        made.bind(var, 0, size - 1)
    return made


def swizzled(m: ir.Expr, unit: int = 3, bits: int = 3, distance: int = 3) -> ir.Expr:
    """Position `m` of a tile in which bits of the row change the chunk."""
    return m ^ ((m >> distance) & (((1 << bits) - 1) << unit))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((row * 8 + j) & 7, "j"),
        ((row * 64 + col) >> 6, "row"),
        ((row * 8 + j) & 63, "(row & 7) * 8 + j"),
        ((row * 8 + j) & 56, "(row & 7) * 8"),
        ((row << 3) | j, "row << 3 | j"),
        (((row << 3) | j) >> 3, "row"),
        ((row << 3) ^ j, "(row << 3) + j"),
        (((row << 3) | j) & 7, "j"),
        ((row >> 2) >> 3, "row >> 5"),
        ((row << 2) << 3, "row << 5"),
        ((n ^ 5) ^ 6, "n ^ 3"),
        ((n & 12) & 6, "n & 4"),
        (n ^ n, "0"),
        (n & n, "n"),
        (n | 0, "n"),
        ((n * 8) & -8, "n * 8"),
        (col & 63, "col"),
        (n & 7, "n & 7"),
        ((n * 8 + j) % 64, "n % 8 * 8 + j"),
        ((n * 8 + j) // 64, "n // 8"),
        ((n * 6 + 4) // 4, "n * 3 // 2 + 1"),
        (ir.binary(ir.Min, n, n + 1), "n"),
        (ir.binary(ir.Max, ir.binary(ir.Max, n, 3), 5), "T.max(n, 5)"),
        (ir.Select(n < 4, col, col), "col"),
    ],
)
def test_rules(before: ir.Expr, after: str) -> None:
    assert analyzer().simplify(before).script() == after


@pytest.mark.parametrize(
    ("position", "after"),
    [
        (row * 64 + col, "row * 64 + (col ^ (row & 7) * 8)"),
        (row * 64 + k * 8 + j, "row * 64 + (k ^ row & 7) * 8 + j"),
        (row * 64 + k * 8, "row * 64 + (k ^ row & 7) * 8"),
        (row * 64, "row * 64 + (row & 7) * 8"),
        (row * 64 + 8, "row * 64 + (row & 7 ^ 1) * 8"),
        ((row + 8) * 64 + col, "row * 64 + (col ^ (row & 7) * 8) + 512"),
        (row * 64 + col // 8 * 8 + col % 8, "row * 64 + (col ^ (row & 7) * 8)"),
        ((row // 8 + k * 16) * 64 + row % 8 * 8, "k * 1024 + (row * 8 ^ row & 56)"),
        (row * 64 + n, "row * 64 + n ^ row * 8 + (n >> 3) & 56"),
    ],
)
def test_swizzles_become_what_a_person_writes(position: ir.Expr, after: str) -> None:
    assert analyzer().simplify(swizzled(position)).script() == after


def test_constants_of_a_swizzle_fold() -> None:
    known = analyzer()
    inside = known.simplify(swizzled(row * 64 + 24))
    assert known.equal(swizzled(row * 64 + 24 + 5), inside + 5)
    assert known.divides(8, inside)
    assert known.bounds(inside).within(0, 128 * 64 - 1)


def test_a_shift_of_data_may_lose_bits() -> None:
    data = ir.Var("data", ir.INT32)
    kept = (data << 3) >> 3
    assert analyzer().simplify(kept) is kept


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        (row * 4 + j < n, row * 4 < n),
        (row * 4 + j < 40, row <= 9),
        (row // 4 < 3, row < 12),
        ((row >> 2) >= 3, row >= 12),
        (ir.logical_and(n % 8 == 0, n > 0), n >= 1),
        (ir.logical_not(ir.logical_or(n < 3, n > 9)), n <= 9),
        (ir.logical_and(n < k, k < row), n < row),
        (n == row, n <= row),
    ],
)
def test_conditions_around(condition: ir.Expr, asked: ir.Expr) -> None:
    known = analyzer()
    assert not known.prove(asked)
    known.assume(condition)
    assert known.prove(asked)


def test_divisions_by_symbols_line_up() -> None:
    known = analyzer()
    kept = (row * n + col) // n
    assert known.simplify(kept) is kept
    known.assume(col < n)
    assert known.simplify(kept).script() == "row"
    assert known.simplify((row * n * 8 + col + n) % n).script() == "col"
    assert known.simplify((row * n * 8 + col * 8 + 3) % (n * 8)).script() == "col * 8 + 3"


def test_residues_of_conditions() -> None:
    known = analyzer()
    known.assume((n & 7) == 0)
    assert known.divides(8, n * 3 + row * 16)


def test_the_negative_of_the_least_integer_is_not_the_largest() -> None:
    least = ir.IntImm(ir.INT32.min_int, ir.INT32)
    condition = ir.Neg(least) >= n
    assert not analyzer().prove(condition)
    assert analyzer().simplify(condition) is condition


def test_unsigned_products_may_wrap() -> None:
    u = ir.Var("u", ir.UINT32)
    wrapped = (u * 3) % 3  # 3 * 2**31 is 2**31 in 32 bits, and that is no multiple of 3
    assert analyzer().simplify(wrapped) is wrapped


def test_sums_with_values_from_memory_may_wrap() -> None:
    loaded = ir.Buffer("A", (4,), "int32")[0]
    assert analyzer().bounds(loaded + 1) == analyzer().bounds(loaded)
