"""Core's neutral variants of tile operations, and the library that variants are written with.

A backend uses it in three ways: `neutral_variants("acme")` lists all of core's for a kind of its own; the functions here
build further ones; and a kind whose `parent` is `generic` gets the neutral ones where it has none of its own.

    operand     an operand seen from the space that an operation runs over
    share       the part of that space that one thread handles, as loops, coordinates and guards
    owners      who holds which element of a distributed tile
    vectors     how many neighbouring elements one access can take
"""

from __future__ import annotations

from .agreement import is_holder, require_same_owners
from .copy import copy_share, copy_tiles, emit_copy
from .elementwise import (
    IN_REGISTERS,
    SHARED_OUT,
    alike,
    elementwise_variants,
    emit_elementwise,
    operands_of,
    share_of,
    widest_share,
)
from .formulas import BINARY, FORMULAS, UNARY
from .operand import Scalar, Tile, is_unit, operand_of, storage_of, tile_of
from .owners import Owners, Part, coordinates, owners_of, region_layout
from .reduce import emit_local, emit_shared, identity_of, reduce_variants, reduced_tiles
from .rows import neutral_variants
from .share import Evenly, Owned, Share, Whole, loops, split, when
from .vectors import has_runs, run_of_owner, widest_vector

__all__ = [
    "BINARY", "FORMULAS", "IN_REGISTERS", "SHARED_OUT", "UNARY", "Evenly", "Owned", "Owners", "Part", "Scalar",
    "Share", "Tile", "Whole", "alike", "coordinates", "copy_share", "copy_tiles", "elementwise_variants", "emit_copy",
    "emit_elementwise", "emit_local", "emit_shared", "has_runs", "identity_of", "is_holder", "is_unit", "loops",
    "neutral_variants", "operand_of", "operands_of", "owners_of", "reduce_variants", "reduced_tiles", "region_layout",
    "require_same_owners", "run_of_owner", "share_of", "split", "storage_of", "tile_of", "when", "widest_share",
    "widest_vector",
]  # fmt: skip
