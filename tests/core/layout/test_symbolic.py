"""Layouts whose extents, strides and boxes are expressions: what comes out means what constants would have given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.layout.oracle import meaning
from tirx import ir
from tirx.layout import ComposeLayout, S, TileLayout, laneid
from tirx.support.errors import LayoutError

N = ir.Var("n", ir.INT32)


def at(layout: Any, value: int) -> Any:
    """The layout where n is `value`."""
    return layout.mapped(lambda expr: ir.substitute(expr, {N: ir.IntImm(value, ir.INT32)}))


ROWS = TileLayout(S[(N, 8) : (8, 1)])
WIDE = TileLayout(S[(4, N) : (N, 1)])
LANES = TileLayout(S[(N, 4, 2) : (2, 1 @ laneid, 1)] + N)

# (operation, as a function of a layout): with n first or with n last it is the same.
OPERATIONS: list[tuple[TileLayout, Callable[[Any, Any], Any]]] = [
    (ROWS, lambda layout, n: layout.canonicalize()),
    (WIDE, lambda layout, n: layout.canonicalize()),
    (LANES, lambda layout, n: layout.canonicalize()),
    (LANES, lambda layout, n: layout.storage()),
    (ROWS, lambda layout, n: layout.group([n, 2, 4])[0]),
    (ROWS, lambda layout, n: layout.group([n * 8])[0]),
    (TileLayout(S[N * 8]), lambda layout, n: layout.group([n, 8])[0]),
    (TileLayout(S[N * 8]), lambda layout, n: layout.group_many([[n, 8], [n, 2, 4]])[0]),
    (ROWS, lambda layout, n: layout.permute_dims([1, 0])),
    (ROWS, lambda layout, n: layout.tile(TileLayout(S[(2, 3) : (3, 1)]), [2, 3], [n, 8])),
    (TileLayout(S[8, 8]), lambda layout, n: layout.tile_to([8 * n, 8], [8, 8])),
    (ROWS, lambda layout, n: layout.direct_sum(TileLayout(S[(2, 1) : (100, 1)]), [2, 1], [n, 8])),
    (ROWS, lambda layout, n: layout.slice([n, 8], [(0, n), (2, 6)])),
    (TileLayout(S[64, 8]), lambda layout, n: layout.slice([64, 8], [(n, n + 4), (0, 8)])),
    (TileLayout(S[(4, 16) : (100, 1)]), lambda layout, n: layout.slice([64], [(n * 4, n * 4 + 4)])),
    (TileLayout(S[(4, 16) : (100, 1)]), lambda layout, n: layout.slice([64], [(n, n + 1)])),
    (WIDE, lambda layout, n: layout.unpack(2)),
    (WIDE.unpack(2), lambda layout, n: layout.pack(2)),
    (ROWS, lambda layout, n: layout.broadcast(n, 0)),
    (ComposeLayout(0, 1, 2, ROWS), lambda layout, n: layout.canonicalize()),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(OPERATIONS)))
def test_values_may_come_before_or_after(number: int) -> None:
    layout, operation = OPERATIONS[number]
    symbolic = operation(layout, N)
    for value in (1, 2, 5):
        assert meaning(at(symbolic, value)) == meaning(operation(at(layout, value), value))


def test_inverses() -> None:
    tiled = ROWS.tile(TileLayout(S[2, 3]), [2, 3], [N, 8])
    assert ROWS.is_tile_inner(tiled, [2 * N, 24], [N, 8]) == TileLayout(S[2, 3])
    inner = TileLayout(S[2, 3]).is_tile_outer(tiled, [2 * N, 24], [2, 3])
    assert inner == ROWS


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 31))
def test_apply(value: int, index: int) -> None:
    place = LANES.apply(index % (8 * value), shape=(8 * N,))
    found = {axis: position for axis, position in at_place(place, value).items() if position}
    wanted = dict(meaning(at(LANES, value))[index % (8 * value)][0])
    assert found == wanted


def at_place(place: dict[str, Any], value: int) -> dict[str, int]:
    from tests.property.integers import evaluate

    return {axis: part if isinstance(part, int) else evaluate(part, {id(N): value}) for axis, part in place.items()}


def test_a_swizzled_index_is_one_xor() -> None:
    i, j = ir.Var("i", ir.INT32), ir.Var("j", ir.INT32)
    found = ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).physical((i, j), (8, 64))["m"]
    assert isinstance(found, ir.Expr)
    assert found.script() == "i * 64 + j ^ (i * 64 + j & 448) >> 3"


def test_what_cannot_be_proven_is_refused() -> None:
    with pytest.raises(LayoutError, match="can not be grouped"):
        ROWS.group([8, N])
    assert TileLayout(S[(4, 16) : (100, 1)]).slice([64], [(N, N + 4)]) is None


def test_equal_expressions_make_equal_layouts() -> None:
    assert TileLayout(S[N + 1, 8]) == TileLayout(S[N + 1, 8])
    assert hash(TileLayout(S[N + 1, 8])) == hash(TileLayout(S[N + 1, 8]))
    assert TileLayout(S[N, 8]) != TileLayout(S[ir.Var("n", ir.INT32), 8])
    assert at(ROWS, 3) == TileLayout(S[3, 8])
    assert TileLayout(S[8, 8]).mapped(lambda expr: expr) is not None
