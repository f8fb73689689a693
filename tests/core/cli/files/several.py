"""Several kernels; the file names no target, one of them does, and one is still to be specialised."""

from tirx import script as Tx


@Tx.prim_func
def first(x: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    x[tx] = 1.0


@Tx.prim_func
def wide(x: Tx.Buffer((64,), "float32")):
    Tx.func_attr({"target": "generic -width=64"})
    Tx.device_entry()
    tx = Tx.thread_id([64])
    x[tx] = 2.0


def check(n):
    if n > 64:
        raise ValueError(f"{n} is too many for me")
    return n


@Tx.jit
def sized(x: Tx.Buffer((64,), "float32"), N: Tx.constexpr, style: Tx.constexpr = "plain"):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    if tx < check(N):
        x[tx] = 3.0
