"""What an instruction refuses where the author writes it: message and hint."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.trn.build import index, psum, sbuf
from tirx.ir import Buffer, const
from tirx.support.errors import ScriptError, TirxError
from tirx_trn import script as nki

I = index("i")
H = Buffer("h", (128, 64))
T, U = sbuf("t", 128, 64), sbuf("u", 128, 64)
HALF = sbuf("half", 64, 64)
COLUMN, FULL = sbuf("column", 128, 1), sbuf("full", 128, 128)
BF = sbuf("bf", 128, 64, dtype="bfloat16")
I32 = sbuf("i32", 128, 64, dtype="int32")
F64 = Buffer("f64", (128, 64), "float64", scope="trn.sbuf")
P, Q = psum("p", 64, 64), psum("q", 64, 64)
WIDE, WIDER = sbuf("wide", 128, 129), sbuf("wider", 128, 4097)

CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "load from a tile": (lambda: nki.load(T, U), "`data` of nki.load is in trn.sbuf memory, not global"),
    "load to memory": (lambda: nki.load(H, H), "`res` of nki.load is in global memory, not trn.sbuf"),
    "load to PSUM": (lambda: nki.load(P, H), "`res` of nki.load is in trn.psum memory, not trn.sbuf"),
    "load of another shape": (lambda: nki.load(HALF, H), "`res` of nki.load is a slice of shape (64, 64), `data` one of shape (128, 64)"),
    "no tile": (lambda: nki.tensor_copy(T, 3), "`data` of nki.tensor_copy is int, not a tile"),
    "compute on device memory": (lambda: nki.tensor_copy(T, H), "`data` of nki.tensor_copy is in global memory"),
    "other partitions": (
        lambda: nki.tensor_copy(T, HALF),
        "`data` of nki.tensor_copy covers 64 x 64 (partitions x elements), `res` covers 128 x 64",
    ),
    "broadcast": (lambda: nki.tensortensor(T, T, COLUMN, "add"), "`operand1` of nki.tensortensor covers 128 x 1"),
    "both in PSUM": (lambda: nki.tensortensor(HALF, P, Q, "add"), "`operand0` and `operand1` of nki.tensortensor are both in trn.psum"),
    "a 64-bit type": (lambda: nki.memset(F64, 0.0), "`result` of nki.memset is of type float64, which the engines do not have"),
    "divide": (lambda: nki.tensortensor(T, T, U, "div"), "`opcode` of nki.tensortensor is 'div': the engines have no divide"),
    "unknown opcode": (lambda: nki.tensorscalar(T, T, 1.0, "ad"), "`opcode` of nki.tensorscalar is 'ad'"),
    "activation that is none": (lambda: nki.activation(T, T, "add"), "`opcode` of nki.activation is 'add'"),
    "scalar of a wrong shape": (
        lambda: nki.tensorscalar(T, T, HALF[:, 0:1], "add"),
        "`operand1` of nki.tensorscalar is a tile of 64 x 1; it takes a number, or 128 x 1",
    ),
    "scalar of a wrong type": (lambda: nki.tensorscalar(T, T, BF[:, 0:1], "add"), "a tile of scalars is float32"),
    "nan": (lambda: nki.memset(T, float("nan")), "`value` of nki.memset is not a number"),
    "nan bias": (lambda: nki.activation(T, T, "exp", float("nan")), "`bias` of nki.activation is not a number"),
    "fraction into integers": (lambda: nki.memset(I32, 0.5), "`value` of nki.memset is 0.5, which is no int32"),
    "reverse of a fused reduction": (lambda: nki.tensorscalar_reduce(COLUMN, T, T, 1.0, "add", "add", True), "cannot reverse its operands"),
    "fused reduction with another opcode": (
        lambda: nki.activation_reduce(COLUMN, T, T, "exp", "max"),
        "`reduce_opcode` of nki.activation_reduce is 'max'",
    ),
    "fused reduction into a tile": (
        lambda: nki.activation_reduce(U, T, T, "exp", "add"),
        "`reduce_res` of nki.activation_reduce covers 128 x 64, not 128 x 1",
    ),
    "reduction across partitions": (lambda: nki.tensorreduce(COLUMN, T, "add", False, 0), "cannot reduce across partitions"),
    "reduction without axes": (
        lambda: nki.tensorreduce(COLUMN, T, "add", False),
        "the axes of nki.tensorreduce are missing; `data` has dimensions 0 to 1",
    ),
    "reduction of a missing axis": (lambda: nki.tensorreduce(COLUMN, T, "add", False, 2), "the axes of nki.tensorreduce are (2,)"),
    "reduction into a wrong shape": (
        lambda: nki.tensorreduce(U, T, "add", False, 1),
        "`result` of nki.tensorreduce covers 128 x 64, not 128 x 1",
    ),
    "reduction of an inner axis": (
        lambda: nki.tensorreduce(sbuf("r", 128, 8), sbuf("d", 128, 4, 8), "add", False, 1), "are not the last free dimensions of `data`"
    ),
    "product into SBUF": (lambda: nki.matmul(T, FULL, T), "`res` of nki.matmul is in trn.sbuf memory, not trn.psum"),
    "product of PSUM": (lambda: nki.matmul(P, P, T), "`lhs` of nki.matmul is in trn.psum memory, not trn.sbuf"),
    "contraction": (lambda: nki.matmul(P, HALF, T), "`lhs` of nki.matmul has 64 partitions, `rhs` 128"),
    "stationary too wide": (lambda: nki.matmul(P, WIDE, T), "`lhs` of nki.matmul has 129 elements per partition; at most 128 fit"),
    "moving too wide": (lambda: nki.matmul(P, T, WIDER), "`rhs` of nki.matmul has 4097 elements per partition; at most 4096 fit"),
    "product of a wrong shape": (lambda: nki.matmul(P, FULL, T), "`res` of nki.matmul covers 64 x 64; lhs.T @ rhs is 128 x 64"),
    "mixed product": (lambda: nki.matmul(P, T, BF), "nki.matmul does not mix float32 with bfloat16"),
    "integer product": (lambda: nki.matmul(P, I32, I32), "`lhs` of nki.matmul is of type int32"),
    "product not in float32": (
        lambda: nki.matmul(Buffer("b", (64, 64), "float16", scope="trn.psum"), T, T), "`res` of nki.matmul is of type float16"
    ),
    "partition start": (
        lambda: nki.memset(T[16:32, :], 0.0),
        "`result` of nki.memset starts at partition 16; 16 partitions start at 0, 32, 64, 96",
    ),
    "partition start of many": (lambda: nki.memset(T[32:128, :], 0.0), "starts at partition 32; 96 partitions start at 0"),
    "a partition start that varies": (
        lambda: nki.memset(T[I * 16 : I * 16 + 16, :], 0.0),
        "`result` of nki.memset starts at a partition that is not always a multiple of 32",
    ),
    "five free dimensions": (
        lambda: nki.memset(sbuf("deep", 128, 2, 2, 2, 2, 2), 0.0),
        "`result` of nki.memset has 5 free dimensions; an access has at most 4",
    ),
    "too many partitions": (lambda: nki.memset(sbuf("big", 129, 4), 0.0), "129 partitions are more than the 128"),
    "identity of another size": (lambda: nki.identity(T, 64), "`result` of nki.identity covers 128 x 64, not 64 x 64"),
    "identity too large": (lambda: nki.identity(T, 256), "`size` of nki.identity is 256"),
    "a tile as false value": (lambda: nki.affine_select(T, nki.index(0) >= 1, T, U), "`false_value` of nki.affine_select is a tile"),
    "select in PSUM": (lambda: nki.affine_select(P, nki.index(0) >= 1, P, 0.0), "`result` of nki.affine_select is in trn.psum memory"),
    "a slice of unknown size": (
        lambda: nki.memset(T[:, 0 : nki.index(0)], 0.0), "the slice of `t` has an extent that is not constant"
    ),
    "a bank that is too small": (lambda: nki.memset(psum("acc", 1, 128, 513), 0.0), "`acc` takes 2052 bytes of a PSUM bank of 2048"),
    "too many banks": (lambda: nki.memset(psum("acc", 9, 128, 512), 0.0), "`acc` takes 9 PSUM banks, of which there are 8"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    act, message = CASES[name]
    with pytest.raises(TirxError, match=re.escape(message)):
        act()


def test_near_names_are_suggested() -> None:
    with pytest.raises(ScriptError) as caught:
        nki.tensorscalar(T, T, 1.0, "ad")
    assert caught.value.hint == "did you mean `add`?"


def test_a_partition_start_that_varies_in_steps_is_fine() -> None:
    assert nki.memset(T[I * 32 : I * 32 + 32, :], 0.0).op.name == "nki.memset"


def test_a_copy_starts_at_any_partition() -> None:
    assert nki.load(T[3:10, :], H[3:10, :]).op.name == "nki.load"


def test_a_known_flag_is_no_problem() -> None:
    assert nki.matmul(psum("r", 64, 64), T, U, const(True)).op.name == "nki.matmul"
