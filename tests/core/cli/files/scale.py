"""A kernel, and the target it is for."""

from tirx import script as Tx

TARGET = "generic"


@Tx.prim_func
def scale(x: Tx.Buffer(("n",), "float32"), y: Tx.Buffer(("n",), "float32"), a: Tx.float32):
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(n, 64)])
    tx = Tx.thread_id([64])
    i: Tx.let = bx * 64 + tx
    if i < n:
        y[i] = a * x[i]


KERNEL = scale  # another name for it is not another kernel
# ruff: noqa: F821
