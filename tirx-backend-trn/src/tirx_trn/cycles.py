"""What instructions cost, as AWS documents it: "Estimated instruction cost" of the pages of `nki.isa` (SDK 2.26, the last to have it).

N is elements per partition of the widest tile of the instruction. The vector and scalar engines of newer generations work on several
elements of a partition in a cycle (`Generation.lanes`); the documented costs are those of one. An instruction takes 64 cycles at least.
Costs do not include waiting for other engines, nor the start of a kernel.
"""

from __future__ import annotations

__all__ = ["CYCLES", "DMA_LEAST_ROW", "LEAST", "MATMUL_FLOAT32", "Cycles"]

LEAST = 64  # cycles of the shortest instruction, and of adding up a reduction
MATMUL_FLOAT32 = 4  # passes of the tensor engine for a product of float32
DMA_LEAST_ROW = (
    256  # bytes: shorter contiguous pieces take as long ("NKI DMA bandwidth guide": below 256 B is very poor)
)


class Cycles:
    """`per_element` * N, at least LEAST, plus `extra`."""

    __slots__ = ("extra", "per_element")

    def __init__(self, per_element: int = 1, extra: int = 0) -> None:
        self.per_element = per_element
        self.extra = extra


_PLAIN = Cycles()
CYCLES = {
    "tensor_copy": _PLAIN,
    "tensor_copy_predicated": _PLAIN,
    "memset": _PLAIN,
    "activation": _PLAIN,
    "activation_reduce": Cycles(1, LEAST),
    "reciprocal": Cycles(8),
    "tensorreduce": _PLAIN,
    "tensortensor": _PLAIN,
    "tensorscalar": _PLAIN,
    "scalar_tensor_scalar": _PLAIN,
    "scalar_tensor_tensor": _PLAIN,
    "tensorscalar_reduce": Cycles(1, LEAST),
    "tensor_tensor_scan": Cycles(2),
    "select_reduce": Cycles(1, LEAST),
    "range_select": Cycles(1, LEAST),
    "max8": _PLAIN,
    "nc_find_index8": _PLAIN,
    "nc_match_replace8": _PLAIN,
    "nc_transpose": _PLAIN,
    "iota": Cycles(1, 150),
    "select_pattern": Cycles(1, 150),
    "identity": _PLAIN,
}
