"""Causal attention, forward, on a NeuronCore: softmax(q k^T / sqrt(d)) v over blocks of keys, with a running maximum.

Queries lie along the partitions of the scores, keys along the free dimension: maximum and sum of a query are reductions of its
partition. Weights are transposed by the tensor engine before they multiply the values.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

LENGTH, WIDTH, BLOCK = 200, 64, 128
SCALE = WIDTH**-0.5


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


def sbuf(*shape):
    """A float32 tile in SBUF."""
    return Tx.alloc_buffer(shape, "float32", scope="trn.sbuf", layout="PF")


def psum(*shape):
    """A float32 tile in PSUM."""
    return Tx.alloc_buffer(shape, "float32", scope="trn.psum", layout="PF")


@Tx.prim_func
def nki_attention(
    q_t: Tx.Buffer((WIDTH, LENGTH), "float32"),
    k_t: Tx.Buffer((WIDTH, LENGTH), "float32"),
    v: Tx.Buffer((LENGTH, WIDTH), "float32"),
    out: Tx.Buffer((LENGTH, WIDTH), "float32"),
):
    Tx.device_entry()
    keys = sbuf(WIDTH, LENGTH)
    Tx.nki.load(keys, k_t)
    for i, rows in pieces(LENGTH, BLOCK):
        queries = sbuf(WIDTH, rows)
        low, low_new, total, fresh, fade = sbuf(rows, 1), sbuf(rows, 1), sbuf(rows, 1), sbuf(rows, 1), sbuf(rows, 1)
        result = sbuf(rows, WIDTH)
        Tx.nki.load(queries, q_t[:, i : i + rows])
        Tx.nki.memset(low, 3e38)  # the negated maximum of no key
        Tx.nki.memset(total, 0.0)
        Tx.nki.memset(result, 0.0)
        for j, count in pieces(i + rows, BLOCK):
            scores, weights, weights_t = sbuf(rows, count), sbuf(rows, count), sbuf(count, rows)
            values, products, turned, mixed = (
                sbuf(count, WIDTH),
                psum(rows, count),
                psum(count, rows),
                psum(rows, WIDTH),
            )
            Tx.nki.load(values, v[j : j + count, :])
            Tx.nki.matmul(products, queries, keys[:, j : j + count])
            Tx.nki.tensorscalar(scores, products, SCALE, "mul")
            if i == j:  # on the diagonal, keys up to the query's own position
                Tx.nki.affine_select(scores, Tx.nki.index(0) >= Tx.nki.index(1), scores, -3e38)
            Tx.nki.tensorreduce(low_new, scores, "max", True, 1)
            Tx.nki.tensortensor(low_new, low_new, low, "min")
            Tx.nki.activation_reduce(fresh, weights, scores, "exp", "add", low_new)
            Tx.nki.tensortensor(fade, low_new, low, "sub")
            Tx.nki.activation(fade, fade, "exp")
            Tx.nki.tensor_copy(low, low_new)
            Tx.nki.scalar_tensor_tensor(total, total, fade, fresh, "mul", "add")
            Tx.nki.nc_transpose(turned, weights)
            Tx.nki.tensor_copy(weights_t, turned)
            Tx.nki.matmul(mixed, weights_t, values)
            Tx.nki.scalar_tensor_tensor(result, result, fade, mixed, "mul", "add")
        Tx.nki.reciprocal(total, total)
        Tx.nki.tensorscalar(result, result, total, "mul")
        Tx.nki.store(out[i : i + rows, :], result)


KERNEL = nki_attention
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng):
    """Queries and keys transposed, values, room for the result."""
    q_t, k_t = (rng.standard_normal((WIDTH, LENGTH), dtype=np.float32) for _ in range(2))
    return q_t, k_t, rng.standard_normal((LENGTH, WIDTH), dtype=np.float32), np.empty((LENGTH, WIDTH), np.float32)


def expected(q_t, k_t, v, out):
    """What the arrays hold afterwards."""
    scores = q_t.astype(np.float64).T @ k_t.astype(np.float64) * SCALE
    scores = np.where(np.tril(np.ones(scores.shape, bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return {"out": weights / weights.sum(axis=1, keepdims=True) @ v}
