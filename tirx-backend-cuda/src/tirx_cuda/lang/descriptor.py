"""Descriptors of matrices in shared memory, computed once and moved on from."""

from __future__ import annotations

from typing import Any

from tirx.ir import Expr, Scalar, as_expr, cast, const
from tirx.script.builder import local_scalar
from tirx.script.meta import meta_class

from ..namespaces import tcgen05
from ..script import __shfl_sync as shuffle

__all__ = ["SmemDescriptor"]

_HIGH = 0xFFFFFFFF00000000


@meta_class
class SmemDescriptor:
    """A tcgen05 matrix descriptor: `init` once, then `add_16B_offset` for the parts of a tile; `desc` is the scalar."""

    def __init__(self) -> None:
        self.desc: Scalar = local_scalar("uint64")

    def init(self, smem_ptr: Any, ldo: Any, sdo: Any, swizzle: Any) -> None:
        """Describe the matrix at `smem_ptr`; see `Tx.cuda.tcgen05.encode_matrix_descriptor`."""
        tcgen05.encode_matrix_descriptor(self.desc, smem_ptr, ldo, sdo, swizzle)

    def add_16B_offset(self, off: Any) -> Expr:  # noqa: N802 - the published name
        """The descriptor of a matrix `off` times 16 bytes further on; the sum stays in the low half."""
        low = cast(as_expr(self.desc), "uint32") + cast(as_expr(off, "uint32"), "uint32")
        high = as_expr(self.desc) & const(_HIGH, "uint64")
        return as_expr(high | cast(low, "uint64"))

    def make_lo_uniform(self) -> None:
        """Let all threads of the warp have the address of its first thread, and the compiler know that it is the same."""
        low = shuffle(0xFFFFFFFF, cast(as_expr(self.desc), "uint32"), 0)
        high = as_expr(self.desc) & const(_HIGH, "uint64")
        self.desc.assign(high | cast(low, "uint64"))
