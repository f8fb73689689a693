# RMSNorm of 1,024 rows of 512.
@Tx.prim_func
def rmsnorm(x: Tx.Buffer((1024, 512), "float32"), y: Tx.Buffer((1024, 512), "float32")):
    Tx.func_attr({"num_inputs": 1})
    Tx.device_entry()
    for i in range(8):
        row = Tx.alloc_buffer((128, 512), "float32", scope="trn.sbuf", layout="PF")
        square = Tx.alloc_buffer((128, 512), "float32", scope="trn.sbuf", layout="PF")
        norm = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.tile.copy(row, x[i * 128 : i * 128 + 128, :])
        Tx.tile.mul(square, row, row)
        Tx.tile.sum(norm, square, (1,))
        Tx.tile.sqrt(norm, norm, scale=1 / 512)
        Tx.tile.reciprocal(norm, norm)
        Tx.tile.mul(row, row, norm)
        Tx.tile.copy(y[i * 128 : i * 128 + 128, :], row)
