"""Meanings of `clusterlaunchcontrol`: every request to take over a cluster that has not started fails, as it may."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.ir import DType

from .bulk import promised
from .mbarrier import complete_on
from .run import Op

__all__ = ["first", "is_canceled", "try_cancel"]

_RESPONSE = DType("uint64x2")


def try_cancel(op: Op, address: Any, mbar: Any) -> None:
    """16 bytes that say no."""
    ones = np.ones(op.count, np.int64)
    promises = promised(op, address, ones, _RESPONSE, np.zeros((op.count, 2), np.uint64), None)
    complete_on(op, mbar, np.full(op.count, _RESPONSE.bytes), promises)


def is_canceled(op: Op, response: Any) -> Any:
    """Whether a response says yes."""
    return op.full(response).reshape(op.count, 2).any(axis=1)


def first(op: Op, *values: Any) -> Any:
    """The first cta of the cluster, which a refusal does not name: the registers stay as they are."""
    return tuple(values[:-1])
