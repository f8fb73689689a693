"""A module whose annotations are evaluated by Python."""

from tirx import script as Tx
from tirx.script import ir as I


@I.ir_module
class Halves:
    """`B = A / 2 - 1`."""

    @Tx.prim_func
    def main(A: Tx.Buffer((64,)), B: Tx.Buffer((64,))):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        B[tx] = Halves.half(A[tx]) - Halves.one()

    @Tx.prim_func(private=True)
    def half(x: Tx.float32) -> Tx.float32:
        Tx.Return(x * 0.5)

    @Tx.prim_func(private=True)
    def one() -> Tx.float32:
        Tx.Return(1.0)
