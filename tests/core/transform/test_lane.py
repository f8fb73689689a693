"""Conditions that are the same in all lanes: never claimed where lanes differ, and claimed where a multiple says so."""

from __future__ import annotations

import operator
from itertools import product

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.arith import Analyzer
from tirx.ir import (
    EQ,
    GE,
    GT,
    INT32,
    LE,
    LT,
    NE,
    UINT32,
    And,
    Broadcast,
    IntImm,
    Not,
    Or,
    Ramp,
    Var,
    as_expr,
    substitute,
)
from tirx.transform.lane import lane_of, shared_condition

OPERATORS = {LT: operator.lt, LE: operator.le, GT: operator.gt, GE: operator.ge, EQ: operator.eq, NE: operator.ne}
LANES = 4


def truth(expr, x, n):
    """The value of a scalar condition for values of its variables."""
    found = Analyzer().simplify(expr if isinstance(expr, IntImm) else substitute(expr, {X: as_expr(x), N: as_expr(n)}))
    assert isinstance(found, IntImm)
    return bool(found.value)


X, N = Var("x", INT32), Var("n", INT32)


@pytest.mark.parametrize("kind", OPERATORS)
def test_it_is_never_claimed_where_lanes_differ(kind):
    claimed = 0
    for factor, stride, limit in product((1, 4, 6, 8), (1, 2, -1), (0, 1, 7, 8, N * 4, N * 6 + 3)):
        index = Ramp(X * factor, as_expr(stride), LANES)
        condition = kind(index, Broadcast(as_expr(limit), LANES))
        shared = shared_condition(condition, LANES, Analyzer())
        if shared is None:
            continue
        claimed += 1
        for x, n in product(range(-3, 4), range(-1, 2)):
            lanes = {truth(lane_of(condition, number), x, n) for number in range(LANES)}
            assert lanes == {truth(shared, x, n)}, (condition, x, n)
    assert claimed > 0 or kind in (EQ, NE)


def test_multiples_decide():
    ramp = Ramp(X * 4, as_expr(1), LANES)

    def limit(value):
        return Broadcast(as_expr(value), LANES)

    below = shared_condition(LT(ramp, limit(200)), LANES, Analyzer())
    assert tirx.structural_equal(below, LT(X * 4, as_expr(200)))
    for wrong in (LT(ramp, limit(201)), LE(ramp, limit(200)), LT(ramp, limit(N)), EQ(ramp, limit(200))):
        assert shared_condition(wrong, LANES, Analyzer()) is None
    both = And(LT(ramp, limit(200)), Not(GT(ramp, limit(203))))
    assert shared_condition(both, LANES, Analyzer()) is not None
    assert shared_condition(Or(both, LT(ramp, limit(201))), LANES, Analyzer()) is None


def test_unsigned_differences_wrap():
    x = Var("u", UINT32)
    ramp = Ramp(x * 4, as_expr(1, "uint32"), LANES)
    assert shared_condition(LT(ramp, Broadcast(as_expr(200, "uint32"), LANES)), LANES, Analyzer()) is None


def test_one_vector_under_the_condition():
    @Tx.prim_func
    def kernel(x: Tx.Buffer((256,), "float32"), y: Tx.Buffer((256,), "float32"), n: Tx.int32):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        for i in Tx.vectorized(4):
            if tx * 4 + i < 200 and tx * 4 + i >= n * 8:
                y[tx * 4 + i] = x[tx * 4 + i]
            else:
                y[tx * 4 + i] = Tx.if_then_else(tx * 4 + i < 220, 1.0, x[tx * 4 + i])

    x, y = np.arange(256, dtype="f4"), np.zeros(256, "f4")
    assert tirx.simulate(kernel, x, y, 3, target="generic").verdict == "clean"
    at = np.arange(256)
    assert np.array_equal(y, np.where((at < 200) & (at >= 24), x, np.where(at < 220, 1, x)))
    text = tirx.compile(kernel, "generic").lowered.script()
    assert text.count("Ramp") >= 4
    assert "unroll" not in text
