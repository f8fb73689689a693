"""Tile operations and their dispatch: the records that backends fill."""

from __future__ import annotations

from .row import TileOp, Variant, check_tile_op, check_variant

__all__ = ["TileOp", "Variant", "check_tile_op", "check_variant"]
