"""A matrix product on a NeuronCore, by tile operations: `gemm` tiles M, N and K, sums in PSUM, and takes either placement of a matrix.

A is loaded as it lies in device memory, with its rows on partitions; `gemm` wants K there and transposes it on the tensor engine. The
left edges of M, N and K need no code.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

M, N, K = 200, 700, 300


def groups(rows):
    """Rows of a tile that holds so many: whole groups of partitions."""
    return rows if rows <= 128 else -(-rows // 128) * 128


@Tx.prim_func
def nki_tile_matmul(
    a: Tx.Buffer((M, K), "bfloat16"), b: Tx.Buffer((K, N), "bfloat16"), c: Tx.Buffer((M, N), "float32")
):
    Tx.device_entry()
    left = Tx.alloc_buffer((groups(M), K), "bfloat16", scope="trn.sbuf", layout="PF")
    right = Tx.alloc_buffer((groups(K), N), "bfloat16", scope="trn.sbuf", layout="PF")
    result = Tx.alloc_buffer((groups(M), N), "float32", scope="trn.sbuf", layout="PF")
    Tx.tile.copy_async(left[0:M], a)
    Tx.tile.copy_async(right[0:K], b)
    Tx.tile.gemm(result[0:M], left[0:M], right[0:K], result[0:M])
    Tx.tile.copy(c, result[0:M])


KERNEL = nki_tile_matmul
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng):
    """Both matrices, and room for the result."""
    import ml_dtypes

    left, right = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((M, K), (K, N)))
    return left, right, np.empty((M, N), np.float32)


def expected(a, b, c):
    """What the arrays hold afterwards."""
    return {"c": a.astype(np.float64) @ b.astype(np.float64)}
