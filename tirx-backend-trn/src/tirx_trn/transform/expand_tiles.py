"""Tile operations become instructions, and these are checked like those that people write.

before  Tx.tile.add(z, x, y)
after   Tx.nki.tensortensor(z, x, y, "add")

What variants make may need more room, or a newer generation, than what stands in the kernel: rules that `verify` has gone through run
again, at the lines of the tile operations. Needs: a target.
"""

from __future__ import annotations

from tirx.ir import IRModule, TileCall
from tirx.transform.lower_tile import lower_tile
from tirx.transform.pipeline import Pass, PassContext

from .checked import checked

__all__ = ["expand_tiles"]


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without tile operations."""
    if not any(func.body.mask & TileCall.BIT for func in module):
        return module
    return checked(lower_tile.run(module, context), context)


expand_tiles = Pass("lower_tile", run, requires=lower_tile.requires, ensures=lower_tile.ensures)
