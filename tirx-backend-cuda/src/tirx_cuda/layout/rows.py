"""The axes and named constructors that CUDA adds to layouts."""

from __future__ import annotations

from tirx.layout.axis import Axis
from tirx.layout.row import LayoutConstructor

__all__ = ["AXES", "CONSTRUCTORS"]

AXES = (
    Axis("TLane", doc="lanes of tensor memory"),
    Axis("TCol", doc="elements along one lane of tensor memory"),
)


def _rows(module: str, **functions: str) -> tuple[LayoutConstructor, ...]:
    return tuple(
        LayoutConstructor(name, f"tirx_cuda.layout.{module}:{name}", doc=doc) for name, doc in functions.items()
    )


CONSTRUCTORS = (
    *_rows(
        "tmem",
        tmem_datapath_layout="where an accumulator lies in tensor memory, by the letter of its data path",
        tmem_mma_operand_layout="where an operand of tcgen05.mma lies in tensor memory",
    ),
    *_rows("tcgen05", tcgen05_atom_layout="registers that tcgen05.ld fills and tcgen05.st empties"),
    *_rows("warpgroup", wg_local_layout="a row of a tile for each thread of a warpgroup"),
    *_rows(
        "mma",
        mma_fragment_layout="registers of an operand of mma.sync",
        ldmatrix_layout="registers that ldmatrix fills and stmatrix empties",
    ),
    *_rows(
        "shared",
        mma_atom_layout="the smallest tile of shared memory that matrix instructions read",
        mma_shared_layout="a tile of shared memory for matrix instructions, made of atoms",
        get_swizzle_mode_from_layout="the swizzle of a tile in shared memory",
    ),
    *_rows(
        "scale_factors",
        sf_tmem_layout="block scale factors in tensor memory",
        sf_smem_layout="block scale factors in shared memory",
    ),
)
