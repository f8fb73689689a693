"""Core's own variants as rows."""

from __future__ import annotations

from ..tile import Variant
from .copy import copy_variants
from .elementwise import elementwise_variants
from .fused import fused_variants
from .matmul import matmul_variants
from .permute import permute_variants
from .reduce import reduce_variants

__all__ = ["neutral_variants"]


def neutral_variants(kind: str = "generic") -> tuple[Variant, ...]:
    """Variants of all operations, for a kind with threads: a backend may list them for its own kind.

    What goes on by itself elsewhere is done at once; a backend that has such copies and products leaves those rows out.
    """
    return (
        *copy_variants(kind),
        *elementwise_variants(kind),
        *reduce_variants(kind),
        *matmul_variants(kind),
        *permute_variants(kind),
        *fused_variants(kind),
    )
