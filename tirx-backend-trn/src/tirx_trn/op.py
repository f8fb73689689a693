"""The instructions of `Tx.nki`: operands in the published order, effects, and where their meanings are.

Sources: names and order, published TIRx 0.27; rules, AWS Neuron documentation of `nki.isa` (NKI 0.3 to 0.6).
Text operands are opcodes; constants are compile-time switches, so that a call reads back as it was written.
"""

from __future__ import annotations

from tirx.intrinsic import Intrinsic, Operand

__all__ = ["INDEX", "INTRINSICS", "SELECT_PATTERN"]

_SBUF, _PSUM = "trn.sbuf", "trn.psum"
_CHIP = (_SBUF, _PSUM)
_ISA = "AWS Neuron documentation, nki.isa"
_MEANINGS = {"store": "store_"}  # `store` is how tiles are written there


def _in(name: str, scope: tuple[str, ...] = _CHIP) -> Operand:
    return Operand(name, "region", scope=scope)


def _out(name: str, scope: tuple[str, ...] = _CHIP, rw: str = "w") -> Operand:
    return Operand(name, "region", rw=rw, scope=scope)


def _scalar(name: str) -> Operand:
    """A number, or a tile with one float32 per partition."""
    return Operand(name, "region", dtypes=("float32",))


def _opcode(name: str = "opcode") -> Operand:
    return Operand(name, "text")


def _flag(name: str) -> Operand:
    return Operand(name, "value", dtypes=("bool",))


def _row(
    name: str, operands: tuple[Operand, ...], doc: str, page: str, accuracy: str = "exact", *, variadic: bool = False
) -> Intrinsic:
    return Intrinsic(
        f"nki.{name}",
        operands,
        "void",
        "write",
        doc=doc,
        meaning=f"tirx_trn.sim.ops:{_MEANINGS.get(name, name)}",
        accuracy=accuracy,
        source=f"{_ISA}.{page}",
        variadic=variadic,
    )


