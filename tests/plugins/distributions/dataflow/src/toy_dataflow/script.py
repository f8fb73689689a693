"""`Tx.flow`."""

from __future__ import annotations

from tirx.intrinsic import call
from tirx.ir import Buffer, BufferRegion, Call

from . import op

__all__ = ["add", "load", "store"]

Region = Buffer | BufferRegion


def load(res: Region, data: Region) -> Call:
    """Memory to a bank."""
    return call(op.LOAD, res, data)


def store(res: Region, data: Region) -> Call:
    """A bank to memory."""
    return call(op.STORE, res, data)


def add(res: Region, a: Region, b: Region) -> Call:
    """The sum of two banks."""
    return call(op.ADD, res, a, b)
