"""Sources as wholes: several kernels, helper functions, names, line directives, what a module shares."""

from __future__ import annotations

import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.ir import IRModule
from tirx_cuda.nvrtc import open_nvrtc


@Tx.prim_func
def first(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    pool = Tx.SMEMPool()
    tile = pool.alloc((64,), "float32")
    pool.commit()
    tile[tx] = A[tx]
    A[tx] = Tx.cuda.warp_sum(tile[63 - tx])


@Tx.prim_func
def second(B: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    pool = Tx.SMEMPool()
    tile = pool.alloc((64,), "float32")
    pool.commit()
    tile[tx] = Tx.cuda.warp_sum(B[tx])
    B[tx] = tile[tx]


@Tx.prim_func(private=True)
def square(x: Tx.float32) -> Tx.float32:
    return x * x


@Tx.prim_func
def calling(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    A[tx] = square(A[tx])


def test_two_kernels_share_definitions_and_the_name_of_dynamic_memory() -> None:
    source = source_of(IRModule([first, second]))
    assert source.entries == ("first_kernel", "second_kernel")
    assert source.text.count("inline float warp_sum(float value)") == 1
    assert source.text.count("unsigned char smem[];") == 2


def test_functions_stand_before_their_callers() -> None:
    text = source_of(calling).text
    assert text.startswith("__device__ inline float square(float x) {\n  return x * x;\n}\n")
    assert "A[tx] = square(A[tx]);" in text


def test_what_a_function_takes_by_value_stays_unwritten() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        B[tx] = square(A[tx])

    assert "kernel_kernel(const float* __restrict__ A, float* __restrict__ B)" in source_of(kernel).text


def test_a_name_that_c_does_not_have() -> None:
    with Tx.prim_func() as frame:
        Tx.func_name("größe")
        A = Tx.arg("α", Tx.Buffer((64,), "int32"))  # noqa: RUF001
        Tx.device_entry()
        A[0] = 1
    source = source_of(frame.get())
    assert source.entries == ("große_kernel".replace("ß", "u00df"),)
    assert "(int* __restrict__ u03b1)" in source.text


def test_every_line_of_a_kernel_has_a_place() -> None:
    source = source_of(calling)
    lines = source.text.splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if "A[tx] = square" in line]
    place = source.places[number]
    assert place.path == __file__
    assert lines[number - 1].strip() == "A[tx] = square(A[tx]);"


def test_line_directives_on_request() -> None:
    text = source_of(calling, line_directives=True).text
    assert f'"{__file__}"' in text
    assert "#line" not in source_of(calling).text


@pytest.mark.skipif(open_nvrtc() is None, reason="NVRTC is not installed: pip install 'tirx-backend-cuda[nvrtc]'")
def test_an_executable_of_several_kernels() -> None:
    executable = tirx.compile(IRModule([first, second]), "cuda -arch=sm_90a")
    assert set(executable.resources) == {"first_kernel", "second_kernel"}
    assert executable.binary.data.startswith(b"\x7fELF")
