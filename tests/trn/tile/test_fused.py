"""Operations of several steps: chains, and elementwise operations with their reductions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.tile.operations import Place, check, crossed, refused
from tirx import script as Tx


def whole(dtype: str = "float32") -> Place:
    return Place((200, 600), dtype, of=(256, 600))


def column() -> Place:
    return Place((200, 1), of=(256, 1))


FORMS: dict[str, Any] = {"tile": whole, "column": column, "row": lambda: Place((1, 600)), "number": lambda: 2.5}


PAIRS = [("tile", "column"), ("column", "tile"), ("tile", "number"), ("tile", "tile"), ("tile", "row")]


@pytest.mark.parametrize(
    ("first", "second", "steps"),
    crossed(FORMS, FORMS, [("mul", "sub", True), ("fdiv", "add", False), ("sub", "fdiv", True)], keep=4),
)
def test_chains(first: str, second: str, steps: tuple[str, str, bool]) -> None:
    operands = {"data": whole(), "operand0": FORMS[first](), "operand1": FORMS[second]()}
    words = dict(zip(("op0", "op1", "reverse1"), steps, strict=True))
    check("binary_chain", output=whole(), keywords=words, tolerance=1e-6, **operands)


@pytest.mark.parametrize(
    ("op0", "reverse", "op1"), crossed(["add", "maximum"], [False, True], ["minimum", "fdiv", "sub"], keep=2)
)
def test_operations_of_a_chain(op0: str, op1: str, reverse: bool, tmp_path: Path) -> None:
    words = {"op0": op0, "op1": op1, "reverse1": reverse}
    operands = {"output": whole(), "data": whole(), "operand0": column(), "operand1": whole()}
    text = check("binary_chain", folder=tmp_path, keywords=words, tolerance=1e-6, **operands)
    assert ("scalar_tensor_tensor" in text) == ((op1, reverse) != ("fdiv", True))


@pytest.mark.parametrize(
    ("fold", "operation"), crossed(["sum", "max"], ["sqrt", "exp", "exp2", "silu", "log2", "reciprocal"], keep=2)
)
def test_functions_and_their_reduction(operation: str, fold: str, tmp_path: Path) -> None:
    words = {"unary_op": operation, "reduce_op": fold}
    operands = {
        "unary_output": whole(),
        "reduce_output": column(),
        "unary_input": whole(),
        "bias": column(),
        "scale": 0.5,
    }
    text = check("unary_reduce", folder=tmp_path, keywords=words, tolerance=2e-6, **operands)
    one = fold == "sum" and operation not in ("log2", "reciprocal")
    assert ("tensor_reduce" not in text) == one


@pytest.mark.parametrize(("operation", "form"), crossed(["add", "sub", "mul", "fdiv", "maximum"], PAIRS, keep=3))
def test_two_operands_and_their_reduction(operation: str, form: tuple[str, str], tmp_path: Path) -> None:
    words = {"binary_op": operation, "reduce_op": "max" if operation == "sub" else "sum"}
    inputs = {"binary_input1": FORMS[form[0]](), "binary_input2": FORMS[form[1]]()}
    text = check(
        "binary_reduce",
        folder=tmp_path,
        keywords=words,
        tolerance=2e-6,
        binary_output=whole(),
        reduce_output=column(),
        **inputs,
    )
    one = form in (("tile", "column"), ("tile", "number")) or (
        form == ("column", "tile") and operation in ("add", "mul", "maximum")
    )
    assert ("tensor_scalar_reduce" in text) == one


def test_the_size_of_instructions_sends_rows_to_parts() -> None:
    operands = {"binary_output": whole(), "reduce_output": column(), "binary_input1": whole(), "binary_input2": 2.0}
    words: dict[str, Any] = {"binary_op": "add", "reduce_op": "sum", "max_inst_size": 100}
    assert "tensor_scalar_reduce" not in check("binary_reduce", keywords=words, tolerance=1e-6, **operands)
    words["dispatch"] = "default"
    assert "no instruction has a whole row" in refused("binary_reduce", keywords=words, **operands)


def test_sums_of_squares() -> None:
    func = tirx.compile(squares, "trn")
    text = func.source.text
    assert text.count("nisa.activation") == 2  # a call for whole groups of rows, one for the rest
    assert "op=nl.square" in text
    a = np.random.default_rng(9).random((200, 60), dtype=np.float32)
    total = np.empty((200, 1), np.float32)
    assert tirx.simulate(squares, a, total, target="trn").verdict == "clean"
    np.testing.assert_allclose(total, (a * a).sum(axis=1, keepdims=True), rtol=1e-6)


@Tx.prim_func
def squares(a: Tx.Buffer((200, 60), "float32"), b: Tx.Buffer((200, 1), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((256, 60), "float32", scope="trn.sbuf", layout="PF")
    y = Tx.alloc_buffer((256, 60), "float32", scope="trn.sbuf", layout="PF")
    s = Tx.alloc_buffer((256, 1), "float32", scope="trn.sbuf", layout="PF")
    Tx.tile.copy(x[0:200], a)
    Tx.tile.binary_reduce(y[0:200], s[0:200], x[0:200], x[0:200], "mul", "sum")
    Tx.tile.copy(b, s[0:200])


def test_integers() -> None:
    words = {"op0": "add", "op1": "add"}
    tiles = {name: whole("int32") for name in ("output", "data")}
    text = refused("binary_chain", keywords=words, operand0=1, operand1=2, **tiles)
    assert "floats: `output` holds int32; what lies in between is float32" in text
