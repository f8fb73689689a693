"""Meanings of the profiler's annotations: there is nothing to see of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

__all__ = ["mark", "official_event", "range_end", "range_pop", "range_push", "range_start", "sentinel_token"]


def mark(ctx: SimContext, name: Any, *payload: Any) -> None:
    """A point in time."""


def range_push(ctx: SimContext, name: Any, *payload: Any) -> None:
    """A range begins."""


def range_pop(ctx: SimContext) -> None:
    """A range ends."""


def range_end(ctx: SimContext, token: Any, *payload: Any) -> None:
    """A range ends."""


def range_start(ctx: SimContext, name: Any, *payload: Any) -> Any:
    """A token, which says nothing here."""
    return np.zeros(ctx.count, np.uint32)


def sentinel_token(ctx: SimContext, name: Any) -> Any:
    """A token of no range."""
    return np.zeros(ctx.count, np.uint32)


def official_event(ctx: SimContext, event_id: Any, *payload: Any, source_code: str) -> Any:
    """The number of the event."""
    return np.broadcast_to(np.asarray(event_id, np.uint32), (ctx.count,))
