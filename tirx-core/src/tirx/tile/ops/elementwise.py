"""Operations on each element by itself. Sources stretch to the destination as in NumPy.

They are converted to its element type first, which must lose nothing, and everything is computed in that.
"""

from __future__ import annotations

from ..checks import check_elementwise, check_floats
from ..row import TileOp, TileOperand

__all__ = ["ROWS"]

_WHERE = "tirx.sim.meanings.tile:"
_DST = TileOperand("dst", "w")
_EITHER = ("tile", "scalar")
_IN_PLACE = TileOperand("src", default="dst", doc="left out: `dst`, in place")


def _binary(name: str, sign: str, *, scalar_first: bool) -> TileOp:
    first = TileOperand("src1", kinds=_EITHER if scalar_first else ("tile",))
    return TileOp(
        name, [_DST, first, TileOperand("src2", kinds=_EITHER)], meaning=_WHERE + name,
        check=check_floats if name == "fdiv" else check_elementwise,
        doc=f"`dst` becomes {sign}",
    )  # fmt: skip


def _unary(name: str, doc: str) -> TileOp:
    return TileOp(
        name,
        [
            _DST, _IN_PLACE, TileOperand("bias", kinds=_EITHER, optional=True, doc="added before; left out: 0"),
            TileOperand("scale", kinds=("scalar",), optional=True, doc="multiplied before that; left out: 1"),
        ],
        meaning=_WHERE + name, check=check_floats, doc=f"`dst` becomes {doc} of `src * scale + bias`",
    )  # fmt: skip


ROWS = (
    _binary("add", "`src1 + src2`", scalar_first=True),
    _binary("sub", "`src1 - src2`", scalar_first=False),
    _binary("mul", "`src1 * src2`", scalar_first=True),
    _binary("fdiv", "`src1 / src2`, for floats", scalar_first=False),
    _binary("maximum", "the larger of `src1` and `src2`", scalar_first=True),
    _binary("minimum", "the smaller of `src1` and `src2`", scalar_first=True),
    TileOp(
        "fma",
        [_DST, TileOperand("src"), TileOperand("scale", kinds=_EITHER), TileOperand("bias", kinds=_EITHER)],
        meaning=_WHERE + "fma", check=check_elementwise, doc="`dst` becomes `src * scale + bias`, rounded once",
    ),
    _unary("sqrt", "the square root"),
    _unary("exp", "e to the power"),
    _unary("exp2", "2 to the power"),
    _unary("log2", "the logarithm to base 2"),
    TileOp(
        "reciprocal", [_DST, _IN_PLACE], meaning=_WHERE + "reciprocal", check=check_floats,
        doc="`dst` becomes `1 / src`",
    ),
    TileOp(
        "silu", [_DST, TileOperand("src")], meaning=_WHERE + "silu", check=check_floats,
        doc="`dst` becomes `src / (1 + exp(-src))`",
    ),
    TileOp(
        "select",
        [
            _DST, TileOperand("true_value", kinds=_EITHER), TileOperand("false_value", kinds=_EITHER),
            TileOperand("pred", kinds=("function",), doc="of the position in `dst`, one index per dimension"),
        ],
        meaning=_WHERE + "select", check=check_elementwise,
        doc="each element of `dst` becomes `true_value` where `pred` of its position holds, `false_value` elsewhere",
    ),
)  # fmt: skip
