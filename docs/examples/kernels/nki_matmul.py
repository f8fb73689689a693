"""A matrix product on a NeuronCore, with an exponential on the way out.

The tensor engine multiplies 128 x 128 by 128 x 512 tiles and contracts along the partitions, so the left matrix comes
transposed. Products along K accumulate in one PSUM bank; the scalar engine reads them from there.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

M = N = K = 512


@Tx.prim_func
def nki_matmul(
    lhs_t: Tx.Buffer((K, M), "bfloat16"), rhs: Tx.Buffer((K, N), "bfloat16"), out: Tx.Buffer((M, N), "float32")
):
    Tx.device_entry()
    for i in range(M // 128):
        for j in range(N // 512):
            acc = Tx.alloc_buffer((128, 512), "float32", scope="trn.psum", layout="PF")
            for k in range(K // 128):
                left = Tx.alloc_buffer((128, 128), "bfloat16", scope="trn.sbuf", layout="PF")
                right = Tx.alloc_buffer((128, 512), "bfloat16", scope="trn.sbuf", layout="PF")
                Tx.nki.load(left, lhs_t[k * 128 : k * 128 + 128, i * 128 : i * 128 + 128])
                Tx.nki.load(right, rhs[k * 128 : k * 128 + 128, j * 512 : j * 512 + 512])
                Tx.nki.matmul(acc, left, right)
            result = Tx.alloc_buffer((128, 512), "float32", scope="trn.sbuf", layout="PF")
            Tx.nki.activation(result, acc, "exp", 0.0, 1.0 / K)
            Tx.nki.store(out[i * 128 : i * 128 + 128, j * 512 : j * 512 + 512], result)


KERNEL = nki_matmul
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng):
    """The left matrix transposed, the right one, room for the result."""
    import ml_dtypes

    left, right = (rng.standard_normal((K, size)).astype(ml_dtypes.bfloat16) for size in (M, N))
    return left, right, np.empty((M, N), np.float32)


def expected(lhs_t, rhs, out):
    """What the arrays hold afterwards."""
    return {"out": np.exp(lhs_t.astype(np.float64).T @ rhs.astype(np.float64) / K)}
