"""Operations that do several things in one pass over a tile."""

from __future__ import annotations

from ..checks import check_elementwise, check_fused_reduction
from ..row import TileAttr, TileOp, TileOperand
from .attrs import BINARY, REDUCE, UNARY, axes, operator

__all__ = ["ROWS"]

_WHERE = "tirx.sim.meanings.tile:"
_EITHER = ("tile", "scalar")
_REDUCE_OP = operator("reduce_op", REDUCE, "how axes are reduced")

ROWS = (
    TileOp(
        "binary_reduce",
        [
            TileOperand("binary_output", "w"), TileOperand("reduce_output", "w"),
            TileOperand("binary_input1", kinds=_EITHER), TileOperand("binary_input2", kinds=_EITHER),
        ],
        attrs=[operator("binary_op", BINARY, "of the two inputs"), _REDUCE_OP, axes("binary_output", "reduce_axes")],
        meaning=_WHERE + "binary_reduce", check=check_fused_reduction,
        doc="`binary_output` becomes `binary_input1 binary_op binary_input2`, and `reduce_output` that reduced",
    ),
    TileOp(
        "unary_reduce",
        [
            TileOperand("unary_output", "w"), TileOperand("reduce_output", "w"), TileOperand("unary_input"),
            TileOperand("bias", kinds=_EITHER, optional=True, doc="added before; left out: 0"),
            TileOperand("scale", kinds=("scalar",), optional=True, doc="multiplied before that; left out: 1"),
        ],
        attrs=[operator("unary_op", UNARY, "of the input"), _REDUCE_OP, axes("unary_output", "reduce_axes")],
        form=(
            "unary_output", "reduce_output", "unary_input", "unary_op", "reduce_op", "bias", "scale", "reduce_axes",
        ),
        meaning=_WHERE + "unary_reduce", check=check_fused_reduction,
        doc="`unary_output` becomes `unary_op(unary_input * scale + bias)`, and `reduce_output` that reduced",
    ),
    TileOp(
        "binary_chain",
        [
            TileOperand("output", "w"), TileOperand("data"), TileOperand("operand0", kinds=_EITHER),
            TileOperand("operand1", kinds=_EITHER),
        ],
        attrs=[
            operator("op0", BINARY, "of `data` and `operand0`"), operator("op1", BINARY, "of that and `operand1`"),
            TileAttr("reverse1", bool, False, "`operand1` comes first"),
        ],
        meaning=_WHERE + "binary_chain", check=check_elementwise,
        doc="`output` becomes `(data op0 operand0) op1 operand1`; with `reverse1`, `operand1 op1 (data op0 operand0)`",
    ),
)  # fmt: skip
