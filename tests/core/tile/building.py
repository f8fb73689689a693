"""Small kernels around one tile call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirx import script as Tx
from tirx.ir import Buffer, PrimFunc, TileCall, mask_of, walk

Body = Callable[..., Any]


def built(body: Body, *buffers: Any) -> PrimFunc:
    """A kernel that does `body` with its buffers: `A` and `B` of (128, 64) float16 where none are given."""
    annotations = buffers or (Tx.Buffer((128, 64), "float16"), Tx.Buffer((128, 64), "float16"))
    with Tx.Builder() as made, Tx.prim_func():
        Tx.func_name("kernel")
        names, numbers = iter("ABCDE"), iter("nm")
        values = [Tx.arg(next(names if isinstance(item, Buffer) else numbers), item) for item in annotations]
        Tx.device_entry()
        body(*values)
    found = made.get()
    assert isinstance(found, PrimFunc)
    return found


def calls_of(func: PrimFunc) -> list[TileCall]:
    """The tile calls in a function."""
    return [node for node in walk(func.body, mask_of(TileCall)) if isinstance(node, TileCall)]


def call_of(body: Body, *buffers: Any) -> TileCall:
    """The only tile call of such a kernel."""
    (found,) = calls_of(built(body, *buffers))
    return found
