"""Operations and variants that only these tests have."""

from __future__ import annotations

from tirx.tile import TileOp, TileOperand

PROBE = TileOp("probe", [TileOperand("dst", "w")], meaning="tests.core.tile.toys:probe", doc="a mark")
