"""`Tx.TMEMPool`: parts of tensor memory, column after column."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tirx.ir import Buffer, DType, Expr, Layout, as_expr, current_span
from tirx.script.builder import If, Then, decl_buffer, warp_id
from tirx.script.meta import meta_class
from tirx.support.errors import ScriptError

from ..layout.scale_factors import sf_tmem_layout
from ..layout.tmem import tmem_datapath_layout, tmem_mma_operand_layout
from ..ptx.chain import ptx
from ..scopes import LANES
from ..script import warp_sync
from .pool import SMEMPool

__all__ = ["TMEMPool"]

COLUMNS = 512
_COLUMN_BITS = 32


@meta_class
class TMEMPool:
    """A bump allocator over columns of tensor memory.

        tmem = Tx.TMEMPool(pool, total_cols=256)
        D = tmem.alloc_tcgen05_mma_D((128, 256), M=128, cta_group=1)
        pool.commit()
        tmem.commit()                 # warp `alloc_warp` asks the hardware for them; a barrier of the cta must follow
        ...
        tmem.dealloc()                # at the end; warp `dealloc_warp` gives them back

    Buffers lie at columns counted from 0: where the hardware's allocation begins when no other kernel shares the multiprocessor
    (`addr` is the address that it gave). `tmem_addr` is a shared word for that address; default: one from `pool`.
    `sync_after_alloc` lets the allocating warp meet after it.
    """

    def __init__(
        self,
        pool: SMEMPool | None,
        total_cols: int = COLUMNS,
        *,
        cta_group: int = 1,
        alloc_warp: int = 0,
        dealloc_warp: int | None = None,
        tmem_addr: Any = None,
        sync_after_alloc: bool = True,
    ) -> None:
        if total_cols not in (32, 64, 128, 256, 512):
            raise self._error(f"{total_cols} columns cannot be allocated", "take 32, 64, 128, 256 or 512")
        if cta_group not in (1, 2):
            raise self._error(f"{cta_group} ctas do not allocate together", "cta_group is 1 or 2")
        if tmem_addr is None and pool is None:
            raise self._error(
                "there is no place for the address", "give a pool, or tmem_addr: a uint32 in shared memory"
            )
        self.total_cols, self.cta_group, self.sync_after_alloc = total_cols, cta_group, sync_after_alloc
        self.alloc_warp = alloc_warp
        self.dealloc_warp = alloc_warp if dealloc_warp is None else dealloc_warp
        self.addr_buf: Any = (
            pool.alloc((1,), "uint32", align=4) if tmem_addr is None and pool is not None else tmem_addr
        )
        self.offset = 0

    @property
    def addr(self) -> Expr:
        """The address of the first column, once it is allocated."""
        return as_expr(self.addr_buf[0])

    def alloc(
        self, shape: Sequence[int], dtype: str = "float32", *, layout: Layout | None = None, cols: int | None = None
    ) -> Buffer:
        """A buffer at the next column: a row for each lane, unless a layout says otherwise.

        `cols` is the number of columns; default: as many as the elements need in all lanes.
        """
        kind = DType(dtype)
        if layout is None:
            if len(shape) != 2 or shape[0] != LANES:
                raise self._error(
                    f"shape {tuple(shape)} is not one row for each of {LANES} lanes", "give a layout, or (128, n)"
                )
            layout = tmem_datapath_layout("D", shape[0], shape[1])
        needed = -(-prod(shape) * kind.total_bits // (LANES * _COLUMN_BITS)) if cols is None else cols
        if self.offset + needed > self.total_cols:
            raise self._error(
                f"{needed} columns from column {self.offset} on do not fit in {self.total_cols}",
                "allocate more columns (512 at most), or reuse some with move_base_to",
            )
        made: Buffer = decl_buffer(tuple(shape), dtype, scope="tmem", layout=layout, allocated_addr=(self.offset,))
        self.offset += needed
        return made

    def alloc_sf(self, shape: Sequence[int], dtype: str, *, sf_per_mma: int, sf_reuse: int = 1) -> Buffer:
        """Scale factors of `shape` (rows, factors), or several such behind each other, in the lanes of all four warps."""
        *depth, rows, factors = shape
        layout = sf_tmem_layout(rows, factors // sf_reuse, sf_per_mma, sf_reuse, prod(depth) if depth else None)
        bits = DType(dtype).storage_bits * prod(depth) * rows * factors // sf_reuse
        return self.alloc(shape, dtype, layout=layout, cols=-(-bits // (LANES // 4 * _COLUMN_BITS)))

    def alloc_tcgen05_mma_A(  # noqa: N802 - the published name
        self,
        shape: Sequence[int],
        dtype: str = "bfloat16",
        *,
        M: int,  # noqa: N803
        cta_group: int,
        ws: bool = False,
        sparse: bool = False,
        cols: int | None = None,
    ) -> Buffer:
        """Operand A of a product of `M` rows."""
        layout = tmem_mma_operand_layout("A", shape, dtype, M=M, cta_group=cta_group, ws=ws, sparse=sparse)
        return self.alloc(shape, dtype, layout=layout, cols=cols if cols is not None else self._columns(layout, dtype))

    def alloc_tcgen05_mma_D(  # noqa: N802 - the published name
        self,
        shape: Sequence[int],
        dtype: str = "float32",
        *,
        M: int,  # noqa: N803
        cta_group: int,
        ws: bool = False,
        sparse: bool = False,
        group: Sequence[int] | None = None,
        cols: int | None = None,
    ) -> Buffer:
        """The accumulator of a product of `M` rows."""
        layout = tmem_mma_operand_layout("D", shape, dtype, M=M, cta_group=cta_group, ws=ws, sparse=sparse, group=group)
        return self.alloc(shape, dtype, layout=layout, cols=cols if cols is not None else self._columns(layout, dtype))

    @staticmethod
    def _columns(layout: Any, dtype: str) -> int:
        """Columns of 32 bits that a layout reaches."""
        return -(-int(layout.span("TCol")) * DType(dtype).storage_bits // _COLUMN_BITS)

    def move_base_to(self, col: int) -> None:
        """Continue at column `col`: what is allocated next may overlap what was allocated there."""
        if not 0 <= col <= self.total_cols:
            raise self._error(f"there is no column {col}", f"columns are 0 to {self.total_cols}")
        self.offset = col

    def commit(self) -> None:
        """Ask the hardware for the columns, by warp `alloc_warp`."""
        group = getattr(ptx.tcgen05.alloc, f"cta_group__{self.cta_group}")
        with If(warp_id() == self.alloc_warp), Then():
            group.sync.aligned.shared__cta.b32(self._place(), self.total_cols)
            if self.sync_after_alloc:
                warp_sync()

    def dealloc(self) -> None:
        """Give the columns back, by warp `dealloc_warp`; nobody may use them any more."""
        name = f"cta_group__{self.cta_group}"
        with If(warp_id() == self.dealloc_warp), Then():
            getattr(ptx.tcgen05.relinquish_alloc_permit, name).sync.aligned()
            getattr(ptx.tcgen05.dealloc, name).sync.aligned.b32(self.addr, self.total_cols)

    def _place(self) -> Expr:
        return as_expr(self.addr_buf.ptr_to([0]))

    @staticmethod
    def _error(message: str, hint: str) -> ScriptError:
        return ScriptError(message, span=current_span(), hint=hint)
