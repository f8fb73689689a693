"""Matrix products."""

from __future__ import annotations

from ..checks import check_block_matmul, check_matmul
from ..row import TileAttr, TileOp, TileOperand

__all__ = ["ROWS"]

_WHERE = "tirx.sim.meanings.tile:"


def _flag(name: str, doc: str) -> TileAttr:
    return TileAttr(name, bool, False, doc)


def _scalar(name: str, doc: str, dtype: str = "") -> TileOperand:
    return TileOperand(name, kinds=("scalar",), optional=True, dtype=dtype, doc=doc)


ROWS = (
    TileOp(
        "gemm",
        [
            TileOperand("D", "w"), TileOperand("A", doc="M x K"), TileOperand("B", doc="K x N"), TileOperand("C"),
            _scalar("alpha", "left out: 1"), _scalar("beta", "left out: 0"),
        ],
        attrs=[_flag("transpose_A", "A is K x M"), _flag("transpose_B", "B is N x K")],
        form=("D", "A", "B", "C", "transpose_A", "transpose_B", "alpha", "beta"),
        meaning=_WHERE + "gemm", check=check_matmul,
        doc="`D` becomes `alpha * A @ B + beta * C`, summed in the element type of `D`",
    ),
    TileOp(
        "gemm_async",
        [
            TileOperand("C", "w", read_if="accum"), TileOperand("A", doc="M x K"), TileOperand("B", doc="N x K"),
            TileOperand("SFA", optional=True, doc="scale factors of A"),
            TileOperand("SFB", optional=True, doc="scale factors of B"),
            _scalar("accum", "add to what C holds; left out: no", "bool"),
        ],
        attrs=[_flag("transA", "A is K x M"), _flag("transB", "B is K x N")],
        form=("C", "A", "B", "SFA", "SFB", "transA", "transB", "accum"),
        meaning=_WHERE + "gemm_async", check=check_block_matmul,
        doc="`C` becomes `A @ B.T`, or that added to it, some time later; waiting for it is the author's business",
    ),
)  # fmt: skip
