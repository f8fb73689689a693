"""Source to cubin: resources, refusals at the author's lines, what to install."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.codegen import Source
from tirx.support.errors import ToolchainError
from tirx.support.span import Span
from tirx.target import Target
from tirx_cuda import toolchain
from tirx_cuda.cubin import instruction_counts, messages, resources
from tirx_cuda.nvrtc import include_paths, open_nvrtc
from tirx_cuda.toolchain import compile_with_nvcc, compile_with_nvrtc, find_nvcc, find_nvrtc
from tirx_cuda.toolchain_rows import TOOLCHAINS

needs_nvrtc = pytest.mark.skipif(
    open_nvrtc() is None, reason="NVRTC is not installed: pip install 'tirx-backend-cuda[nvrtc]'"
)
needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="nvcc is not on the PATH")

HOPPER = Target("cuda -arch=sm_90a")


@Tx.prim_func
def staged(A: Tx.Buffer((1024,), "float32"), B: Tx.Buffer((1024,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    tile = Tx.alloc_shared((256,), "float32")
    tile[tx] = A[tx]
    Tx.cuda.cta_sync()
    B[tx] = tile[255 - tx]


@Tx.prim_func
def refused(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    A[tx] = Tx.call_extern("float32", "no_such_function", A[tx])


@needs_nvrtc
def test_nvrtc_gives_a_cubin_with_its_figures() -> None:
    binary = compile_with_nvrtc(source_of(staged), HOPPER)
    figures = binary.resources["staged_kernel"]
    assert binary.data.startswith(b"\x7fELF")
    assert (binary.format, binary.log) == ("cubin", "")
    assert 0 < figures.registers < 40
    assert (figures.spill_bytes, figures.stack_bytes, figures.shared_bytes) == (0, 0, 1024)
    assert binary.toolchain == f"nvrtc {find_nvrtc()}"


@needs_nvrtc
def test_instructions_are_counted() -> None:
    counts = instruction_counts(compile_with_nvrtc(source_of(staged), HOPPER).data)
    assert 10 < counts["staged_kernel"] < 100


@needs_nvcc
@pytest.mark.slow
def test_nvcc_gives_the_same() -> None:
    binary = compile_with_nvcc(source_of(staged), HOPPER)
    assert binary.resources["staged_kernel"].shared_bytes == 1024
    assert binary.toolchain == f"nvcc {find_nvcc()}"


def check_refusal(error: ToolchainError) -> None:
    assert 'identifier "no_such_function" is undefined' in error.message
    assert error.span is not None
    assert error.span.path == __file__
    assert "A[tx] = Tx.call_extern" in str(error)
    assert "generated line 3: A[tx] = no_such_function(A[tx]);" in str(error)


@needs_nvrtc
def test_a_refusal_stands_at_the_authors_line() -> None:
    with pytest.raises(ToolchainError) as caught:
        compile_with_nvrtc(source_of(refused), HOPPER)
    check_refusal(caught.value)


@needs_nvrtc
def test_so_it_does_with_line_directives() -> None:
    source = source_of(refused, line_directives=True)
    assert f'#line {refused.span.line if refused.span else 0} "{__file__}"' in source.text
    with pytest.raises(ToolchainError) as caught:
        compile_with_nvrtc(source, HOPPER)
    assert caught.value.span is not None
    assert caught.value.span.path == __file__


@needs_nvcc
@pytest.mark.slow
def test_nvcc_refuses_in_the_same_words() -> None:
    with pytest.raises(ToolchainError) as caught:
        compile_with_nvcc(source_of(refused), HOPPER)
    check_refusal(caught.value)


@needs_nvrtc
def test_an_architecture_that_is_too_old() -> None:
    source, target = source_of(staged, "cuda -arch=sm_50"), Target("cuda -arch=sm_50")
    with pytest.raises(
        ToolchainError, match=r"NVRTC [\d.]+ compiles for sm_\d+ and newer, the target is sm_50"
    ) as caught:
        compile_with_nvrtc(source, target)
    assert "the source is available all the same" in (caught.value.hint or "")


@needs_nvrtc
def test_an_architecture_that_is_too_new() -> None:
    with pytest.raises(ToolchainError, match="does not know sm_999") as caught:
        compile_with_nvrtc(Source("", "cuda", ".cu", ()), {"arch": "sm_999"})
    assert "install a newer CUDA" in (caught.value.hint or "")


@needs_nvrtc
def test_what_the_assembler_refuses_stands_at_the_kernel() -> None:
    text = 'extern "C" __global__ void k(float* A) { __shared__ float t[60000]; t[threadIdx.x] = A[0]; A[1] = t[A[0] > 0]; }'
    source = Source(text, "cuda", ".cu", ("k",), {1: Span("k.py", 5)})
    with pytest.raises(ToolchainError, match="too much shared data") as caught:
        compile_with_nvrtc(source, HOPPER)
    assert str(caught.value.span) == "k.py:5"


def test_nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "open_nvrtc", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert (find_nvrtc(), find_nvcc()) == (None, None)
    with pytest.raises(ToolchainError, match="NVRTC is not installed") as caught:
        compile_with_nvrtc(source_of(staged), HOPPER)
    assert caught.value.hint == 'pip install "tirx-backend-cuda[nvrtc]"'
    with pytest.raises(ToolchainError, match="nvcc is not on the PATH"):
        compile_with_nvcc(source_of(staged), HOPPER)


def test_rows_say_what_to_install() -> None:
    assert [row.name for row in TOOLCHAINS] == ["nvrtc", "nvcc"]
    assert all(row.install for row in TOOLCHAINS)


@needs_nvrtc
def test_headers_are_found() -> None:
    assert include_paths()


REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'b' for 'sm_90a'
ptxas info    : Function properties for b
ptxas         .     24 bytes stack frame, 16 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 24 bytes cumulative stack size, 4096 bytes smem
kernel.cu(3): warning #177-D: variable "x" was declared but never referenced
ptxas info    : Compiling entry function 'a' for 'sm_90a'
ptxas info    : Function properties for a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
"""


def figures(name: str) -> tuple[Any, ...]:
    found = resources(REPORT)[name]
    return found.registers, found.spill_bytes, found.stack_bytes, found.shared_bytes


def test_the_assemblers_report_is_read() -> None:
    assert figures("b") == (255, 16, 24, 4096)
    assert figures("a") == (8, 0, 0, 0)
    assert messages(REPORT) == 'kernel.cu(3): warning #177-D: variable "x" was declared but never referenced'
