"""Rotary position embedding on a NeuronCore: halves of each row are rotated by the angles of its position."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

LENGTH, WIDTH = 300, 128
HALF = WIDTH // 2


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


@Tx.prim_func
def nki_rope(
    x: Tx.Buffer((LENGTH, WIDTH), "float32"),
    cos: Tx.Buffer((LENGTH, HALF), "float32"),
    sin: Tx.Buffer((LENGTH, HALF), "float32"),
    y: Tx.Buffer((LENGTH, WIDTH), "float32"),
):
    Tx.device_entry()
    for r, p in pieces(LENGTH, 128):
        row = Tx.alloc_buffer((p, 2, HALF), "float32", scope="trn.sbuf", layout="PFF")
        turned = Tx.alloc_buffer((p, 2, HALF), "float32", scope="trn.sbuf", layout="PFF")
        angle = Tx.alloc_buffer((p, 2, HALF), "float32", scope="trn.sbuf", layout="PFF")
        part = Tx.alloc_buffer((p, HALF), "float32", scope="trn.sbuf", layout="PF")
        for half in range(2):
            Tx.nki.load(row[:, half, :], x[r : r + p, half * HALF : half * HALF + HALF])
        Tx.nki.load(angle[:, 0, :], cos[r : r + p, :])
        Tx.nki.load(angle[:, 1, :], sin[r : r + p, :])
        Tx.nki.tensortensor(turned[:, 0, :], row[:, 0, :], angle[:, 0, :], "mul")
        Tx.nki.tensortensor(part, row[:, 1, :], angle[:, 1, :], "mul")
        Tx.nki.tensortensor(turned[:, 0, :], turned[:, 0, :], part, "sub")
        Tx.nki.tensortensor(turned[:, 1, :], row[:, 1, :], angle[:, 0, :], "mul")
        Tx.nki.tensortensor(part, row[:, 0, :], angle[:, 1, :], "mul")
        Tx.nki.tensortensor(turned[:, 1, :], turned[:, 1, :], part, "add")
        for half in range(2):
            Tx.nki.store(y[r : r + p, half * HALF : half * HALF + HALF], turned[:, half, :])


KERNEL = nki_rope
TARGET = "trn"
TOLERANCE = 1e-6


def arguments(rng):
    """Rows, cosines and sines of their positions, room for the result."""
    angles = np.arange(LENGTH)[:, None] * 10000.0 ** (-np.arange(HALF) / HALF)
    x = rng.standard_normal((LENGTH, WIDTH), dtype=np.float32)
    return x, np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32), np.empty_like(x)


def expected(x, cos, sin, y):
    """What the arrays hold afterwards."""
    a, b = x[:, :HALF].astype(np.float64), x[:, HALF:].astype(np.float64)
    return {"y": np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=1)}
