"""Tile operations and their dispatch: the records that backends fill, and what picks among them."""

from __future__ import annotations

from .row import ConfigKey, Predicate, TileAttr, TileOp, TileOperand, Variant, check_tile_op, check_variant
from .verdict import Declined, Verdict, accept, decline

__all__ = [
    "ConfigKey", "Declined", "Predicate", "TileAttr", "TileOp", "TileOperand", "Variant", "Verdict", "accept",
    "check_tile_op", "check_variant", "decline",
]  # fmt: skip
