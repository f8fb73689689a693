"""Selections by predicates of indices: one comparison, several, either value a number, a tile, a row or a column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.trn.tile.operations import PSUM, Place, check, crossed, refused
from tirx import script as Tx


def whole(scope: str = "trn.sbuf", dtype: str = "float32") -> Place:
    return Place((300, 600), dtype, scope=scope, of=(384, 600))


COMPARISONS: dict[str, Any] = {
    "ge": lambda i, j: i >= j,
    "lt": lambda i, j: i + 3 < 2 * j,
    "eq": lambda i, j: i - j == 5,
    "ne": lambda i, j: i != j,
    "le": lambda i, j: 2 * i + 3 * j <= 700,
    "rows": lambda i, j: i > 130,
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_one_comparison(name: str, tmp_path: Path) -> None:
    pred = COMPARISONS[name]
    text = check("select", folder=tmp_path, dst=whole(), true_value=whole(), false_value=-1.5, pred=pred)
    assert "predicated" not in text
    check("select", folder=tmp_path, dst=whole(), true_value=-1.5, false_value=whole(), pred=pred)


VALUES: dict[str, Any] = {
    "tile": whole, "row": lambda: Place((1, 600)), "column": lambda: Place((300, 1), of=(384, 1)), "number": lambda: 2.0,
}  # fmt: skip


@pytest.mark.parametrize(("true", "false"), crossed(VALUES, VALUES, keep=3))
def test_values(true: str, false: str, tmp_path: Path) -> None:
    values = {"true_value": VALUES[true](), "false_value": VALUES[false]()}
    check("select", folder=tmp_path, dst=whole(), pred=lambda i, j: i >= j, **values)


JOINED: dict[str, tuple[Any, Any]] = {
    "and": (lambda i, j: Tx.And(i >= j, j > 5), lambda i, j: (i >= j) & (j > 5)),
    "or": (lambda i, j: Tx.Or(i >= j, j > 450), lambda i, j: (i >= j) | (j > 450)),
    "band": (lambda i, j: Tx.And(i - j <= 9, Tx.And(j - i <= 9, i > 3)), lambda i, j: (abs(i - j) <= 9) & (i > 3)),
    "not": (lambda i, j: Tx.Not(i >= j), lambda i, j: i < j),
    "not_or": (lambda i, j: Tx.Not(Tx.Or(i >= j, j > 450)), lambda i, j: (i < j) & (j <= 450)),
}


@pytest.mark.parametrize(
    ("name", "form"), crossed(JOINED, [("tile", "number"), ("number", "tile"), ("tile", "tile")], keep=2)
)
def test_several_comparisons(name: str, form: tuple[str, str], tmp_path: Path) -> None:
    pred, means = JOINED[name]
    values = {"true_value": VALUES[form[0]](), "false_value": VALUES[form[1]]()}
    check("select", folder=tmp_path, dst=whole(), pred=pred, means={"pred": means}, **values)


def test_in_psum_and_of_short_types(tmp_path: Path) -> None:
    tiles = {"dst": Place((100, 60), scope=PSUM), "true_value": Place((100, 60), scope=PSUM)}
    check("select", folder=tmp_path, false_value=0.0, pred=lambda i, j: i >= j, **tiles)
    for dtype in ("bfloat16", "int8"):
        tiles = {"dst": whole(dtype=dtype), "true_value": whole(dtype=dtype)}
        check("select", folder=tmp_path, false_value=0, pred=lambda i, j: i >= j, **tiles)


def test_three_dimensions(tmp_path: Path) -> None:
    tiles = {"dst": Place((100, 5, 30)), "true_value": Place((100, 5, 30))}
    check("select", folder=tmp_path, false_value=0.0, pred=lambda i, j, k: i + 7 * j >= 3 * k, **tiles)
    tiles = {"dst": Place((4, 100, 30), layout="FPF"), "true_value": Place((4, 100, 30), layout="FPF")}
    check("select", folder=tmp_path, false_value=0.0, pred=lambda i, j, k: 9 * i + j >= 3 * k, **tiles)


@pytest.mark.parametrize(
    ("pred", "reason"),
    [
        (lambda i, j: i * j > 5, "predicate: the predicate multiplies indices with each other (nisa.affine_select)"),
        (lambda i, j: i % 2 == 0, "predicate: the predicate is not linear in the indices (nisa.affine_select)"),
        (
            lambda i, j: Tx.And(i > 3, Tx.Or(j > 3, i > j)),
            "predicate: the predicate is no comparison, nor several with `and` or `or` between all",
        ),
    ],
)
def test_predicates_that_the_engine_has_not(pred: Any, reason: str) -> None:
    assert reason in refused("select", dst=whole(), true_value=whole(), false_value=0.0, pred=pred)


def test_whole_numbers() -> None:
    text = refused(
        "select", dst=whole(dtype="int32"), true_value=whole(dtype="int32"), false_value=0, pred=lambda i, j: i > j
    )
    assert "integers: `dst` holds int32, which GpSimd selects in float32" in text
