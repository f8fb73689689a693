from tirx import script as Tx


@Tx.prim_func
def mistake(x: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    x[tx] = y


# ruff: noqa: F821
