"""Tile operations and their dispatch: the records that backends fill, and what picks among them."""

from __future__ import annotations

from ..ir.tiles import call_name, constant_of, is_read, reads, tiles, writes
from .build import tile_call
from .levels import ALIASES, SCOPES
from .row import ConfigKey, Predicate, TileAttr, TileOp, TileOperand, Variant, check_tile_op, check_variant, tile_op
from .shapes import aligned, extents_of, keeps_shape, same_extents, shape_text, squeezed
from .verdict import Declined, Verdict, accept, decline

__all__ = [
    "ALIASES", "SCOPES", "ConfigKey", "Declined", "Predicate", "TileAttr", "TileOp", "TileOperand", "Variant", "Verdict",
    "accept", "aligned", "call_name", "check_tile_op", "check_variant", "constant_of", "decline", "extents_of", "is_read",
    "keeps_shape", "reads", "same_extents", "shape_text", "squeezed", "tile_call", "tile_op", "tiles", "writes",
]  # fmt: skip
