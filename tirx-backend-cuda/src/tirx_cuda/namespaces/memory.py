"""Functions of `Tx.cuda` on barriers in shared memory, addresses, whole words, and accumulators of warps."""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import call
from tirx.ir import Call, DType, Expr, IntImm, as_expr, cast

from ..op import ROW
from ..op_memory import COPIES
from ..tensor_memory import address_of_place
from .checked import known, refuse

__all__ = [
    "copy_bytes", "cvt_e2m1x8_f32", "get_tmem_addr", "mbarrier_wait", "mbarrier_wait_acquire_cluster", "mma_fill",
    "mma_fill_legacy", "mma_store", "mma_store_legacy", "sm100_2sm_leader_smem_addr", "smem_addr_from_uint64",
]  # fmt: skip


def mbarrier_wait(bar: Any, phase: Any) -> Call:
    """Wait until the phase of parity `phase` of the barrier at `bar` is over. sm_90 or newer."""
    return call(ROW["mbarrier_wait"], bar, phase)


def mbarrier_wait_acquire_cluster(bar: Any, phase: Any) -> Call:
    """The same; what other ctas of the cluster wrote before they arrived is seen after it. sm_90 or newer."""
    return call(ROW["mbarrier_wait_acquire_cluster"], bar, phase)


def smem_addr_from_uint64(cluster_addr: Any) -> Call:
    """The 32-bit address of a 64-bit address (or pointer) in the shared memory of the cluster."""
    return call(ROW["smem_addr_from_uint64"], cluster_addr)


def sm100_2sm_leader_smem_addr(ptr: Any) -> Call:
    """The 32-bit address of the same place in the shared memory of the leading cta of a pair.

    `ptr` is a pointer to shared memory, or its address as an integer.
    """
    return call(ROW["sm100_2sm_leader_smem_addr"], ptr)


def get_tmem_addr(addr: Any, row_offset: Any, col_offset: Any) -> Expr:
    """The address in tensor memory so many lanes and columns after `addr`, as uint32: lanes count from bit 16.

    `addr` is an address, or a buffer in tensor memory (or `D.ptr_to([...])` of one).
    """
    place = address_of_place(addr)
    total = as_expr(addr, "uint32") if place is None else place
    for offset, shift in ((row_offset, 16), (col_offset, 0)):
        part = cast(as_expr(offset, "uint32"), "uint32")
        if not (isinstance(part, IntImm) and part.value == 0):
            total = cast(total, "uint32") + (part << shift if shift else part)
    return cast(total, "uint32")


def copy_bytes(dst: Any, src: Any, count: int) -> Call:
    """Copy 1, 2, 4, 8 or 16 bytes from `src` to `dst` in one access; both are aligned to them."""
    number = known("count", count)
    if number not in COPIES:
        raise refuse(f"no access moves {number} bytes", f"copy {', '.join(map(str, COPIES))} at a time")
    return call(ROW["copy_bytes"], dst, src, number)


def cvt_e2m1x8_f32(v0: Any, v1: Any, v2: Any, v3: Any, v4: Any, v5: Any, v6: Any, v7: Any) -> Call:
    """Eight float32 as the uint32 that holds a float4_e2m1fnx8, `v0` lowest; to nearest, saturated. sm_100a and its like."""
    return call(ROW["cvt_e2m1x8_f32"], *(as_expr(value, "float32") for value in (v0, v1, v2, v3, v4, v5, v6, v7)))


# ---- accumulators of warps -----------------------------------------------------------------------------------------


def mma_fill(dtype: Any, local_size: int, local_ptr: Any, offset: Any) -> Call:
    """Zeros in `local_size` registers from `local_ptr[offset]` on."""
    return call(ROW["mma_fill"], known("local_size", local_size), local_ptr, offset, dtype=DType(dtype).name)


def mma_store(dtype: Any, m: int, n: int, dst_ptr: Any, src_ptr: Any, src_offset: Any, dst_stride: Any) -> Call:
    """The accumulator of a warp, eight registers a lane from `src_ptr[src_offset]` on, as 16 rows of 16 at `dst_ptr`."""
    shape = known("m", m), known("n", n)
    if shape != (16, 16):
        raise refuse(f"an accumulator of {shape[0]} by {shape[1]} cannot be stored", "store 16 by 16 at a time")
    return call(ROW["mma_store"], *shape, dst_ptr, src_ptr, src_offset, dst_stride, dtype=DType(dtype).name)


mma_fill_legacy, mma_store_legacy = mma_fill, mma_store
