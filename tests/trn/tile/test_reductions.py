"""Reductions: along any free axes, in pieces, onto what was there, of what the engines hold exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.trn.tile.operations import PSUM, Place, check, crossed, refused

WHOLE = {"src": Place((300, 700), of=(384, 700)), "dst": Place((300, 1), of=(384, 1))}
FOLDS = ["sum", "max", "min"]


@pytest.mark.parametrize(("operation", "size", "accum"), crossed(FOLDS, [None, 100, 350, 700], [False, True], keep=3))
def test_long_rows(operation: str, size: int | None, accum: bool, tmp_path: Path) -> None:
    words = {"accum": accum} | ({} if size is None else {"max_inst_size": size})
    text = check(operation, folder=tmp_path, keywords=words, tolerance=1e-6, **WHOLE)
    assert ("partial" in text) == (size in (100, 350))


@pytest.mark.parametrize(
    ("axes", "shape"), [(-1, (100, 6)), (2, (100, 6, 1)), (1, (100, 40)), ((1, 2), (100,)), ((1, 2), (100, 1, 1))]
)
@pytest.mark.parametrize("operation", ["sum", "max"])
def test_axes(operation: str, axes: Any, shape: tuple[int, ...], tmp_path: Path) -> None:
    dst = Place(shape, layout="P" + "F" * (len(shape) - 1))
    check(operation, folder=tmp_path, keywords={"axes": axes}, tolerance=1e-6, dst=dst, src=Place((100, 6, 40)))


def test_all_results_of_a_partition_in_one_instruction() -> None:
    text = check("sum", tolerance=1e-6, dst=Place((100, 6)), src=Place((100, 6, 40)))
    assert text.count("nisa.tensor_reduce(") == 1
    assert "for i" not in text


@pytest.mark.parametrize(("fold", "accum", "size"), crossed(FOLDS, [False, True], [700, 128], keep=3))
def test_negated(fold: str, accum: bool, size: int, tmp_path: Path) -> None:
    words = {"reduce_op": fold, "accum": accum, "max_inst_size": size}
    tiles = {"output": WHOLE["dst"], "input": WHOLE["src"]}
    check("reduce_negate", folder=tmp_path, keywords=words, tolerance=1e-6, **tiles)


@pytest.mark.parametrize("accum", [False, True])
def test_axes_of_one_element(accum: bool, tmp_path: Path) -> None:
    src = Place((60, 1, 40))
    check("sum", folder=tmp_path, dst=Place((60, 40)), src=src, keywords={"axes": 1, "accum": accum})
    words = {"reduce_op": "max", "reduce_axes": 1, "accum": accum}
    check("reduce_negate", folder=tmp_path, output=Place((60, 1, 40)), input=src, keywords=words)


def test_short_floats_are_summed_in_float32(tmp_path: Path) -> None:
    src = Place((128, 600), "bfloat16")
    check("sum", folder=tmp_path, dst=Place((128, 1)), src=src, tolerance=1e-6)
    check(
        "sum",
        folder=tmp_path,
        dst=Place((128, 1), "bfloat16"),
        src=src,
        keywords={"max_inst_size": 50},
        tolerance=2**-8,
    )


def test_from_banks_of_psum(tmp_path: Path) -> None:
    check("sum", folder=tmp_path, dst=Place((128, 1)), src=Place((128, 1024), scope=PSUM), tolerance=1e-6)


def test_partial_results_go_to_the_workspace(tmp_path: Path) -> None:
    space = {"partial_reduce": Place((128, 16))}
    text = check("sum", folder=tmp_path, scratch=space, keywords={"max_inst_size": 100}, tolerance=1e-6, **WHOLE)
    assert "partial =" not in text


def test_integers(tmp_path: Path) -> None:
    check("sum", folder=tmp_path, dst=Place((60, 1), "int32"), src=Place((60, 100), "int8"))
    check("max", folder=tmp_path, dst=Place((60, 1), "int16"), src=Place((60, 100), "int16"))
    text = refused("sum", dst=Place((60, 1), "int32"), src=Place((60, 100), "int32"))
    assert "int32 is reduced in float32, which holds whole numbers up to 2**24" in text


def test_partitions_are_not_reduced() -> None:
    text = refused("sum", dst=Place((1, 64)), src=Place((100, 64)), keywords={"axes": 0})
    assert "axis 0 of `src` lies along partitions, which engines do not reduce (nisa.tensor_reduce)" in text
    assert "multiply with a column of ones (Tx.tile.gemm), or copy the tile transposed" in text
