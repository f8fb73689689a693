"""A kernel that its target cannot run."""

from tirx import script as Tx


@Tx.prim_func
def too_wide(x: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([1 << 20])
    x[tx] = 1


@Tx.prim_func
def fine(x: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    x[tx] = 1
