"""`Tx.wg_reg_tile` and its like: tiles in registers and buffers in tensor memory under their own names."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.script import from_source
from tirx.support.errors import LayoutError, ScriptError
from tirx_cuda.layout.tcgen05 import tcgen05_atom_layout
from tirx_cuda.layout.warpgroup import wg_local_layout

TARGET = "cuda -arch=sm_100a"


@Tx.prim_func
def tiles(A: Tx.Buffer((128, 16), "float32"), B: Tx.Buffer((64, 64), "bfloat16")):
    Tx.device_entry()
    Tx.cta_id([1])
    Tx.warpgroup_id([1])
    thread = Tx.thread_id([128])
    row = Tx.wg_reg_tile(16)
    mine = row.local()
    for i in range(16):
        mine[i] = A[thread, i]
    part = Tx.alloc_tcgen05_ldst_frag("16x256b", (64, 64), "float32")
    narrow = Tx.alloc_cast_frag(part, "bfloat16")
    Tx.wg.fill(part, 2.0)
    Tx.wg.cast(narrow, part)
    Tx.wg.copy(B, narrow)
    for i in range(16):
        A[thread, i] = mine[i] + 1.0


def test_tiles_compute() -> None:
    a, b = np.zeros((128, 16), np.float32), np.zeros((64, 64), ml_dtypes.bfloat16)
    assert tirx.simulate(tiles, a, b, target=TARGET).verdict == "clean"
    assert (a == 1).all()
    assert (b == 2).all()


def test_tiles_are_registers_of_a_thread() -> None:
    text = source_of(tiles, TARGET).text
    assert "float row[16];" in text
    assert "float part[32];" in text
    assert "__nv_bfloat16 narrow[32];" in text


def made(make: Any) -> Any:
    """What `make` returns in a kernel."""
    found = []

    @Tx.prim_func
    def kernel(A: Tx.Buffer((128,), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([128])
        Tx.meta_var(found.append(make()))

    return found[0]


def test_layouts() -> None:
    assert made(lambda: Tx.wg_reg_tile(8, "float16")).layout == wg_local_layout(8)
    layout = tcgen05_atom_layout("16x64b", (128, 32), "float32")
    part = made(lambda: Tx.alloc_tcgen05_ldst_frag("16x64b", (128, 32), "float32"))
    assert part.layout == layout
    cast = made(lambda: Tx.alloc_cast_frag(Tx.alloc_tcgen05_ldst_frag("16x64b", (128, 32), "float32"), "float8_e4m3fn"))
    assert (cast.layout, cast.dtype.name, cast.scope_name) == (layout, "float8_e4m3fn", "local")


def test_tensor_memory_at_a_column() -> None:
    buffer = made(lambda: Tx.tmem((128, 64), "float32", allocated_addr=(32,)))
    assert (buffer.scope_name, buffer.shape[1]) == ("tmem", 64)
    assert from_source(tiles.script()) is not None


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Tx.tmem((128, 64)), ScriptError, "needs its column"),
        (lambda: Tx.alloc_cast_frag(Tx.alloc_shared((4,)), "int8"), ScriptError, "no tile in registers"),
        (lambda: Tx.alloc_tcgen05_ldst_frag("8x8b", (64, 64), "float32"), LayoutError, "instr_shape"),
    ],
)
def test_refusals(make: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        made(make)
