# Elementwise work on rows that go round the partitions twice: activation, sums and products of tiles, a scalar.
@Tx.prim_func
def elementwise(
    x: Tx.Buffer((1024, 512), "float32"), y: Tx.Buffer((1024, 512), "float32"), z: Tx.Buffer((1024, 512), "float32")
):
    Tx.func_attr({"num_inputs": 2})
    Tx.device_entry()
    for i in range(4):
        a = Tx.alloc_buffer((256, 512), "float32", scope="trn.sbuf", layout="PF")
        b = Tx.alloc_buffer((256, 512), "float32", scope="trn.sbuf", layout="PF")
        Tx.tile.copy(a, x[i * 256 : i * 256 + 256, :])
        Tx.tile.copy(b, y[i * 256 : i * 256 + 256, :])
        Tx.tile.exp(a, a)
        Tx.tile.add(a, a, b)
        Tx.tile.mul(b, a, b)
        Tx.tile.mul(b, b, 0.5)
        Tx.tile.copy(z[i * 256 : i * 256 + 256, :], b)
