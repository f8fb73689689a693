"""Traced and parsed kernels are one language: each calls the other's helpers, and both build the same program."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.script.builder import kernels
from tirx import script as Tx
from tirx.ir import structural_equal
from tirx.support.errors import ScriptError


def traced_sum(A: Any, n: int) -> Any:
    """A plain Python helper: Python's loop unrolls, the language's builds."""
    total = Tx.local_scalar("float32")
    total.assign(0)
    for i in range(n):
        total.assign(total + A[i])
    with Tx.If(total > 8.0), Tx.Then():
        total.assign(8.0)
    return total


@Tx.inline
def parsed_store(B, i, value):
    if value > 0.0:
        B[i] = value
    else:
        B[i] = 0.0


@Tx.prim_func
def parsed(A: Tx.Buffer((64,)), B: Tx.Buffer((64,))):
    Tx.device_entry()
    i = Tx.thread_id([64])
    parsed_store(B, i, A[i])
    B[i] = traced_sum(A, 2) + 1.0


def traced(A: Any, B: Any) -> None:
    Tx.device_entry()
    i = Tx.thread_id([64])
    parsed_store(B, i, A[i])
    B[i] = traced_sum(A, 2) + 1.0


def test_both_ways_build_the_same_program() -> None:
    kernel = Tx.trace(traced, Tx.Buffer((64,)), Tx.Buffer((64,)), name="parsed")
    assert structural_equal(kernel, parsed)
    assert kernels.script(kernel) == kernels.script(parsed)


def test_frames_work_in_parsed_kernels() -> None:
    @Tx.prim_func
    def with_frames(A: Tx.Buffer((64,)), n: Tx.int32):
        with Tx.serial(n) as i:
            with Tx.If(i > 3):
                with Tx.Then():
                    A[i] = 1.0
                with Tx.Else():
                    A[i] = 2.0

    @Tx.prim_func
    def plain(A: Tx.Buffer((64,)), n: Tx.int32):
        for i in range(n):
            if i > 3:
                A[i] = 1.0
            else:
                A[i] = 2.0

    assert structural_equal(with_frames.replaced(name="k", attrs={}), plain.replaced(name="k", attrs={}))


def test_launch_threads_for_the_rest_of_a_parsed_kernel() -> None:
    @Tx.prim_func
    def launched(A: Tx.Buffer((64,))):
        bx = Tx.launch_thread("group.x", 2)
        tx = Tx.launch_thread("item.x", 32)
        A[bx * 32 + tx] = 1.0

    assert kernels.script(launched) == (
        "@T.prim_func\n"
        "def launched(A: T.Buffer((64,))):\n"
        '    for bx in T.thread_binding(2, thread="group.x"):\n'
        '        for tx in T.thread_binding(32, thread="item.x"):\n'
        "            A[bx * 32 + tx] = 1.0"
    )


def test_an_error_in_a_helper_names_its_callers() -> None:
    def helper(A: Any) -> None:
        A[64] = 1.0

    def outer(A: Any) -> None:
        helper(A)

    with pytest.raises(ScriptError) as caught:
        Tx.trace(outer, Tx.Buffer((64,)))
    span = caught.value.span
    assert span is not None
    assert span.called_from is not None
    assert (span.line, span.called_from.line) == (helper.__code__.co_firstlineno + 1, outer.__code__.co_firstlineno + 1)
    assert "called from" in str(caught.value)


def test_spans_point_at_the_authors_lines() -> None:
    def body(A: Any) -> None:
        A[0] = 1.0
        with Tx.serial(4) as i:
            A[i] = 2.0

    kernel = Tx.trace(body, Tx.Buffer((64,)))
    first = body.__code__.co_firstlineno
    assert [stmt.span.line - first for stmt in kernel.body.stmts] == [1, 2]
    assert kernel.body.stmts[1].body.span.line - first == 3
    assert kernel.span is not None
    assert kernel.span.line == first


def test_a_failing_kernel_leaves_no_builder_behind() -> None:
    def broken(A: Any) -> None:
        with Tx.serial(4), Tx.If(A[0] > 1.0), Tx.Then():
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Tx.trace(broken, Tx.Buffer((4,)))
    with pytest.raises(ScriptError, match="belongs in a kernel"):
        Tx.evaluate(0)


def test_kernels_can_be_defined_while_another_is_built() -> None:
    def outer(A: Any) -> None:
        A[0] = 1.0
        inner = Tx.trace(lambda B: B.__setitem__(0, 2.0), Tx.Buffer((4,)), name="inner")
        assert kernels.script(inner).endswith("B[0] = 2.0")
        A[1] = 3.0

    assert kernels.script(Tx.trace(outer, Tx.Buffer((4,)))).endswith("A[0] = 1.0\n    A[1] = 3.0")


def test_defaults_and_methods_can_be_traced() -> None:
    class Kernels:
        value = 3.0

        def fill(self, A: Any, start: int = 2) -> None:
            A[start] = self.value

    kernel = Tx.trace(Kernels().fill, Tx.Buffer((4,)))
    assert kernels.script(kernel) == "@T.prim_func\ndef fill(A: T.Buffer((4,))):\n    A[2] = 3.0"
    assert kernels.script(Tx.trace(Kernels().fill, Tx.Buffer((4,)), start=1)).endswith("A[1] = 3.0")


def test_only_functions_can_be_traced() -> None:
    with pytest.raises(ScriptError, match=r"trace\(\) takes a function, not an int"):
        Tx.trace(3)
