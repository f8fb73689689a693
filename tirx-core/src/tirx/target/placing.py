"""Views of buffers whose place the author chose: their memory says how an address and an offset become an address."""

from __future__ import annotations

from ..backend import find
from ..ir import Buffer
from ..support.late import load_object

__all__ = ["is_unreached", "placed_view"]


def placed_view(buffer: Buffer) -> Buffer:
    """A view at the address where it begins, in memories that have such."""
    row = find("storage_scopes", buffer.scope_name)
    made: Buffer = load_object(row.view)(buffer) if row is not None and row.view else buffer
    return made


def is_unreached(buffer: Buffer) -> bool:
    """Whether a buffer is a name for a place that only instructions reach."""
    row = find("storage_scopes", buffer.scope_name)
    return row is not None and bool(row.reached)
