"""Random programs survive being written and read, and the generator is rich enough for that to mean something."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tirx import ir
from tirx.ir import PrimFunc, structural_equal, structural_hash, walk
from tirx.script.printer import to_script
from tirx.testing import assert_round_trip
from tirx.testing.strategies import expressions, programs

# What only lowering makes.
NOT_WRITTEN = {"Launch"}
ABSTRACT = {"Stmt", "Expr", "Unary", "Binary", "Compare", "Node"}
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@settings(max_examples=120, suppress_health_check=CHECKS)
@given(programs())
def test_programs_can_be_read_back(program: PrimFunc) -> None:
    back = assert_round_trip(program)
    assert structural_hash(program) == structural_hash(back)


@settings(max_examples=60, suppress_health_check=CHECKS)
@given(programs(), programs())
def test_same_text_means_the_same_program(first: PrimFunc, second: PrimFunc) -> None:
    if to_script(first) == to_script(second):
        assert structural_equal(first, second)
        assert structural_hash(first) == structural_hash(second)


@settings(max_examples=100, suppress_health_check=CHECKS)
@given(expressions())
def test_expressions_have_text(expr: ir.Expr) -> None:
    assert to_script(expr) == to_script(expr)


def kinds_made(number: int) -> set[str]:
    """The kinds of nodes in a hundred programs."""
    seen: set[str] = set()

    @seed(number)
    @settings(max_examples=100, database=None, derandomize=False, phases=[Phase.generate], suppress_health_check=CHECKS)
    @given(programs())
    def count(program: PrimFunc) -> None:
        seen.update(type(node).__name__ for node in walk(program.body))

    count()
    return seen


def test_the_generator_makes_every_kind_of_node() -> None:
    nodes = [kind for kind in map(ir.__dict__.get, ir.__all__) if isinstance(kind, type) and issubclass(kind, ir.Node)]
    missing = {kind.__name__ for kind in nodes} - ABSTRACT - NOT_WRITTEN
    for number in range(20):
        missing -= kinds_made(number)
        if not missing:
            break
    assert not missing


@pytest.mark.parametrize("depth", [10, 20_000])
def test_long_sums_need_no_stack(depth: int) -> None:
    x = ir.Var("x", ir.INT32)
    total: ir.Expr = x
    for _ in range(depth):
        total = ir.Add(total, x)
    assert to_script(total) == " + ".join(["x"] * (depth + 1))
