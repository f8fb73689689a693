"""What the tests of bad input share: a kernel that does no harm, and building one around a few lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirx import script as Tx
from tirx.ir import PrimFunc

# ruff: noqa: F821


@Tx.prim_func
def scale(x: Tx.Buffer(("n", 64), "float32"), y: Tx.Buffer(("n", 64), "float32"), a: Tx.float32):
    Tx.device_entry()
    bx = Tx.cta_id([n])
    tx = Tx.thread_id([64])
    y[bx, tx] = a * x[bx, tx]


def traced(body: Callable[[Any, Any], object], **options: Any) -> PrimFunc:
    """A kernel of 64 threads over `x` of 64 floats; `body(x, tx)` appends to it."""
    with Tx.builder.Builder() as builder, Tx.prim_func():
        Tx.func_name(options.get("name", "kernel"))
        x = Tx.arg(options.get("argument", "x"), Tx.Buffer((64,), "float32"))
        Tx.device_entry()
        tx = Tx.thread_id([64])
        body(x, tx)
    return builder.get()


def fill(x: Any, tx: Any) -> None:
    """Write something, so that the kernel is not empty."""
    Tx.buffer_store(x, 1.0, [tx])
