"""Every intrinsic of core can be written and read back, with each of its keywords."""

from __future__ import annotations

from typing import Any

import pytest

from tirx.intrinsic import Intrinsic, call, check_intrinsic
from tirx.intrinsic.core import ALL
from tirx.ir import BOOL, Buffer, BufferLoad, Call, DType, Evaluate, Expr, IntImm, PrimFunc, StringImm, Var, const
from tirx.support.late import load_object
from tirx.testing import assert_round_trip

KEYWORDS = {
    "reinterpret": {"dtype": "int32"}, "ptr_byte_offset": {"dtype": "float16"}, "masked_load": {"dtype": "float32"},
    "call_extern": {"dtype": "float32"}, "call_pure_extern": {"dtype": "float32"}, "undef": {"dtype": "float32"},
    "type_annotation": {"dtype": "float32"}, "tvm_access_ptr": {"dtype": "float32", "rw_mask": 2},
    "tirx.launch_index": {"axis": "thread.y"},
}  # fmt: skip
# Names that the language gives to nodes or to another function; the row is reached through it.
A = Buffer("A", (64,), "float32")
N = Var("n", DType("int32"))


def operand(row: Intrinsic, position: int) -> Expr:
    """A value that fits."""
    item = row.operands[position]
    if item.kind == "text":
        return StringImm("name")
    if item.kind == "place":
        return BufferLoad(A, (N,))
    if item.kind == "pointer":
        return A.data
    if item.lanes:
        return const(1, DType(item.dtypes[0]).with_lanes(item.lanes[0]))
    if "bool" in item.dtypes:
        return N < 3
    if "float" in item.dtypes or not item.dtypes:
        return BufferLoad(A, (N,))
    return IntImm(3, DType("uint32")) if item.dtypes == ("uint",) else N


def made(row: Intrinsic, **attrs: Any) -> PrimFunc:
    """A function that calls `row` once."""
    args = [operand(row, position) for position in range(len(row.operands))]
    node: Call = call(row, *args, **attrs)
    return PrimFunc("k", [A, N], Evaluate(node), {"global_symbol": "k"})


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_is_well_formed_and_documented(row: Intrinsic) -> None:
    check_intrinsic(row)
    assert row.meaning is None or row.meaning.startswith("tirx.sim.meanings.")
    assert row.accuracy in ("exact", "model") or row.accuracy.startswith("ulp(")


def test_every_meaning_exists() -> None:
    pytest.importorskip("numpy")
    assert all(callable(load_object(row.meaning)) for row in ALL if row.meaning is not None)


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_can_be_read_back(row: Intrinsic) -> None:
    assert_round_trip(made(row, **KEYWORDS.get(row.name, {})))


def test_names_are_unique() -> None:
    names = [row.name for row in ALL]
    assert len(names) == len(set(names))


def test_conditions_are_bool() -> None:
    assert all(
        item.dtypes == ("bool",)
        for row in ALL
        for item in row.operands
        if item.name in ("condition", "mask") and not row.name.startswith("tvm_")
    )
    assert BOOL.is_bool
