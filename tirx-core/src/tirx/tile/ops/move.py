"""Operations that move, set or convert elements."""

from __future__ import annotations

from ..checks import check_cast, check_copy, check_elementwise, check_permutation
from ..row import TileOp, TileOperand

__all__ = ["ROWS"]

_WHERE = "tirx.sim.meanings.tile:"
_DST = TileOperand("dst", "w")
_SRC = TileOperand("src")
_VALUE = TileOperand("value", kinds=("scalar",))

ROWS = (
    TileOp(
        "zero", [_DST, TileOperand("src", optional=True, doc="ignored: what is cleared may be named twice")],
        meaning=_WHERE + "zero", check=check_elementwise, doc="`dst` becomes 0",
    ),
    TileOp(
        "fill", [_DST, _VALUE], meaning=_WHERE + "fill", check=check_elementwise,
        doc="each element of `dst` becomes `value`",
    ),
    TileOp(
        "memset", [_DST, _VALUE], meaning=_WHERE + "fill", check=check_elementwise,
        doc="as `fill`: each element of `dst` becomes `value`",
    ),
    TileOp(
        "copy", [_DST, _SRC], meaning=_WHERE + "copy", check=check_copy,
        doc="`dst` becomes `src`; done when the call is",
    ),
    TileOp(
        "copy_async", [_DST, _SRC], meaning=_WHERE + "copy", check=check_copy,
        doc="`dst` becomes `src` some time later; waiting for it is the author's business",
    ),
    TileOp(
        "cast", [_DST, _SRC], meaning=_WHERE + "cast", check=check_cast,
        doc="`dst` becomes `src` in its own element type",
    ),
    TileOp(
        "permute_layout", [_DST, _SRC], meaning=_WHERE + "copy", check=check_permutation,
        doc="`dst` becomes `src`; both may be views of one storage with different layouts",
    ),
)  # fmt: skip
