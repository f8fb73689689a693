"""A kernel with names and arguments that are not there: type checkers must see each with the stubs of `tirx stubs`."""

# mypy: disable-error-code="valid-type, type-arg, name-defined"
import tirx
from tirx import script as Tx


@Tx.prim_func
def wrong(x: Tx.Buffer((64,), "float32"), y: Tx.Buffer((64,), "float32"), n: Tx.int32):
    Tx.device_entryy()
    tx = Tx.thread_id([64])
    v: Tx.float32 = Tx.sqrtt(x[tx])
    Tx.sqrt(x[tx], x[tx])
    Tx.cuda.cta_syncc()
    Tx.cuda.__shfl_sync(1)
    Tx.ptx.ldd.global_.f32(v, x.ptr_to([tx]))
    Tx.ptx.mbarrier.init.shared.b63(x.ptr_to([0]), 1)
    Tx.nki.loadd(x, y)
    Tx.nki.load(x)
    Tx.warp.copy(x)
    Tx.tile.add(x, y, y, dispatchh="a", dispatch=3)


tirx.compilee(wrong, "cuda")
