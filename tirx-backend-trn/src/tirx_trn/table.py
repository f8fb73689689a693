"""The instructions of `Tx.nki`: one table from which checks, IR rows, source, simulation and cost derive.

An entry lists what `Tx.nki` calls each operand and what `nki.isa` calls it, which memories and types it may have, and which
engines run the instruction. Sources: names and order of the published sixteen, TIRx 0.27; everything else, the pages of
`nki.isa` in the AWS Neuron documentation (NKI 0.3 to 0.6), named by `page`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .hardware import CHIP, HBM, PSUM, SBUF
from .opcodes import ACCUMULATE, ACTIVATIONS, ARITHMETIC, BITS, COMPARISONS, REDUCTIONS, SEQUENCES, UNARY, family

__all__ = ["FLOATS", "TABLE", "Field", "Instruction", "Option", "source_of"]

TENSOR, VECTOR, SCALAR, GPSIMD, DMA = "tensor", "vector", "scalar", "gpsimd", "dma"
FLOATS = ("float32", "float16", "bfloat16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2")
REDUCE = ("reset_reduce", "reduce")
STEPS = (*ARITHMETIC, *SEQUENCES)
ALU = (*STEPS, *BITS)


class Field:
    """One operand.

    * `role`: `tile` (an operand of an engine), `copied` (a tile that a DMA queue moves: it may start anywhere), `device` (device
      memory), `scalar` (a number, or one float32 per partition), `number`, `opcode`, `flag`, `constants` (any number of them)
    * `rw`: `r`, `w` or `rw`
    * `shape`: `same` as the instruction's other tiles, `column` (one element per partition), `eight`, or empty where a rule
      of the instruction says
    * `allowed`: opcodes; `dtypes`: element types
    * `optional`: may be left out; only the last one may
    """

    __slots__ = ("allowed", "dtypes", "name", "nki", "optional", "role", "rw", "scopes", "shape")

    def __init__(
        self,
        name: str,
        nki: str,
        role: str = "tile",
        *,
        rw: str = "r",
        scopes: Iterable[str] = CHIP,
        shape: str = "same",
        allowed: Iterable[str] = (),
        dtypes: Iterable[str] = (),
        optional: bool = False,
    ) -> None:
        self.name = name
        self.nki = nki
        self.role = role
        self.rw = rw
        self.scopes = tuple(scopes)
        self.shape = shape
        self.allowed = tuple(allowed)
        self.dtypes = tuple(dtypes)
        self.optional = optional


class Option:
    """One choice by keyword that is known while the kernel is built; its name is NKI's.

    `allowed` are its values (empty: an integer, or a pair of them); `form` is how a value is written: `flag`, `opcode`, `int`, `pair`, or
    the enumeration that it is a member of. It is left out of the source where it has its default, except from release `explicit` on.
    """

    __slots__ = ("allowed", "default", "explicit", "form", "name")

    def __init__(self, name: str, default: Any, allowed: Iterable[Any], form: str, *, explicit: str = "") -> None:
        self.name = name
        self.default = default
        self.allowed = tuple(allowed)
        self.form = form
        self.explicit = explicit


class Instruction:
    """One instruction: `name` below `Tx.nki`, the `function` of NKI that it becomes, the `engines` that run it (default first).

    `rules` name checks of `rules.py` beyond those of the fields; `since` is the first NeuronCore generation that has it.
    """

    __slots__ = ("accuracy", "doc", "engines", "fields", "function", "name", "options", "page", "rules", "since")

    def __init__(
        self,
        name: str,
        function: str,
        engines: Iterable[str],
        *fields: Field,
        doc: str,
        options: Iterable[Option] = (),
        rules: Iterable[str] = (),
        accuracy: str = "exact",
        since: str = "v2",
        page: str = "",
    ) -> None:
        self.name = name
        self.function = function
        self.engines = tuple(engines)
        self.fields = fields
        self.doc = doc
        self.options = tuple(options)
        self.rules = tuple(rules)
        self.accuracy = accuracy
        self.since = since
        self.page = page or function.removeprefix("nisa.")


def source_of(item: Instruction) -> str:
    """Where the rules of an instruction stand."""
    page = item.page if item.page.startswith("nl.") else f"nki.isa.{item.page}"
    return f"rule: AWS Neuron documentation, {page}"


def _out(name: str, nki: str = "dst", **more: Any) -> Field:
    return Field(name, nki, **{"rw": "w", **more})


def _op(name: str, nki: str, allowed: Iterable[str]) -> Field:
    return Field(name, nki, "opcode", allowed=allowed)


def _scalar(name: str, nki: str = "") -> Field:
    return Field(name, nki or name, "scalar", dtypes=("float32", "int32"))


def _flag(name: str, nki: str = "") -> Field:
    return Field(name, nki or name, "flag")


def _column(name: str, *, optional: bool = False) -> Field:
    return Field(name, name, rw="w", shape="column", optional=optional)


def _engine(*names: str) -> Option:
    return Option("engine", "unknown", ("unknown", *names), "nisa.engine")


def _command(default: str, *allowed: str, explicit: str = "") -> Option:
    return Option("reduce_cmd", default, allowed, "nisa.reduce_cmd", explicit=explicit)


_DATA, _BOTH = Field("data", "data"), ("not_both_in_psum",)
_BIAS = Field("bias", "bias", "scalar")  # of any type

_ROWS = (
    # ---- data movement ----
    Instruction(
        "load", "nisa.dma_copy", (DMA,), _out("res", role="copied", scopes=(SBUF,), shape=""),
        Field("data", "src", "device", scopes=(HBM,)), doc="A tile from device memory.", rules=("same_slice",),
    ),
    Instruction(
        "store", "nisa.dma_copy", (DMA,), _out("res", role="device", scopes=(HBM,)),
        Field("data", "src", "copied", scopes=(SBUF,), shape=""), doc="A tile to device memory.", rules=("same_slice",),
    ),
    Instruction(
        "dma_copy", "nisa.dma_copy", (DMA,), _out("dst", role="copied", scopes=(SBUF, HBM), shape=""),
        Field("src", "src", "copied", scopes=(SBUF, HBM), shape=""),
        doc="Copy inside SBUF or inside device memory, through a DMA queue.", rules=("same_slice",),
    ),
    Instruction(
        "dma_transpose", "nisa.dma_transpose", (DMA,), _out("dst", role="copied", scopes=(SBUF,), shape=""),
        Field("src", "src", "copied", scopes=(SBUF, HBM), shape=""),
        doc="dst = src.T through a DMA queue: axes (1, 0), (2, 1, 0) or (3, 1, 2, 0).", rules=("transposed_copy",),
    ),
    Instruction(
        "tensor_copy", "nisa.tensor_copy", (VECTOR, SCALAR, GPSIMD), _out("res"), Field("data", "src"),
        doc="A tile to another, converted to its type.", options=[_engine(VECTOR, SCALAR, GPSIMD)],
    ),
    Instruction(
        "tensor_copy_predicated", "nisa.tensor_copy_predicated", (VECTOR,), _out("dst", rw="rw"), Field("src", "src"),
        Field("predicate", "predicate", dtypes=("uint8", "uint16", "uint32")), rules=("same_type", "not_both_in_psum"),
        doc="src where predicate is not zero; elsewhere dst keeps what it holds.",
        options=[Option("reverse_pred", False, (False, True), "flag")],
    ),
    Instruction(
        "memset", "nisa.memset", (VECTOR, GPSIMD), _out("result"), Field("value", "value", "number"),
        doc="Every element becomes `value`.", options=[_engine(VECTOR, GPSIMD)],
    ),
    Instruction(
        "iota", "nisa.iota", (GPSIMD,), _out("dst", scopes=(SBUF,)), Field("offset", "offset", "number", dtypes=("int",)),
        Field("channel_multiplier", "channel_multiplier", "constants"), Field("pattern", "pattern", "constants"),
        doc="dst = offset + partition * channel_multiplier + sum(index * step), in int32; `pattern` is step, count, step, count, ...",
        rules=("pattern",),
    ),
    Instruction(
        "identity", "nl.shared_identity_matrix", (DMA,), _out("result", scopes=(SBUF,)), Field("size", "n", "constants"),
        doc="The identity matrix.", rules=("identity",), page="nl.shared_identity_matrix",
    ),
    # ---- the tensor engine ----
    Instruction(
        "matmul", "nisa.nc_matmul", (TENSOR,), _out("res", rw="rw", scopes=(PSUM,), shape=""),
        Field("lhs", "stationary", scopes=(SBUF,), shape=""), Field("rhs", "moving", scopes=(SBUF,), shape=""),
        Field("accum", "accumulate", "condition"),
        doc="res = lhs.T @ rhs, added to what earlier matmuls left there when `accum`.", accuracy="ulp(4)", rules=("matmul",),
        options=[
            *(Option(f"is_{name}_onezero", False, (False, True), "flag") for name in ("stationary", "moving")),
            Option("tile_position", (), (), "pair"), Option("tile_size", (), (), "pair"),
            Option("perf_mode", "none", ("none", "double_row"), "nisa.matmul_perf_mode"),
        ],
    ),
    Instruction(
        "nc_transpose", "nisa.nc_transpose", (TENSOR, VECTOR), _out("dst", shape=""), Field("data", "data", shape=""),
        doc="dst = data.T: by the tensor engine to PSUM (128 x 128 at most), by the vector engine anywhere (32 x 32 at most).",
        rules=("transpose",), options=[_engine(TENSOR, VECTOR)],
    ),
    # ---- the scalar engine ----
    Instruction(
        "activation", "nisa.activation", (SCALAR,), _out("result"), _DATA, _op("opcode", "op", ACTIVATIONS), _BIAS,
        _scalar("scale"), doc="result = opcode(data * scale + bias), on the scalar engine.", accuracy="ulp(4)",
    ),
    Instruction(
        "activation_reduce", "nisa.activation_reduce", (SCALAR,), _column("reduce_res"), _out("act_res"), _DATA,
        _op("opcode", "op", ACTIVATIONS), _op("reduce_opcode", "reduce_op", ACCUMULATE), _BIAS, _scalar("scale"),
        doc="An activation, and the sum of its results per partition; `reduce` goes on from the sum of the one before.",
        accuracy="ulp(4)", options=[_command("reset_reduce", *REDUCE)],
    ),
    # ---- the vector engine ----
    Instruction(
        "reciprocal", "nisa.reciprocal", (VECTOR,), _out("result"), _DATA, doc="result = 1 / data.", accuracy="ulp(1)",
    ),
    Instruction(
        "tensorreduce", "nisa.tensor_reduce", (VECTOR,), _out("result", shape=""), Field("data", "data", shape=""),
        _op("opcode", "op", family("reduction", "bits_reduction")), _flag("negate"), Field("axes", "axis", "constants"),
        doc="Reduce the trailing free `axes`; the result negated when `negate`.", accuracy="ulp(4)", rules=("reduction", "bits"),
    ),
    Instruction(
        "tensortensor", "nisa.tensor_tensor", (VECTOR, GPSIMD), _out("result"), Field("operand0", "data1"),
        Field("operand1", "data2"), _op("opcode", "op", (*ALU, "power")), doc="result = operand0 opcode operand1.",
        rules=("not_both_in_psum", "bits", "power", "division"), options=[_engine(VECTOR, GPSIMD)],
    ),
    Instruction(
        "tensorscalar", "nisa.tensor_scalar", (VECTOR, SCALAR, GPSIMD), _out("result"), Field("operand0", "data"),
        _scalar("operand1", "operand0"), _op("opcode", "op0", (*ALU, "power", *UNARY)), _flag("reverse", "reverse0"),
        doc="result = operand0 opcode operand1, the other way round when `reverse`.",
        rules=("bits", "unary", "power", "division", "on_gpsimd"),
        options=[_engine(VECTOR, SCALAR, GPSIMD)],
    ),
    Instruction(
        "scalar_tensor_scalar", "nisa.tensor_scalar", (VECTOR, SCALAR, GPSIMD), _out("result"), _DATA, _scalar("operand0"),
        _scalar("operand1"), _op("opcode0", "op0", ALU), _op("opcode1", "op1", ALU), _flag("reverse0"), _flag("reverse1"),
        doc="result = (data opcode0 operand0) opcode1 operand1; both operands are scalars.", rules=("bits", "division", "on_gpsimd"),
        options=[_engine(VECTOR, SCALAR, GPSIMD)],
    ),
    Instruction(
        "scalar_tensor_tensor", "nisa.scalar_tensor_tensor", (VECTOR,), _out("result"), _DATA, _scalar("operand0"),
        Field("operand1", "operand1"), _op("opcode0", "op0", STEPS), _op("opcode1", "op1", STEPS), _flag("reverse0"),
        _flag("reverse1"), doc="result = (data opcode0 operand0) opcode1 operand1; operand0 is a scalar, operand1 a tile.",
        rules=(*_BOTH, "division"),
    ),
    Instruction(
        "tensorscalar_reduce", "nisa.tensor_scalar_reduce", (VECTOR,), _column("reduce_res"), _out("tensorscalar_res"),
        Field("operand0", "data"), _scalar("operand1", "operand0"), _op("opcode", "op0", STEPS),
        _op("reduce_opcode", "reduce_op", REDUCTIONS), _flag("reverse", "reverse0"),
        doc="A tensorscalar, and its results reduced per partition.", accuracy="ulp(4)", rules=("not_reversed", "division", "three_free"),
        options=[_command("reset_reduce", *REDUCE, explicit="0.4")],
    ),
    Instruction(
        "tensor_tensor_scan", "nisa.tensor_tensor_scan", (VECTOR,), _out("dst"), Field("data0", "data0"), Field("data1", "data1"),
        _scalar("initial"), _op("op0", "op0", ARITHMETIC), _op("op1", "op1", ARITHMETIC),
        doc="dst[i] = (data0[i] op0 dst[i - 1]) op1 data1[i] along each partition; dst[-1] is `initial`.", accuracy="ulp(4)",
        rules=_BOTH, options=[Option(f"reverse{n}", False, (False, True), "flag") for n in (0, 1)],
    ),
    Instruction(
        "select_reduce", "nisa.select_reduce", (VECTOR,), _out("dst"),
        Field("predicate", "predicate", dtypes=("int8", "uint8", "int16", "uint16")),
        Field("on_true", "on_true", dtypes=(*FLOATS, "int16", "int8", "uint16", "uint8")), _scalar("on_false"),
        Field("reduce_res", "reduce_res", rw="w", shape="column", dtypes=FLOATS, optional=True),
        doc="on_true where predicate is not zero, else the scalar on_false; `reduce_res` their maximum per partition.",
        rules=("not_both_in_psum", "needs_result"),
        options=[
            _command("idle", "idle", *REDUCE), Option("reduce_op", "max", ("max",), "opcode"),
            Option("reverse_pred", False, (False, True), "flag"),
        ],
    ),
    Instruction(
        "range_select", "nisa.range_select", (VECTOR,), _out("dst"), Field("on_true_tile", "on_true_tile", dtypes=FLOATS),
        _op("comp_op0", "comp_op0", COMPARISONS), _op("comp_op1", "comp_op1", COMPARISONS),
        Field("bound0", "bound0", shape="column", dtypes=("float32",)), Field("bound1", "bound1", shape="column", dtypes=("float32",)),
        Field("reduce_res", "reduce_res", rw="w", shape="column", dtypes=FLOATS, optional=True),
        doc="on_true_tile where the element's index compares with both bounds, else the smallest float32.", since="v3",
        rules=("needs_result",),
        options=[
            _command("reset_reduce", *REDUCE, explicit="0.3"), Option("reduce_op", "max", ("max",), "opcode"),
            Option("range_start", 0, (), "int"),
        ],
    ),
    Instruction(
        "max8", "nisa.max8", (VECTOR,), _out("dst", shape="eight"), Field("src", "src", shape="", dtypes=FLOATS),
        doc="The eight largest elements of each partition, largest first.", rules=("eight",),
    ),
    Instruction(
        "nc_find_index8", "nisa.nc_find_index8", (VECTOR,), _out("dst", shape="eight", dtypes=("uint16", "uint32")),
        Field("data", "data", shape=""), Field("vals", "vals", shape="eight"),
        doc="Where each of eight values stands first in each partition; all ones where it does not.", rules=("eight",),
    ),
    Instruction(
        "nc_match_replace8", "nisa.nc_match_replace8", (VECTOR,), _out("dst"), _DATA, Field("vals", "vals", shape="eight"),
        Field("imm", "imm", "number", dtypes=("float32",)),
        Field("dst_idx", "dst_idx", rw="w", shape="eight", dtypes=("uint16", "uint32"), optional=True),
        doc="data with the first of each of eight values replaced by imm, one after the other.", rules=("eight",),
    ),
    # ---- the GpSimd engine ----
    Instruction(
        "affine_select", "nisa.affine_select", (GPSIMD,), _out("result", scopes=(SBUF,)),
        Field("pred", "pred", "predicate"), Field("true_value", "on_true_tile", scopes=(SBUF,)),
        Field("false_value", "on_false_value", "number", dtypes=("float32",)),
        doc="true_value where `pred` holds, else the number false_value; pred compares sums of `Tx.nki.index(d)` and numbers.",
    ),
    Instruction(
        "select_pattern", "nisa.affine_select", (GPSIMD,), _out("result", scopes=(SBUF,)),
        Field("true_value", "on_true_tile", scopes=(SBUF,)), Field("false_value", "on_false_value", "number", dtypes=("float32",)),
        _op("comparison", "cmp_op", COMPARISONS), Field("offset", "offset", "number", dtypes=("int",)),
        Field("channel_multiplier", "channel_multiplier", "constants"), Field("pattern", "pattern", "constants"),
        doc="affine_select with its predicate as a pattern: step, count, step, count, ... of the elements of a partition.",
        rules=("pattern",),
    ),
)  # fmt: skip
TABLE = {row.name: row for row in _ROWS}
