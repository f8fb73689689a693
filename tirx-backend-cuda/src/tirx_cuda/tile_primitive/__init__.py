"""How CUDA runs tile operations: variants, a file per family of operations.

Where nothing of CUDA's own is better, core's neutral variants are listed for kind `cuda`.
"""

from __future__ import annotations

from tirx.tile import Variant
from tirx.variants import neutral_variants

from . import copy_async, gemm, matrix_copy, permute, reduction, vector_copy

__all__ = ["VARIANTS"]

VARIANTS: tuple[Variant, ...] = (
    *neutral_variants("cuda"),
    *vector_copy.VARIANTS,
    *matrix_copy.VARIANTS,
    *copy_async.VARIANTS,
    *gemm.VARIANTS,
    *permute.VARIANTS,
    *reduction.VARIANTS,
)
