"""Operations that reduce axes of a tile."""

from __future__ import annotations

from ..checks import check_reduction
from ..row import TileAttr, TileOp, TileOperand
from .attrs import REDUCE, axes, operator

__all__ = ["ROWS"]

_WHERE = "tirx.sim.meanings.tile:"
_ACCUM = TileAttr("accum", bool, False, "what the destination held takes part")


def _reduction(name: str, doc: str) -> TileOp:
    return TileOp(
        name, [TileOperand("dst", "w", read_if="accum"), TileOperand("src")], attrs=[axes("src"), _ACCUM],
        meaning=_WHERE + f"reduce_{name}", check=check_reduction, doc=f"`dst` becomes {doc} of `src` along `axes`",
    )  # fmt: skip


ROWS = (
    _reduction("sum", "the sum"),
    _reduction("max", "the largest"),
    _reduction("min", "the smallest"),
    TileOp(
        "reduce_negate", [TileOperand("output", "w", read_if="accum"), TileOperand("input")],
        attrs=[operator("reduce_op", REDUCE, "how axes are reduced"), axes("input", "reduce_axes"), _ACCUM],
        meaning=_WHERE + "reduce_negate", check=check_reduction,
        doc="`output` becomes the negative of `input` reduced; with `accum`, of all that was reduced into it so far",
    ),
)  # fmt: skip
