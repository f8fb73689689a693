"""Average pooling of images on a NeuronCore: a channel a partition, windows as strided slices of it."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

CHANNELS, HEIGHT, WIDTH, POOL = 150, 24, 36, 3
HIGH, WIDE = HEIGHT // POOL, WIDTH // POOL


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


@Tx.prim_func
def nki_average_pool(
    image: Tx.Buffer((CHANNELS, HEIGHT, WIDTH), "float32"), out: Tx.Buffer((CHANNELS, HIGH, WIDE), "float32")
):
    Tx.device_entry()
    windows = image.view(CHANNELS, HIGH, POOL, WIDE, POOL)
    for c, p in pieces(CHANNELS, 128):
        tile = Tx.alloc_buffer((p, HIGH, POOL, WIDE, POOL), "float32", scope="trn.sbuf", layout="PFFFF")
        total = Tx.alloc_buffer((p, HIGH, WIDE), "float32", scope="trn.sbuf", layout="PFF")
        Tx.nki.load(tile, windows[c : c + p, :, :, :, :])
        Tx.nki.tensor_copy(total, tile[:, :, 0, :, 0])
        for i in range(POOL):
            for j in range(POOL):
                if i + j > 0:
                    Tx.nki.tensortensor(total, total, tile[:, :, i, :, j], "add")
        Tx.nki.tensorscalar(total, total, 1 / POOL**2, "mul")
        Tx.nki.store(out[c : c + p, :, :], total)


KERNEL = nki_average_pool
TARGET = "trn"
TOLERANCE = 1e-6


def arguments(rng):
    """Images by channel, room for the result."""
    return rng.standard_normal((CHANNELS, HEIGHT, WIDTH), dtype=np.float32), np.empty(
        (CHANNELS, HIGH, WIDE), np.float32
    )


def expected(image, out):
    """What the arrays hold afterwards."""
    return {"out": image.astype(np.float64).reshape(CHANNELS, HIGH, POOL, WIDE, POOL).mean(axis=(2, 4))}
