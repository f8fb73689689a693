# A product of 512 x 512 matrices, the left one given transposed; summed in PSUM.
@Tx.prim_func
def matmul(
    a: Tx.Buffer((512, 512), "float32"), b: Tx.Buffer((512, 512), "float32"), c: Tx.Buffer((512, 512), "float32")
):
    Tx.func_attr({"num_inputs": 2})
    Tx.device_entry()
    left = Tx.alloc_buffer((512, 512), "float32", scope="trn.sbuf", layout="PF")
    right = Tx.alloc_buffer((512, 512), "float32", scope="trn.sbuf", layout="PF")
    done = Tx.alloc_buffer((512, 512), "float32", scope="trn.sbuf", layout="PF")
    Tx.tile.copy(left, a)
    Tx.tile.copy(right, b)
    Tx.tile.gemm(done, left, right, done, transpose_A=True, beta=0.0)
    Tx.tile.copy(c, done)