LOAD = _row("load", (_out("res", (_SBUF,)), _in("data", ("global",))), "A tile from device memory.", "dma_copy")
STORE = _row("store", (_out("res", ("global",)), _in("data", (_SBUF,))), "A tile to device memory.", "dma_copy")
TENSOR_COPY = _row(
    "tensor_copy", (_out("res"), _in("data")), "A tile to another, converted to its type.", "tensor_copy"
)
MATMUL = _row(
    "matmul",
    (_out("res", (_PSUM,), "rw"), _in("lhs", (_SBUF,)), _in("rhs", (_SBUF,)), _flag("accum")),
    "res = lhs.T @ rhs, added to what earlier matmuls left there when `accum`.",
    "nc_matmul",
    "ulp(4)",
)
ACTIVATION = _row(
    "activation",
    (_out("result"), _in("data"), _opcode(), _scalar("bias"), _scalar("scale")),
    "result = opcode(data * scale + bias), on the scalar engine.",
    "activation",
    "ulp(4)",
)
RECIPROCAL = _row("reciprocal", (_out("result"), _in("data")), "result = 1 / data.", "reciprocal", "ulp(1)")
TENSORREDUCE = _row(
    "tensorreduce",
    (_out("result"), _in("data"), _opcode(), _flag("negate"), Operand("axes", "constant")),
    "Reduce the trailing free `axes`; the result negated when `negate`.",
    "tensor_reduce",
    "ulp(4)",
    variadic=True,
)
TENSORTENSOR = _row(
    "tensortensor",
    (_out("result"), _in("operand0"), _in("operand1"), _opcode()),
    "result = operand0 opcode operand1.",
    "tensor_tensor",
)
TENSORSCALAR = _row(
    "tensorscalar",
    (_out("result"), _in("operand0"), _scalar("operand1"), _opcode(), _flag("reverse")),
    "result = operand0 opcode operand1, the other way round when `reverse`.",
    "tensor_scalar",
)
MEMSET = _row("memset", (_out("result"), Operand("value", "value")), "Every element becomes `value`.", "memset")
ACTIVATION_REDUCE = _row(
    "activation_reduce",
    (
        _out("reduce_res"),
        _out("act_res"),
        _in("data"),
        _opcode(),
        _opcode("reduce_opcode"),
        _scalar("bias"),
        _scalar("scale"),
    ),
    "An activation, and the sum of its results per partition.",
    "activation_reduce",
    "ulp(4)",
)
TENSORSCALAR_REDUCE = _row(
    "tensorscalar_reduce",
    (
        _out("reduce_res"), _out("tensorscalar_res"), _in("operand0"), _scalar("operand1"), _opcode(), _opcode("reduce_opcode"),
        _flag("reverse"),
    ),
    "A tensorscalar, and its results reduced per partition.",
    "tensor_scalar_reduce",
    "ulp(4)",
)  # fmt: skip
IDENTITY = _row(
    "identity",
    (_out("result", (_SBUF,)), Operand("size", "constant")),
    "The identity matrix.",
    "nl.shared_identity_matrix",
)
SCALAR_TENSOR_TENSOR = _row(
    "scalar_tensor_tensor",
    (
        _out("result"), _in("data"), _scalar("operand0"), _in("operand1"), _opcode("opcode0"), _opcode("opcode1"),
        _flag("reverse0"), _flag("reverse1"),
    ),
    "result = (data opcode0 operand0) opcode1 operand1; operand0 is a scalar, operand1 a tile.",
    "scalar_tensor_tensor",
)  # fmt: skip
SCALAR_TENSOR_SCALAR = _row(
    "scalar_tensor_scalar",
    (
        _out("result"), _in("data"), _scalar("operand0"), _scalar("operand1"), _opcode("opcode0"), _opcode("opcode1"),
        _flag("reverse0"), _flag("reverse1"),
    ),
    "result = (data opcode0 operand0) opcode1 operand1; both operands are scalars.",
    "tensor_scalar",
)  # fmt: skip
AFFINE_SELECT = _row(
    "affine_select",
    (
        _out("result", (_SBUF,)),
        Operand("pred", "value", dtypes=("bool",)),
        _in("true_value", (_SBUF,)),
        _scalar("false_value"),
    ),
    "true_value where `pred` holds, else the number false_value; pred compares sums of `Tx.nki.index(d)` and numbers.",
    "affine_select",
)

INDEX = Intrinsic(
    "nki.index",
    (Operand("dim", "constant"),),
    "int32",
    doc="The index along dimension `dim` of the tile that an affine_select writes; only in its predicate.",
    source="needed because tiles are slices here; published TIRx used loop variables",
)

# What lowering makes of an affine_select: the predicate as numbers, `offset + p * channel_multiplier + sum(i * step) cmp 0`.
SELECT_PATTERN = Intrinsic(
    "nki.select_pattern",
    (
        _out("result", (_SBUF,)), _in("true_value", (_SBUF,)), _scalar("false_value"), _opcode("comparison"),
        Operand("offset", "value", dtypes=("int",)), Operand("channel_multiplier", "constant"), Operand("steps", "constant"),
    ),
    "void",
    "write",
    doc="affine_select with its predicate as a pattern: one step per free dimension of the tile.",
    meaning="tirx_trn.sim.ops:select_pattern",
    source=f"{_ISA}.affine_select",
    variadic=True,
)  # fmt: skip

INTRINSICS = (
    LOAD, STORE, TENSOR_COPY, MATMUL, ACTIVATION, RECIPROCAL, TENSORREDUCE, TENSORTENSOR, TENSORSCALAR, MEMSET, ACTIVATION_REDUCE,
    TENSORSCALAR_REDUCE, IDENTITY, SCALAR_TENSOR_TENSOR, SCALAR_TENSOR_SCALAR, AFFINE_SELECT, INDEX, SELECT_PATTERN,
)  # fmt: skip
