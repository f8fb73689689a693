"""`Tx.SMEMPool`: parts of one dynamic shared buffer, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tirx.ir import DEFAULT_LAYOUT, Buffer, DType, current_span
from tirx.script.builder import alloc_buffer, attr, builder, decl_buffer
from tirx.support.errors import ScriptError

from ..layout.shared import mma_shared_layout

__all__ = ["SMEMPool"]


def _widest_swizzle(shape: Sequence[int], kind: DType) -> int:
    """The mode with the longest rows (16, 32, 64, 128 bytes) that divide those of a tile."""
    row = shape[-1] * kind.total_bits // 8
    return next((mode for mode in (3, 2, 1) if row % (16 << mode) == 0 and shape[-2] % 8 == 0), 0)


class SMEMPool:
    """A bump allocator over dynamic shared memory.

        pool = Tx.SMEMPool()
        A = pool.alloc((64, 32), "float16", align=16)
        B = pool.alloc((64,), "float32")
        pool.commit()

    `alloc` answers a buffer at the next aligned offset; `move_base_to(offset)` goes back, so that parts overlap; `commit()` says
    how many bytes the launch must give (all that was used at most, or `size`). `ptr` is an existing byte buffer to allocate from.
    """

    def __init__(self, ptr: Buffer | None = None) -> None:
        if ptr is None:
            ptr = alloc_buffer((0,), "uint8", scope="shared.dyn", align=1024)
            builder("Tx.SMEMPool()").name_value(ptr, "smem")
        self.data = ptr
        self.offset = 0
        self.used = 0

    def alloc(
        self,
        shape: Sequence[int] | int,
        dtype: str = "float32",
        strides: Sequence[int] | None = None,
        scope: str = "shared.dyn",
        align: int = 0,
        layout: Any = "default",
    ) -> Buffer:
        """A buffer of constant shape at the next offset that is a multiple of `align` (at least of the element's size)."""
        kind = DType(dtype)
        dims = (shape,) if isinstance(shape, int) else tuple(shape)
        step = max(align, kind.bytes)
        if step % kind.bytes:
            raise self._error(
                f"alignment {align} does not fit elements of {kind.bytes} bytes", "align to a multiple of them"
            )
        start = -(-self.offset // step) * step
        made: Buffer = decl_buffer(
            dims, dtype, data=self.data.data, strides=strides, scope=scope, align=align, elem_offset=start // kind.bytes,
            layout=DEFAULT_LAYOUT if layout == "default" else layout,
        )  # fmt: skip
        self.offset = start + self._bytes(dims, strides, kind, layout)
        self.used = max(self.used, self.offset)
        return made

    def alloc_tcgen05_mma_AB(  # noqa: N802 - the published name
        self, shape: Sequence[int], dtype: str = "float16", swizzle_mode: Any = "auto", align: int = 1024
    ) -> Buffer:
        """A tile that matrix instructions read: rows of its last dimension, swizzled as `swizzle_mode` says.

        `"auto"` takes the widest swizzle whose atoms fill whole rows; others are 0 to 3, or a `SwizzleMode`.
        """
        mode = _widest_swizzle(shape, DType(dtype)) if swizzle_mode == "auto" else swizzle_mode
        return self.alloc(shape, dtype, align=align, layout=mma_shared_layout(dtype, mode, shape))

    def move_base_to(self, offset: int) -> None:
        """Continue at byte `offset`: what is allocated next may overlap what was allocated there."""
        if offset < 0:
            raise self._error(f"a pool does not start at {offset}", "give an offset of 0 or more")
        self.offset = offset

    def commit(self, size: int | None = None) -> None:
        """The launch gives this many bytes: `size`, or all that was ever in use at once."""
        if size is not None and size < self.used:
            raise self._error(
                f"{size} bytes are committed and {self.used} are in use", "commit() alone takes what is needed"
            )
        attr({"tirx.dyn_smem_bytes": self.used if size is None else size})

    def _bytes(self, dims: tuple[int, ...], strides: Sequence[int] | None, kind: DType, layout: Any) -> int:
        if not all(isinstance(extent, int) for extent in dims):
            raise self._error("a pool holds buffers of constant shape", "allocate the largest size that is needed")
        if strides:
            return (1 + sum((extent - 1) * step for extent, step in zip(dims, strides, strict=True))) * kind.bytes
        span = getattr(layout, "span", None)  # a layout may leave gaps
        count = int(span()) if span is not None else prod(dims)
        return -(-count * kind.total_bits // 8)

    @staticmethod
    def _error(message: str, hint: str) -> ScriptError:
        return ScriptError(message, span=current_span(), hint=hint)
