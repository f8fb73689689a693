"""A 5 x 5 convolution of an image, edges repeated: each block loads its tile with a margin into shared memory once.

This kernel is traced, not parsed: `build` is a plain Python function, its loops over the filter run in Python, and what it calls
is appended to the kernel.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

TILE, RADIUS = 16, 2
SIDE = TILE + 2 * RADIUS


def build():
    """The kernel `convolve(image, weights, result)`."""
    with Tx.builder.Builder() as ib:
        with Tx.prim_func():
            Tx.func_name("convolve")
            height, width = Tx.var("int32", "height"), Tx.var("int32", "width")
            image = Tx.arg("image", Tx.Buffer((height, width), "float32"))
            weights = Tx.arg("weights", Tx.Buffer((5, 5), "float32"))
            result = Tx.arg("result", Tx.Buffer((height, width), "float32"))
            Tx.device_entry()
            bx, by = Tx.cta_id([Tx.ceildiv(width, TILE), Tx.ceildiv(height, TILE)])
            tx, ty = Tx.thread_id([TILE, TILE])
            tile = Tx.alloc_shared((SIDE, SIDE), "float32")
            for first in range(0, SIDE * SIDE, TILE * TILE):
                load(tile, image, bx, by, first + ty * TILE + tx)
            Tx.evaluate(Tx.cuda.cta_sync())
            total = Tx.Bind(stencil(tile, weights, tx, ty))
            x, y = bx * TILE + tx, by * TILE + ty
            with Tx.If(Tx.And(y < height, x < width)):
                with Tx.Then():
                    Tx.buffer_store(result, total, [y, x])
    return ib.get()


def load(tile, image, bx, by, element):
    """Bring one element of the tile, from the nearest pixel that exists."""
    height, width = image.shape
    row = Tx.min(Tx.max(by * TILE + element // SIDE - RADIUS, 0), height - 1)
    column = Tx.min(Tx.max(bx * TILE + element % SIDE - RADIUS, 0), width - 1)
    with Tx.If(element < SIDE * SIDE):
        with Tx.Then():
            Tx.buffer_store(tile, image[row, column], [element // SIDE, element % SIDE])


def stencil(tile, weights, tx, ty):
    """The weighted sum around one pixel, as one expression."""
    return sum(weights[dy, dx] * tile[ty + dy, tx + dx] for dy in range(5) for dx in range(5))


KERNEL = build()
TARGET = "cuda"
TOLERANCE = 1e-4


def arguments(rng, image=None):
    """An image (a photograph, where one is given), filter weights, room for the result."""
    image = (
        rng.standard_normal((250, 300), dtype=np.float32) if image is None else np.ascontiguousarray(image, np.float32)
    )
    bell = np.exp(-(np.arange(-2, 3, dtype=np.float32) ** 2) / 2)
    weights = np.outer(bell, bell)
    return image, weights / weights.sum(), np.empty_like(image)


def expected(image, weights, result):
    """What the arrays hold afterwards."""
    padded = np.pad(image.astype(np.float64), RADIUS, mode="edge")
    height, width = image.shape
    parts = (weights[dy, dx] * padded[dy : dy + height, dx : dx + width] for dy in range(5) for dx in range(5))
    return {"result": sum(parts)}
