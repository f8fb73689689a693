"""What an instruction refuses where the author writes it: message and hint."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.trn.build import index, psum, sbuf
from tirx.ir import FLOAT32, Buffer, Cast, const
from tirx.layout import ComposeLayout, S
from tirx.support.errors import ScriptError, TirxError
from tirx_trn import script as nki
from tirx_trn.layout import trainium

I = index("i")
H = Buffer("h", (128, 64))
T, U = sbuf("t", 128, 64), sbuf("u", 128, 64)
HALF = sbuf("half", 64, 64)
COLUMN, FULL = sbuf("column", 128, 1), sbuf("full", 128, 128)
BF = sbuf("bf", 128, 64, dtype="bfloat16")
I32 = sbuf("i32", 128, 64, dtype="int32")
EIGHT, MASK, BYTES = sbuf("eight", 128, 8), sbuf("mask", 128, 64, dtype="uint8"), sbuf("bytes", 128, 64, dtype="uint8")
DEEP = sbuf("deep", 128, 2, 2, 2, 2)
F64 = Buffer("f64", (128, 64), "float64", scope="trn.sbuf")
F8, F8_2 = sbuf("f8", 128, 64, dtype="float8_e4m3"), sbuf("f8", 128, 2, 32, dtype="float8_e4m3")
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
    "broadcast": (lambda: nki.tensortensor(T, T, T[:, 0:2], "add"), "`operand1` of nki.tensortensor covers 128 x 2"),
    "broadcast over partitions": (lambda: nki.tensortensor(T, T, T[0:1, :], "add"), "`operand1` of nki.tensortensor covers 1 x 64"),
    "a column of another type": (lambda: nki.tensortensor(T, T, BF[:, 0:1], "add"), "a tile of scalars is float32"),
    "both in PSUM": (lambda: nki.tensortensor(HALF, P, Q, "add"), "`operand0` and `operand1` of nki.tensortensor are both in trn.psum"),
    "a 64-bit type": (lambda: nki.memset(F64, 0.0), "`result` of nki.memset is of type float64, which the engines do not have"),
    "divide in a scan": (
        lambda: nki.tensor_tensor_scan(T, T, U, 0.0, "divide", "add"), "is 'divide': the engines have no divide"
    ),
    "integers divided": (lambda: nki.tensortensor(I32, I32, I32, "div"), "divides tiles of int32; there is no division"),
    "divided by zero": (lambda: nki.tensorscalar(T, T, 0.0, "div"), "the divisor of nki.tensorscalar is zero"),
    "divided by a loop variable": (
        lambda: nki.tensorscalar(T, T, Cast(FLOAT32, I), "div"), "the divisor of nki.tensorscalar is known only in the loop"
    ),
    "unknown opcode": (lambda: nki.tensorscalar(T, T, 1.0, "ad"), "`opcode` of nki.tensorscalar is 'ad'"),
    "activation that is none": (lambda: nki.activation(T, T, "add"), "`opcode` of nki.activation is 'add'"),
    "scalar of a wrong shape": (
        lambda: nki.tensorscalar(T, T, HALF[:, 0:1], "add"),
        "`operand1` of nki.tensorscalar is a tile of 64 x 1; it takes a number, or 128 x 1",
    ),
    "scalar of a wrong type": (lambda: nki.tensorscalar(T, T, BF[:, 0:1], "add"), "a tile of scalars is float32"),
    "nan": (lambda: nki.memset(T, float("nan")), "`value` of nki.memset is not a number"),
    "four free dimensions on the way to a sum": (
        lambda: nki.tensorscalar_reduce(COLUMN, DEEP, DEEP, 1.0, "mul", "add"),
        "`tensorscalar_res` of nki.tensorscalar_reduce has 4 free dimensions; it takes at most 3",
    ),
    "a scale of another type": (lambda: nki.activation(T, T, "exp", 0.0, BF[:, 0:1]), "`scale` of nki.activation is a tile of bfloat16"),
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
    "a dimension of more than 16 bits": (
        lambda: nki.memset(sbuf("long", 2, 70_000, dtype="int8"), 1),
        "`result` of nki.memset has 70,000 elements in one dimension; an access counts to 65,535",
    ),
    "an odd element of PSUM": (
        lambda: nki.memset(Buffer("b", (8, 8), "bfloat16", scope="trn.psum", layout=None)[:, 1:3], 0.0),
        "`result` of nki.memset starts at byte 2 of a PSUM bank, which is no multiple of 4",
    ),
    "too many partitions": (lambda: nki.memset(sbuf("big", 129, 4), 0.0), "`big` has 129 partitions, more than the 128"),
    "an addition on GpSimd": (
        lambda: nki.tensor_scalar(T, T, "add", 1.0, engine="gpsimd"), "the GpSimd engine does not do add in nki.tensor_scalar"
    ),
    "a size that is no number": (lambda: nki.identity(T, "64"), "`size` of nki.identity is '64'; it is a whole number"),
    "a range that is no number": (
        lambda: nki.range_select(T, T, "less", "less", COLUMN, COLUMN, range_start=I), "`range_start` of nki.range_select is `i`"
    ),
    "a flag that is none": (lambda: nki.tensorreduce(COLUMN, T, "add", I, 1), "`negate` of nki.tensorreduce is not True or False"),
    "eight of other partitions": (
        lambda: nki.nc_find_index8(sbuf("p8", 64, 8, dtype="uint32"), T, sbuf("v8", 64, 8)),
        "`dst` of nki.nc_find_index8 has 64 partitions, `data` 128",
    ),
    "a swizzled tile": (
        lambda: nki.memset(sbuf("s", 128, 64, layout=ComposeLayout(3, 3, 3, S[(128, 64) : (64, 1)])), 0.0), "of `s` has a swizzle"
    ),
    "from the end": (lambda: nki.memset(T[:, -1:], 0.0), "`result` of nki.memset starts at -1 in dimension 1 of `t`"),
    "other memory": (lambda: nki.tensor_copy(T, Buffer("s", (128, 64), scope="shared")), "`data` of nki.tensor_copy is in shared memory"),
    "identity of another size": (lambda: nki.identity(T, 64), "`result` of nki.identity covers 128 x 64, not 64 x 64"),
    "identity too large": (lambda: nki.identity(T, 256), "`size` of nki.identity is 256"),
    "a tile as false value": (lambda: nki.affine_select(T, nki.index(0) >= 1, T, U), "`false_value` of nki.affine_select is a tile"),
    "select in PSUM": (lambda: nki.affine_select(P, nki.index(0) >= 1, P, 0.0), "`result` of nki.affine_select is in trn.psum memory"),
    "a slice of unknown size": (
        lambda: nki.memset(T[:, 0 : nki.index(0)], 0.0), "the slice of `t` has an extent that is not constant"
    ),
    "eight of another shape": (lambda: nki.max8(COLUMN, T), "`dst` of nki.max8 covers 128 x 1, not 128 x 8"),
    "eight of too few": (
        lambda: nki.max8(EIGHT, sbuf("s", 128, 7)),
        "`src` of nki.max8 has 7 elements per partition; it takes 8 to 16,384",
    ),
    "eight of too many": (lambda: nki.max8(EIGHT, sbuf("s", 128, 16385)), "`src` of nki.max8 has 16385 elements"),
    "positions as floats": (lambda: nki.nc_find_index8(EIGHT, T, EIGHT), "`dst` of nki.nc_find_index8 is of type float32"),
    "a transpose of another shape": (
        lambda: nki.nc_transpose(P, T),
        "`dst` of nki.nc_transpose covers 64 x 64; the transpose of `data` is 64 x 128",
    ),
    "a transpose that converts": (
        lambda: nki.nc_transpose(psum("q", 64, 128), BF), "nki.nc_transpose does not convert bfloat16 to float32"
    ),
    "a large transpose inside SBUF": (
        lambda: nki.nc_transpose(sbuf("s", 64, 64), HALF),
        "nki.nc_transpose of 64 x 64 from trn.sbuf to trn.sbuf is not possible",
    ),
    "a large transpose on the vector engine": (
        lambda: nki.nc_transpose(P, HALF, engine="vector"), "nki.nc_transpose of 64 x 64 from trn.sbuf to trn.psum on the vector engine"
    ),
    "short rows of a queue's transpose": (
        lambda: nki.dma_transpose(sbuf("s", 4, 3), sbuf("d", 3, 4)), "rows of `dst` of nki.dma_transpose have 12 bytes"
    ),
    "a queue's transpose of other axes": (
        lambda: nki.dma_transpose(sbuf("s", 64, 128), U, (2, 1, 0)), "is (2, 1, 0); for this slice of `src` it is (1, 0)"
    ),
    "a queue's transpose of no axes": (lambda: nki.dma_transpose(T, U, (0, 1)), "`axes` of nki.dma_transpose is (0, 1)"),
    "a queue's transpose of another shape": (
        lambda: nki.dma_transpose(T, U), "`dst` of nki.dma_transpose is a slice of shape (128, 64); with axes (1, 0) `src` becomes 64 x 128"
    ),
    "a queue's transpose that converts": (
        lambda: nki.dma_transpose(sbuf("s", 64, 128, dtype="bfloat16"), U), "nki.dma_transpose does not convert float32 to bfloat16"
    ),
    "a queue's transpose of a column": (
        lambda: nki.dma_transpose(sbuf("s", 1, 64), U[0:64, 0:1]), "`src` of nki.dma_transpose has 1 dimensions of more than one element"
    ),
    "a queue's transpose of five axes": (
        lambda: nki.dma_transpose(sbuf("s", 2, 2, 2, 2, 2), sbuf("d", 2, 2, 2, 2, 2)), "`src` of nki.dma_transpose has 5 dimensions"
    ),
    "a queue's transpose of folded partitions": (
        lambda: nki.dma_transpose(sbuf("s", 64, 256), sbuf("d", 256, 64, layout=trainium("PF", (256, 64)))),
        "`src` of nki.dma_transpose does not have its partitions in its first dimension alone",
    ),
    "two rows of floats": (
        lambda: nki.matmul(P, T, T, perf_mode="double_row"), "`lhs` of nki.matmul is of type float32; double_row multiplies float8_e4m3"
    ),
    "two rows of a plain tile": (
        lambda: nki.matmul(P, F8, F8, perf_mode="double_row"), "`lhs` of nki.matmul covers partitions x 64, not partitions x 2 x n"
    ),
    "two rows of too much": (
        lambda: nki.matmul(P, sbuf("w", 128, 2, 129, dtype="float8_e5m2"), F8_2, perf_mode="double_row"),
        "`lhs` of nki.matmul has 258 elements per partition; at most 256 fit",
    ),
    "two rows in column tiles": (
        lambda: nki.matmul(psum("r", 32, 32), F8_2, F8_2, perf_mode="double_row", tile_position=(0, 0), tile_size=(128, 64)),
        "nki.matmul cannot combine double_row with column tiles",
    ),
    "a mode that is none": (lambda: nki.matmul(P, T, T, perf_mode="fast"), "`perf_mode` of nki.matmul is 'fast'"),
    "half a part of the array": (lambda: nki.matmul(P, HALF, HALF, tile_size=(64, 64)), "takes `tile_position` and `tile_size` together"),
    "a part of no size": (
        lambda: nki.matmul(P, HALF, HALF, tile_position=(0, 0), tile_size=(48, 128)), "is (48, 128); a row size is one of 128, 64, 32"
    ),
    "a part somewhere": (
        lambda: nki.nc_matmul(P, HALF, HALF, tile_position=(0, 32), tile_size=(64, 64)), "is (0, 32); a column tile of 64 starts"
    ),
    "a part that is too small": (
        lambda: nki.matmul(P, T, T, tile_position=(0, 0), tile_size=(64, 64)), "`lhs` of nki.matmul covers 128 x 64; the part has 64 x 64"
    ),
    "a position of one number": (lambda: nki.matmul(P, HALF, HALF, tile_position=(0,)), "`tile_position` of nki.matmul is (0,)"),
    "a queue between memories": (lambda: nki.build("dma_copy", T, H), "is Tx.nki.load or Tx.nki.store"),
    "a queue from PSUM": (lambda: nki.dma_copy(T, P), "`src` of nki.dma_copy is in trn.psum memory"),
    "a predicate of floats": (lambda: nki.tensor_copy_predicated(T, U, T), "`predicate` of nki.tensor_copy_predicated is of type float32"),
    "a copy that converts where set": (
        lambda: nki.tensor_copy_predicated(T, BF, MASK), "`src` of nki.tensor_copy_predicated is of type bfloat16, `dst` of type float32"
    ),
    "selecting integers": (lambda: nki.select_reduce(T, BYTES, I32, 0.0), "`on_true` of nki.select_reduce is of type int32"),
    "a result of an idle reduction": (
        lambda: nki.select_reduce(T, BYTES, T, 0.0, COLUMN), "`reduce_res` of nki.select_reduce is given, but reduce_cmd is 'idle'"
    ),
    "a reduction that goes nowhere": (
        lambda: nki.select_reduce(T, BYTES, T, 0.0, reduce_cmd="reduce"), "nki.select_reduce goes on reducing without a `reduce_res`"
    ),
    "a command that is none": (
        lambda: nki.select_reduce(T, BYTES, T, 0.0, COLUMN, "restart"), "`reduce_cmd` of nki.select_reduce is 'restart'"
    ),
    "an activation with half a reduction": (
        lambda: nki.activation(T, T, "exp", reduce_op="add"), "nki.activation takes `reduce_op` and `reduce_res` together"
    ),
    "bounds of another type": (
        lambda: nki.range_select(T, T, "less", "less", I32[:, 0:1], COLUMN), "`bound0` of nki.range_select is of type int32"
    ),
    "a bound that is no column": (
        lambda: nki.range_select(T, T, "less", "less", T, COLUMN), "`bound0` of nki.range_select covers 128 x 64, not 128 x 1"
    ),
    "a bound that is no comparison": (
        lambda: nki.range_select(T, T, "add", "less", COLUMN, COLUMN), "`comp_op0` of nki.range_select is 'add'"
    ),
    "bits of floats": (
        lambda: nki.tensor_tensor(T, T, U, "bitwise_and"), "nki.tensor_tensor combines bits of float32; bit patterns are integers"
    ),
    "bits of two types": (lambda: nki.tensor_tensor(I32, I32, BYTES, "bitwise_or"), "combines bits of int32 and uint8"),
    "bits with arithmetic": (
        lambda: nki.tensor_scalar(I32, I32, "bitwise_and", 3, op1="add", operand1=1), "nki.tensor_scalar mixes bitwise_and with add"
    ),
    "bits with a fraction": (lambda: nki.tensor_scalar(I32, I32, "bitwise_and", 0.5), "`operand0` of nki.tensor_scalar is 0.5; bits"),
    "bits with a column": (lambda: nki.tensor_scalar(I32, I32, "bitwise_and", COLUMN), "bits are combined with a number here"),
    "bits elsewhere": (
        lambda: nki.tensor_tensor(I32, I32, I32, "bitwise_or", engine="gpsimd"), "nki.tensor_tensor combines bits on the vector engine only"
    ),
    "negated bits": (lambda: nki.tensorreduce(I32[:, 0:1], I32, "bitwise_or", True, 1), "nki.tensorreduce cannot negate a bit pattern"),
    "a step without its operand": (lambda: nki.tensor_scalar(T, T, "add", 1.0, op1="add"), "takes `op1` and `operand1` together"),
    "two operands for one": (lambda: nki.tensor_scalar(T, T, "abs", 1.0), "abs has one operand"),
    "a power in PSUM": (lambda: nki.tensor_tensor(HALF, HALF, P, "power"), "computes powers on the GpSimd engine"),
    "rsqrt in PSUM": (lambda: nki.tensor_scalar(HALF, P, "rsqrt", 0.0), "computes rsqrt on the GpSimd engine"),
    "GpSimd in PSUM": (
        lambda: nki.memset(P, 0.0, engine="gpsimd"),
        "`result` of nki.memset is in trn.psum memory, which the GpSimd engine",
    ),
    "an engine that is none": (lambda: nki.tensor_copy(T, U, engine="warp"), "`engine` of nki.tensor_copy is 'warp'"),
    "an engine that does not do it": (lambda: nki.memset(T, 0.0, engine="scalar"), "`engine` of nki.memset is 'scalar'"),
    "iota of another size": (
        lambda: nki.iota(I32, [[1, 63]]), "the pattern of nki.iota counts 63 elements, a partition of `dst` has 64"
    ),
    "iota of five dimensions": (lambda: nki.iota(I32, [[1, 2]] * 5), "the pattern of nki.iota has 10 numbers"),
    "a pattern of single numbers": (lambda: nki.iota(I32, [1, 64]), "the pattern of nki.iota is [1, 64]; it lists [step, count] pairs"),
    "iota in PSUM": (lambda: nki.iota(P, [[1, 64]]), "`dst` of nki.iota is in trn.psum memory"),
    "a scan of two tiles in PSUM": (
        lambda: nki.tensor_tensor_scan(HALF, P, Q, 0.0, "add", "add"), "`data0` and `data1` of nki.tensor_tensor_scan are both in trn.psum"
    ),
    "the same operand twice": (
        lambda: nki.activation(T, T, "exp", opcode="exp", op="exp"), "`opcode` and `op` of nki.activation are the same operand"
    ),
    "a predicate and a pattern": (
        lambda: nki.affine_select(T, pattern=[[1, 64]]), "nki.affine_select takes either a predicate, or NKI's keywords"
    ),
    "modulo": (lambda: nki.tensor_scalar(T, T, "mod", 2.0), "`op0` of nki.tensor_scalar is 'mod': the engines have no modulo"),
    "two formats of 8 bits": (
        lambda: nki.matmul(P, sbuf("a", 128, 64, dtype="float8_e4m3"), sbuf("b", 128, 64, dtype="float8_e4m3fn")),
        "nki.matmul does not mix float8_e4m3 with float8_e4m3fn",
    ),
    "a bank that is too small": (lambda: nki.memset(psum("acc", 1, 128, 513), 0.0), "`acc` takes 2052 bytes of a PSUM bank of 2048"),
    "too many banks": (lambda: nki.memset(psum("acc", 9, 128, 512), 0.0), "`acc` takes 9 PSUM banks, of which there are 8"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    act, message = CASES[name]
    with pytest.raises(TirxError, match=re.escape(message)):
        act()


def test_a_refusal_says_where_its_rule_stands() -> None:
    for act, page in (
        (lambda: nki.tensor_tensor(T, T, T[:, 0:2], "add"), "tensor_tensor"),
        (lambda: nki.matmul(P, HALF, T), "nc_matmul"),
    ):
        with pytest.raises(ScriptError) as caught:
            act()
        assert caught.value.diagnostics[0].notes == (f"rule: AWS Neuron documentation, nki.isa.{page}",)


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
