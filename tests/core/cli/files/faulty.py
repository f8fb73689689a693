"""Two neighbours write the same element."""

from tirx import script as Tx

TARGET = "generic"


@Tx.prim_func
def faulty(x: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    x[tx // 2] = tx
