"""A gated MLP in one kernel on a NeuronCore: (silu(x gate) * (x up)) down, in bfloat16 with float32 sums.

The first two products come out transposed, hidden units along the partitions, which is how the third one wants its left operand: nothing
is transposed, and the hidden layer never leaves SBUF.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

TOKENS, WIDTH, HIDDEN, BLOCK = 200, 192, 320, 128


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


INPUTS, OUTPUTS = len(pieces(WIDTH, BLOCK)), len(pieces(HIDDEN, BLOCK))


def tile(shape, dtype="bfloat16", scope="trn.sbuf"):
    """A tile; partitions first."""
    return Tx.alloc_buffer(shape, dtype, scope=scope, layout="P" + "F" * (len(shape) - 1))


@Tx.inline
def rows_of(kept, matrix, total):
    """A matrix in SBUF: rows along the partitions, groups of 128 of them behind each other."""
    for number, (first, count) in enumerate(pieces(total, BLOCK)):
        Tx.nki.load(kept[0:count, number, :], matrix[first : first + count, :])


@Tx.prim_func
def nki_mlp(
    x_t: Tx.Buffer((WIDTH, TOKENS), "bfloat16"),
    gate: Tx.Buffer((WIDTH, HIDDEN), "bfloat16"),
    up: Tx.Buffer((WIDTH, HIDDEN), "bfloat16"),
    down: Tx.Buffer((HIDDEN, WIDTH), "bfloat16"),
    out: Tx.Buffer((TOKENS, WIDTH), "float32"),
):
    Tx.device_entry()
    x, g, u = tile((BLOCK, INPUTS, TOKENS)), tile((BLOCK, INPUTS, HIDDEN)), tile((BLOCK, INPUTS, HIDDEN))
    d, hidden = tile((BLOCK, OUTPUTS, WIDTH)), tile((BLOCK, OUTPUTS, TOKENS))
    rows_of(x, x_t, WIDTH)
    rows_of(g, gate, WIDTH)
    rows_of(u, up, WIDTH)
    rows_of(d, down, HIDDEN)
    for h, (first, units) in enumerate(pieces(HIDDEN, BLOCK)):
        gated, lifted = (tile((units, TOKENS), "float32", "trn.psum") for _ in range(2))
        active = tile((units, TOKENS), "float32")
        for k, (_, deep) in enumerate(pieces(WIDTH, BLOCK)):
            Tx.nki.matmul(gated, g[0:deep, k, first : first + units], x[0:deep, k, :])
            Tx.nki.matmul(lifted, u[0:deep, k, first : first + units], x[0:deep, k, :])
        Tx.nki.activation(active, gated, "silu")
        Tx.nki.tensortensor(hidden[0:units, h, :], active, lifted, "mul")
    for t, tokens in pieces(TOKENS, BLOCK):
        total, result = tile((tokens, WIDTH), "float32", "trn.psum"), tile((tokens, WIDTH), "float32")
        for h, (_, units) in enumerate(pieces(HIDDEN, BLOCK)):
            Tx.nki.matmul(total, hidden[0:units, h, t : t + tokens], d[0:units, h, :])
        Tx.nki.tensor_copy(result, total)
        Tx.nki.store(out[t : t + tokens, :], result)


KERNEL = nki_mlp
TARGET = "trn"
TOLERANCE = 2e-2  # the hidden layer is rounded to bfloat16


def arguments(rng):
    """Tokens transposed, the three matrices, room for the result."""
    import ml_dtypes

    shapes = ((WIDTH, TOKENS), (WIDTH, HIDDEN), (WIDTH, HIDDEN), (HIDDEN, WIDTH))
    scales = (1.0, WIDTH**-0.5, WIDTH**-0.5, HIDDEN**-0.5)
    made = [
        (rng.standard_normal(shape) * scale).astype(ml_dtypes.bfloat16)
        for shape, scale in zip(shapes, scales, strict=True)
    ]
    return *made, np.empty((TOKENS, WIDTH), np.float32)


def expected(x_t, gate, up, down, out):
    """What the arrays hold afterwards."""
    x, gate, up, down = (array.astype(np.float64) for array in (x_t.T, gate, up, down))
    gated = x @ gate
    return {"out": gated / (1 + np.exp(-gated)) * (x @ up) @ down}
