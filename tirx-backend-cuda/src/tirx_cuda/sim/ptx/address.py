"""Meanings of address arithmetic. In the simulator a pointer to shared memory is its 32-bit address."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.sim.memory import GLOBAL_BASE, LOCAL_BASE, SHARED_RANK_BITS, WINDOW_BASE

from .run import Op

__all__ = ["getctarank", "in_cta", "isspacep", "mapa", "offset_of", "rank_of", "same", "to"]


def same(op: Op, a: Any) -> Any:
    """An address of a space is its generic address."""
    return np.asarray(a).astype(np.uint64)


def to(op: Op, a: Any) -> Any:
    """A generic address in a space."""
    return np.asarray(a).astype(np.uint64)


def isspacep(op: Op, a: Any) -> Any:
    """Whether an address lies in a space."""
    address = op.full(np.asarray(a).astype(np.int64))
    space = op.get("space")
    if space.startswith("shared"):
        inside = (address >= 1 << SHARED_RANK_BITS) & (address < LOCAL_BASE)
        return inside & (rank_of(address) == _own(op)) if space != "shared::cluster" else inside
    if space == "local":
        return (address >= LOCAL_BASE) & (address < WINDOW_BASE)
    return address >= GLOBAL_BASE if space == "global" else np.zeros(op.count, bool)


def rank_of(address: Any) -> Any:
    """The rank in its cluster of the cta in whose shared memory an address lies."""
    return (address >> SHARED_RANK_BITS) - 1


def offset_of(address: Any) -> Any:
    """The byte that an address is in the shared memory of its cta."""
    return address & ((1 << SHARED_RANK_BITS) - 1)


def in_cta(address: Any, rank: Any) -> Any:
    """The same place in the shared memory of another cta of the cluster."""
    return offset_of(address) | (np.asarray(rank).astype(np.int64) + 1) << SHARED_RANK_BITS


def _own(op: Op) -> Any:
    return np.asarray(op.ctx.id("cta", "cluster"))


def mapa(op: Op, a: Any, rank: Any) -> Any:
    """The same place in the shared memory of another cta of the cluster."""
    address = op.full(np.asarray(a).astype(np.int64))
    made = in_cta(address, op.full(rank))
    kind = op.form.parts[0].type
    return made.astype(np.uint32 if kind is not None and kind.bits == 32 else np.uint64)


def getctarank(op: Op, a: Any) -> Any:
    """The cta of the cluster whose shared memory it is."""
    return rank_of(op.full(np.asarray(a).astype(np.int64))).astype(np.uint32)
