"""Tiles held by the threads of a warpgroup."""

from __future__ import annotations

from tirx.layout import Iter, TileLayout

from .refusal import fault, positive

__all__ = ["THREADS", "wg_local_layout"]

THREADS = 128  # of a warpgroup


def wg_local_layout(cols: int, rows: int = THREADS) -> TileLayout:
    """Thread r of the warpgroup holds row r, `cols` elements one after another."""
    positive("cols", cols)
    if positive("rows", rows) > THREADS:
        raise fault(f"rows is {rows}", f"a warpgroup has {THREADS} threads, one for each row")
    return TileLayout.from_iters([Iter(rows, 1, "tid_in_wg"), Iter(cols, 1)])
