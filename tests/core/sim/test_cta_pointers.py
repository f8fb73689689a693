"""Pointers into the memory of a cta, kept in a variable; loops whose condition is a constant."""

from __future__ import annotations

import numpy as np

import tirx
from tirx import script as Tx


@Tx.prim_func
def offset_pointer(x: Tx.Buffer((2, 64), "float32"), y: Tx.Buffer((2, 64), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([2])
    tx = Tx.thread_id([64])
    pool = Tx.alloc_buffer((512,), "uint8", scope="shared")
    p: Tx.let = Tx.ptr_byte_offset(pool.data, 256, "float32")
    s = Tx.decl_buffer((64,), "float32", data=p, scope="shared")
    s[tx] = x[bx, tx]
    Tx.tvm_storage_sync("shared")
    y[bx, tx] = s[63 - tx]


@Tx.prim_func
def endless(x: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    while True:
        if x[tx] >= 10:
            break
        x[tx] += 1


def test_a_pointer_into_shared_memory_is_another_one_in_each_cta() -> None:
    x, y = np.arange(128, dtype=np.float32).reshape(2, 64), np.zeros((2, 64), np.float32)
    assert tirx.simulate(offset_pointer, x, y, target="generic").verdict == "clean"
    np.testing.assert_array_equal(y, x[:, ::-1])


def test_a_loop_without_a_condition() -> None:
    x = np.arange(64, dtype=np.int32)
    assert tirx.simulate(endless, x, target="generic").verdict == "clean"
    np.testing.assert_array_equal(x, np.maximum(np.arange(64), 10))
