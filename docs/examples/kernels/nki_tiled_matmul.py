"""A matrix product of any size on a NeuronCore: K, M and N beyond every limit of one instruction, with ragged edges.

A strip of 512 columns of the right matrix stays in SBUF while all rows of the left one pass by; products along K add up in one
PSUM bank. `nki_tiled_matmul.specialize(dtype="float32", ...)` makes the float32 kernel.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS, DEEP = 128, 512, 128  # what one instruction multiplies


@Tx.jit
def nki_tiled_matmul(
    lhs_t: Tx.Buffer((K, M), dtype),
    rhs: Tx.Buffer((K, N), dtype),
    out: Tx.Buffer((M, N), "float32"),
    *,
    M: Tx.constexpr,
    N: Tx.constexpr,
    K: Tx.constexpr,
    dtype: Tx.constexpr,
):
    steps, rest = Tx.meta_var(K // DEEP), Tx.meta_var(K % DEEP)

    @Tx.inline
    def strip(tile, matrix, first, count):
        """Columns `first` ... of a matrix, all of K."""
        for k in range(steps):
            Tx.nki.load(tile[:, k, 0:count], matrix[k * DEEP : k * DEEP + DEEP, first : first + count])
        if rest:
            Tx.nki.load(tile[0:rest, steps, 0:count], matrix[K - rest : K, first : first + count])

    @Tx.inline
    def block(right, i, rows, j, columns):
        left = Tx.alloc_buffer((DEEP, steps + 1, ROWS), dtype, scope="trn.sbuf", layout="PFF")
        acc = Tx.alloc_buffer((ROWS, COLUMNS), "float32", scope="trn.psum", layout="PF")
        result = Tx.alloc_buffer((ROWS, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        strip(left, lhs_t, i, rows)
        for k in range(steps):
            Tx.nki.matmul(acc[0:rows, 0:columns], left[:, k, 0:rows], right[:, k, 0:columns])
        if rest:
            Tx.nki.matmul(acc[0:rows, 0:columns], left[0:rest, steps, 0:rows], right[0:rest, steps, 0:columns])
        Tx.nki.tensor_copy(result[0:rows, 0:columns], acc[0:rows, 0:columns])
        Tx.nki.store(out[i : i + rows, j : j + columns], result[0:rows, 0:columns])

    @Tx.inline
    def columns_of(j, columns):
        right = Tx.alloc_buffer((DEEP, steps + 1, COLUMNS), dtype, scope="trn.sbuf", layout="PFF")
        strip(right, rhs, j, columns)
        for i in range(M // ROWS):
            block(right, i * ROWS, ROWS, j, columns)
        if M % ROWS:
            block(right, M - M % ROWS, M % ROWS, j, columns)

    Tx.device_entry()
    for j in range(N // COLUMNS):
        columns_of(j * COLUMNS, COLUMNS)
    if N % COLUMNS:
        columns_of(N - N % COLUMNS, N % COLUMNS)


SIZE = {"M": 200, "N": 1100, "K": 300}
KERNEL = nki_tiled_matmul.specialize(**SIZE, dtype="bfloat16")
KERNEL_FLOAT32 = nki_tiled_matmul.specialize(**SIZE, dtype="float32")
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng, dtype="bfloat16"):
    """The left matrix transposed, the right one, room for the result."""
    import ml_dtypes

    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.float32
    left, right = (rng.standard_normal((SIZE["K"], SIZE[side])).astype(kind) for side in "MN")
    return left, right, np.empty((SIZE["M"], SIZE["N"]), np.float32)


def expected(lhs_t, rhs, out):
    """What the arrays hold afterwards."""
    return {"out": lhs_t.astype(np.float64).T @ rhs.astype(np.float64)}
