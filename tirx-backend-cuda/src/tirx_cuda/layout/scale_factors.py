"""Block scale factors of `tcgen05.mma`: 8 bits each, four in a column of 32 bits, rows in blocks of 128.

A matrix of (rows, SF_K) factors has `sf_per_mma` of them for each instruction (4 with nvfp4, 2 with mxfp4, 1 with fp8); one that
serves several instructions in a row is repeated by `sf_reuse`, which takes no storage. `pipe_depth` matrices lie behind each other.
"""

from __future__ import annotations

from math import gcd

from tirx.layout import TileLayout

from .refusal import one_of, positive, tile

__all__ = ["sf_smem_layout", "sf_tmem_layout"]

_PACKED = 4  # factors in 32 bits
_LANES = 32  # rows side by side
_COPIES = 4  # every warp's lanes hold all factors
_BLOCK = 128 * _PACKED  # bytes of 128 rows with four factors each in shared memory


def sf_tmem_layout(
    rows: int,
    SF_K: int,  # noqa: N803 - the published name
    sf_per_mma: int,
    sf_reuse: int = 1,
    pipe_depth: int | None = None,
) -> TileLayout:
    """Row r is in lane r % 32, rows 32 apart in neighbouring columns, all of it again for each of the four warps."""
    _check(sf_per_mma, sf_reuse, pipe_depth)
    slabs = positive("rows", rows, _LANES) // _LANES
    positive("SF_K", SF_K, sf_per_mma)
    width = gcd(SF_K, _PACKED)
    group = slabs * _PACKED  # elements from one group of factors to the next
    return tile(
        (pipe_depth or 1, group * (SF_K // width), "TCol"),
        (slabs, _PACKED, "TCol"),
        (_LANES, 1, "TLane"),
        (SF_K // width, group, "TCol"),
        (width, 1, "TCol"),
        (sf_reuse, 0, "TCol"),
        replica=[(_COPIES, _LANES, "TLane")],
    )


def sf_smem_layout(
    rows: int,
    SF_K: int,  # noqa: N803 - the published name
    sf_per_mma: int,
    sf_reuse: int = 1,
    pipe_depth: int | None = None,
) -> TileLayout:
    """Blocks of 128 rows with four factors: 16 bytes for each of 32 rows, those of rows 32 apart side by side."""
    _check(sf_per_mma, sf_reuse, pipe_depth)
    blocks = positive("rows", rows, 4 * _LANES) // (4 * _LANES)
    groups = positive("SF_K", SF_K, _PACKED) // _PACKED
    return tile(
        (pipe_depth or 1, rows * SF_K, "m"),
        (blocks, groups * _BLOCK, "m"),
        (4, _PACKED, "m"),
        (_LANES, 4 * _PACKED, "m"),
        (groups, _BLOCK, "m"),
        (_PACKED, 1, "m"),
        (sf_reuse, 0, "m"),
    )


def _check(sf_per_mma: int, sf_reuse: int, pipe_depth: int | None) -> None:
    one_of("sf_per_mma", sf_per_mma, (1, 2, 4))
    positive("sf_reuse", sf_reuse)
    if pipe_depth is not None:
        positive("pipe_depth", pipe_depth)
