"""Index expressions become what a person would write."""

from __future__ import annotations

import pytest

from tirx import ir
from tirx.arith import Analyzer

tx, bx, n = (ir.Var(name, ir.INT32) for name in ("tx", "bx", "n"))
u = ir.Var("u", ir.UINT32)


def analyzer() -> Analyzer:
    made = Analyzer()
    made.bind(tx, 0, 31)
    made.bind(bx, 0, 1023)
    made.bind(n, 1, None)
    return made


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (bx * 32 + tx - tx, bx * 32),
        ((bx * 32 + tx) // 32, bx),
        ((bx * 32 + tx) % 32, tx),
        ((bx * 64 + tx * 2 + 1) // 2, bx * 32 + tx),
        ((bx * 64 + tx + 5) // 32, bx * 2 + (tx + 5) // 32),
        (bx // 64 * 64 + bx % 64, bx),
        (((n * 32 + bx // 64) * 64 + bx % 64), n * 2048 + bx),
        (bx // 4 * 8 + bx % 4 * 2, bx * 2),
        ((bx * 16 + tx) // 20 * 20 + (bx * 16 + tx) % 20, bx * 16 + tx),
        (tx * 1 + 0, tx),
        (tx * 0, ir.const(0)),
        (tx * 4 // 2, tx * 2),
        ((tx + 32) // 32, ir.const(1)),
        (tx // 4 // 8, ir.const(0)),
        ((bx // 4) // 8, bx // 32),
        (5 - (tx + 2), 3 - tx),
        ((bx % 64) % 32, bx % 32),
        (tx < 32, ir.const(True)),
        (tx + bx >= 0, ir.const(True)),
        (tx > 31, ir.const(False)),
        ((tx * 8 + 3) % 4, ir.const(3)),
        (ir.binary(ir.Min, tx, 31), tx),
        (ir.binary(ir.Max, tx, 31), ir.const(31)),
        (ir.binary(ir.Div, bx * 32 + tx, 32), bx),
        (ir.logical_and(tx < 32, bx < n), bx < n),
        (ir.logical_or(tx < 32, bx < n), ir.const(True)),
        (ir.logical_not(bx < n), bx >= n),
    ],
)
def test_rules(before: ir.Expr, after: ir.Expr) -> None:
    assert ir.structural_equal(analyzer().simplify(before), after)


@pytest.mark.parametrize(
    "kept", [(bx + 1) * 4, bx * 32 + tx, (n + 31) // 32, bx // 3 * 3, (u + 7) // 8, u - 1 + n // bx]
)
def test_the_authors_form_is_kept_where_nothing_is_shorter(kept: ir.Expr) -> None:
    assert analyzer().simplify(kept) is kept


def test_unsigned_division_does_not_ignore_wrapping() -> None:
    wrapped = (u * 4 + 4) // 4  # u = 2**30 - 1 gives 0, not 2**30
    assert ir.structural_equal(analyzer().simplify(wrapped), wrapped)


def test_unsigned_sums_merge() -> None:
    assert analyzer().simplify(u + 1 - 1) is u


def test_divisibility() -> None:
    known = analyzer()
    known.bind_residue(n, 64)
    assert known.divides(16, n * bx + tx * 32)
    assert not known.divides(64, n + tx * 32)


def test_deep_sums_do_not_overflow() -> None:
    total: ir.Expr = tx
    for _ in range(5000):
        total = total + bx
    assert ir.structural_equal(analyzer().simplify(total), tx + bx * 5000)


def test_symbolic_equality() -> None:
    assert analyzer().equal((n + 1) * 2, n * 2 + 2)
    assert not analyzer().equal(n, n + 1)
