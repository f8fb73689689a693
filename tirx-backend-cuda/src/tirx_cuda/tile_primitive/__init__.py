"""How CUDA runs tile operations: variants, a file per family of operations.

Where nothing of CUDA's own is better, core's neutral variants are listed for kind `cuda`.
"""

from __future__ import annotations

from tirx.tile import Variant
from tirx.variants import neutral_variants

from . import copy_async, elementwise, gemm, matrix_copy, permute, reduction, vector_copy

__all__ = ["VARIANTS"]

OWN: tuple[Variant, ...] = (
    *vector_copy.VARIANTS,
    *matrix_copy.VARIANTS,
    *copy_async.VARIANTS,
    *elementwise.VARIANTS,
    *gemm.VARIANTS,
    *permute.VARIANTS,
    *reduction.VARIANTS,
)
_OWN_NAMES = {(row.operation, row.name) for row in OWN}

VARIANTS: tuple[Variant, ...] = (
    *(
        row
        for row in neutral_variants("cuda")
        if (row.operation, row.name) not in _OWN_NAMES
        and not row.operation.endswith("_async")  # nobody would see that it waits
    ),
    *OWN,
)
