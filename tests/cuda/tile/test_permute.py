"""`permute_layout` by a warp: right in every element size and layout, with fewer conflicts of banks than the neutral variant."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.ir import DType
from tirx.ir.numpy_types import numpy_dtype
from tirx.layout import ComposeLayout, S, TileLayout
from tirx.support.errors import DispatchError

TARGET = "cuda -arch=sm_80"
SHAPES = [
    (32, 32, "float32"), (64, 32, "float16"), (16, 16, "float64"), (64, 64, "uint8"), (32, 24, "float32"), (8, 12, "float32"),
    (16, 32, "bfloat16"),
]  # fmt: skip


def columns(rows, width, padding=0):
    return TileLayout(S[(rows, width) : (1, rows + padding)])


def turned(rows, width, dtype, variant, *, source="shared", layout=None, scope="warp", threads=32):
    """A tile that changes from rows to columns where it lies, and is read through its new layout."""

    @Tx.prim_func
    def kernel(A: Tx.Buffer((rows, width), dtype), B: Tx.Buffer((rows, width), dtype)):
        Tx.device_entry()
        Tx.thread_id([threads])
        tile = Tx.alloc_buffer((rows, width), dtype, scope="shared")
        Tx.cta.copy(tile, A)
        Tx.tvm_storage_sync("shared")
        after = tile.view(rows, width, layout=layout or columns(rows, width))
        getattr(Tx, scope).permute_layout(after, tile if source == "shared" else A, dispatch=variant)
        Tx.tvm_storage_sync("shared")
        Tx.cta.copy(B, after)

    return kernel


def passes(rows, width, dtype, variant):
    """Turns of the banks that writing the new layout takes; the result is compared."""
    a = (np.arange(rows * width) % 100).reshape(rows, width).astype(numpy_dtype(DType(dtype)))
    b = np.zeros_like(a)
    report = tirx.simulate(turned(rows, width, dtype, variant), a, b, target=TARGET)
    assert report.verdict == "clean", str(report)
    assert (a == b).all()
    return sum(line.passes for line in report.lines if line.space == "shared" and line.store and line.buffer != "tile")


@pytest.mark.parametrize(("rows", "width", "dtype"), SHAPES)
def test_in_place(rows, width, dtype):
    mine, neutral = (passes(rows, width, dtype, variant) for variant in ("warp_xor_swizzle", "registers"))
    assert mine <= neutral
    if rows >= 16 and width >= 16:
        assert mine * 4 < neutral


def test_no_conflicts_at_all_between_rows_and_columns_of_words():
    assert passes(32, 32, "float32", "warp_xor_swizzle") == 32
    assert passes(32, 32, "float32", "registers") == 1024


def test_it_is_taken_without_being_asked_for():
    text = str(tirx.compile(turned(32, 32, "float32", None), TARGET).source)
    assert "moved[i] = tile[(i ^ thread_in_warp) * 32 + thread_in_warp];" in text
    assert text.count("__syncwarp();") == 1


def test_refusals_say_why():
    def refusal(*arguments, **keywords):
        with pytest.raises(DispatchError) as raised:
            tirx.compile(turned(*arguments, "warp_xor_swizzle", **keywords), TARGET)
        return " ".join(str(raised.value).split())

    half = ComposeLayout(3, 2, 3, TileLayout(S[(32, 64) : (64, 1)]))
    assert "call it in warp scope (scope=cta, threads=64)" in refusal(32, 32, "float32", scope="cta", threads=64)
    assert "both sides must be in shared memory (dst=shared, src=global)" in refusal(32, 32, "float32", source="global")
    assert "both layouts must be plain strides" in refusal(32, 64, "float16", layout=half)
    assert "cannot be shared out among the lanes (elements=70, lanes=32)" in refusal(7, 10, "float32")
    assert "a lane cannot hold its part in registers (bytes=1280, most=1024)" in refusal(128, 80, "float32")
