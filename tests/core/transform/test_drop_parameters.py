"""Kernels take only what they use, and their launches pass only that."""

from __future__ import annotations

import tirx
from tirx import script as Tx
from tirx.ir import Launch, PrimFunc, walk
from tirx.script import from_source


@Tx.prim_func
def scale(A: Tx.Buffer(("rows", "n"), "float32"), factor: Tx.float32):
    Tx.device_entry()
    row = Tx.cta_id([rows])  # noqa: F821
    thread = Tx.thread_id([64])
    if thread < n:  # noqa: F821
        A[row, thread] = A[row, thread] * factor


def names(func: PrimFunc) -> list[str]:
    return [param.name for param in func.params]


def test_what_only_sizes_the_grid_is_not_passed() -> None:
    made = tirx.compile(scale, "generic")
    assert names(made.lowered["scale_kernel"])[1:] == ["factor", "rows", "n"]
    kernel = made.prepared["scale_kernel"]
    assert names(kernel)[1:] == ["factor", "n"]
    (launch,) = (node for node in walk(made.host().body) if isinstance(node, Launch))
    assert len(launch.args) == len(kernel.params) == 3
    assert made.launch_plan[0].geometry["cta.x"] == "rows"
    assert made.launch_plan[0].arguments[1:] == ("factor", "n")


def test_the_text_still_reads_back() -> None:
    prepared = tirx.compile(scale, "generic").prepared
    assert from_source(prepared.script()).script() == prepared.script()


def test_a_kernel_that_uses_everything_stays() -> None:
    @Tx.prim_func
    def copy(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32"), n: Tx.int32):
        Tx.device_entry()
        thread = Tx.thread_id([64])
        if thread < n:
            B[thread] = A[thread]

    made = tirx.compile(copy, "generic")
    assert names(made.prepared["copy_kernel"]) == names(made.lowered["copy_kernel"])
