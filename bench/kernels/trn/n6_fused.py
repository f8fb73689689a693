# Fused forms: two binary steps in one instruction, an activation with its sum.
@Tx.prim_func
def fused(x: Tx.Buffer((512, 512), "float32"), y: Tx.Buffer((512, 512), "float32"), s: Tx.Buffer((512, 1), "float32")):
    Tx.func_attr({"num_inputs": 1})
    Tx.device_entry()
    for i in range(4):
        row = Tx.alloc_buffer((128, 512), "float32", scope="trn.sbuf", layout="PF")
        total = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.tile.copy(row, x[i * 128 : i * 128 + 128, :])
        Tx.tile.binary_chain(row, row, 2.0, row, "mul", "add")
        Tx.tile.unary_reduce(row, total, row, "exp", "sum")
        Tx.tile.copy(y[i * 128 : i * 128 + 128, :], row)
        Tx.tile.copy(s[i * 128 : i * 128 + 128, :], total)
