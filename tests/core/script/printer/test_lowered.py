"""Programs can be written and read back after every pass of the neutral pipeline."""

from __future__ import annotations

from typing import Any

import pytest

from tirx import script as Tx
from tirx.ir import IRModule, PrimFunc
from tirx.target import Target
from tirx.testing import assert_round_trip
from tirx.transform.pipeline import Pass, PassContext
from tirx.transform.simt import SIMT_LOWER, SIMT_PREPARE

STEPS = tuple(step for step in SIMT_LOWER + SIMT_PREPARE if isinstance(step, Pass))


def reduction() -> PrimFunc:
    def body(A: Any, total: Any, n: Any) -> None:
        Tx.device_entry()
        block = Tx.cta_id([Tx.ceildiv(n, 64)])
        thread = Tx.thread_id([64])
        partial = Tx.alloc_shared((64,))
        index = Tx.bind(block * 64 + thread)
        partial[thread] = Tx.if_then_else(index < n, A[Tx.min(index, n - 1)], 0.0)
        Tx.tvm_storage_sync("shared")
        for step in (32, 16, 8, 4, 2, 1):
            with Tx.If(thread < step), Tx.Then():
                partial[thread] = partial[thread] + partial[thread + step]
            Tx.tvm_storage_sync("shared")
        with Tx.If(thread == 0), Tx.Then():
            Tx.atomic_add(total.ptr_to([0]), partial[0])

    return Tx.trace(body, Tx.Buffer((4096,)), Tx.Buffer((1,)), Tx.int32, name="reduction")


def copy_rows() -> PrimFunc:
    def body(A: Any, B: Any) -> None:
        Tx.device_entry()
        row = Tx.cta_id([8])
        lane = Tx.thread_id([32])
        keep = Tx.alloc_local((4,), "float16")
        count = Tx.local_scalar("int32")
        count.assign(0)
        for i in Tx.vectorized(4):
            keep[i] = A[row, lane * 4 + i]
        for i in Tx.unroll(4):
            B[row, lane * 4 + i] = keep[i]
            count.assign(count + 1)

    return Tx.trace(body, Tx.Buffer((8, 128), "float16"), Tx.Buffer((8, 128), "float16"), name="copy_rows")


@pytest.mark.parametrize("kernel", [reduction(), copy_rows()], ids=lambda kernel: kernel.name)
def test_reads_back_after_every_pass(kernel: PrimFunc) -> None:
    context = PassContext(Target("generic"))
    module = IRModule([kernel])
    assert_round_trip(module)
    for step in STEPS:
        module = step.run(module, context)
        assert_round_trip(module)
    assert {func.attrs["role"] for func in module} == {"host", "device"}
