# Softmax of 1,024 rows of 1,024: two reductions, an activation, a reciprocal.
@Tx.prim_func
def softmax(x: Tx.Buffer((1024, 1024), "float32"), y: Tx.Buffer((1024, 1024), "float32")):
    Tx.func_attr({"num_inputs": 1})
    Tx.device_entry()
    for i in range(8):
        row = Tx.alloc_buffer((128, 1024), "float32", scope="trn.sbuf", layout="PF")
        top = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf", layout="PF")
        total = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.tile.copy(row, x[i * 128 : i * 128 + 128, :])
        Tx.tile.max(top, row, (1,))
        Tx.tile.sub(row, row, top)
        Tx.tile.exp(row, row)
        Tx.tile.sum(total, row, (1,))
        Tx.tile.reciprocal(total, total)
        Tx.tile.mul(row, row, total)
        Tx.tile.copy(y[i * 128 : i * 128 + 128, :], row)
