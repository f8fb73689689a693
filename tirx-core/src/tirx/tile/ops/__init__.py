"""The thirty tile operations of the language: one table a family."""

from __future__ import annotations

from . import elementwise, fused, matmul, move, reduce

__all__ = ["ALL", "FAMILIES"]

FAMILIES = {
    "moving": move.ROWS,
    "elementwise": elementwise.ROWS,
    "reductions": reduce.ROWS,
    "matrices": matmul.ROWS,
    "several at once": fused.ROWS,
}
ALL = tuple(row for rows in FAMILIES.values() for row in rows)
