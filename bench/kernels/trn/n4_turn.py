# A 512 x 512 matrix whose rows lie along the partitions, then its columns: turned on the tensor engine.
@Tx.prim_func
def turn(a: Tx.Buffer((512, 512), "float32"), b: Tx.Buffer((512, 512), "float32")):
    Tx.func_attr({"num_inputs": 1})
    Tx.device_entry()
    rows = Tx.alloc_buffer((512, 512), "float32", scope="trn.sbuf", layout="PF")
    columns = Tx.alloc_buffer((512, 512), "float32", scope="trn.sbuf", layout="FP")
    Tx.tile.copy(rows, a)
    Tx.tile.copy(columns, rows)
    Tx.tile.copy(b, columns)
