"""Element types of 6 and 4 bits: what takes arrays of them, what refuses, and that every architecture compiles them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tests.cuda.kernels.types import four_bits, six_bits
from tirx import script as Tx
from tirx.cli.arguments import make_arguments
from tirx.ir import IRModule
from tirx.runtime import ArrayView, pack_elements, unpack_elements
from tirx.runtime.arrays import in_elements
from tirx.support.errors import ArgumentError, TirxError
from tirx.target import Target
from tirx_cuda.arrays import _CODES, _dtype
from tirx_cuda.nvrtc import open_nvrtc
from tirx_cuda.toolchain import compile_with_nvrtc

F4 = "float4_e2m1fn"
# besides those of test_golden; before sm_100a by the header's own code
ARCHES = ["sm_75", "sm_89", "sm_103a", "sm_110a", "sm_120a"]


@pytest.mark.slow
@pytest.mark.skipif(open_nvrtc() is None, reason="NVRTC is not installed: pip install 'tirx-backend-cuda[nvrtc]'")
@pytest.mark.parametrize("arch", ARCHES)
def test_every_architecture_compiles_them(arch: str) -> None:
    target = f"cuda -arch={arch}"
    binary = compile_with_nvrtc(source_of(IRModule([four_bits, six_bits]), target), Target(target))
    assert set(binary.resources) == {"four_bits_kernel", "six_bits_kernel"}
    assert binary.log == ""


def six(A: Any, B: Any, C: Any) -> Any:
    return tirx.simulate(six_bits, A, B, C, target="cuda -arch=sm_100a")


def test_six_bits_take_a_byte_each() -> None:
    every = np.arange(64, dtype=np.uint8)
    a, b, c = every.view(ml_dtypes.float6_e2m3fn), np.zeros(64, ml_dtypes.float6_e3m2fn), np.zeros(64, np.float32)
    assert six(a, b, c).verdict == "clean"
    np.testing.assert_array_equal(c, a.astype(np.float32))
    np.testing.assert_array_equal(b[:16].astype(np.float32), a[:16].astype(ml_dtypes.float6_e3m2fn).astype(np.float32))
    with pytest.raises(ArgumentError, match="expected dtype float6_e2m3fn, got uint8"):
        six(every, b, c)


@Tx.prim_func
def matrix(A: Tx.Buffer(("m", "n"), F4), B: Tx.Buffer((8,), f"{F4}x8"), C: Tx.Buffer((4,), "float32x2")):
    Tx.device_entry()
    tx = Tx.thread_id([4])
    C[tx] = Tx.cast(Tx.Shuffle([B[tx]], [0, 7]), "float32x2") + Tx.cast(A.vload([1, 2 * tx], f"{F4}x2"), "float32x2")


def test_arrays_of_bytes_are_taken() -> None:
    a, b, c = np.full((3, 4), 0x21, np.uint8), np.full((8, 4), 0x42, np.uint8), np.zeros((4, 2), np.float32)
    assert tirx.simulate(matrix, a, b, c, target="cuda -arch=sm_100a").verdict == "clean"
    np.testing.assert_array_equal(c, [[1.5, 3.0]] * 4)


BYTES = (np.zeros((3, 4), np.uint8), np.zeros((8, 4), np.uint8), np.zeros((4, 2), np.float32))


@pytest.mark.parametrize(
    ("at", "array", "message"),
    [
        (
            0,
            np.zeros((3, 8), ml_dtypes.float4_e2m1fn),
            "two elements of float4_e2m1fn each, got float4_e2m1fn, a byte each",
        ),
        (0, np.zeros((3, 8), np.float32), "expected uint8, two elements of float4_e2m1fn each, got float32"),
        (0, np.zeros((3, 8), np.uint8)[:, ::2], r"argument `A` of matrix"),
        (0, np.zeros(3, np.uint8), "expected 2 dimensions"),
        (1, np.zeros((8, 3), np.uint8), r"expected uint8 with a last dimension of 4, got uint8 of shape \(8, 3\)"),
        (1, np.zeros(32, np.uint8), "expected uint8 with a last dimension of 4"),
        (2, np.zeros(8, np.float32), "expected float32 with a last dimension of 2"),
    ],
)
def test_other_arrays_are_refused(at: int, array: Any, message: str) -> None:
    args = [*BYTES]
    args[at] = array
    with pytest.raises(ArgumentError, match=message):
        tirx.simulate(matrix, *args, target="cuda")


def test_one_array_as_two_arguments_is_seen() -> None:
    @Tx.prim_func
    def copy(A: Tx.Buffer((64,), F4), B: Tx.Buffer((64,), F4)):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        B.vstore([2 * tx], A.vload([2 * tx], f"{F4}x2"))

    memory = np.zeros(64, np.uint8)
    assert tirx.simulate(copy, memory[:32], memory[32:], target="cuda").verdict == "clean"
    with pytest.raises(ArgumentError, match="share memory"):
        tirx.simulate(copy, memory[:32], memory[31:63], target="cuda")


def test_arrays_of_other_libraries_are_taken() -> None:
    """DLPack's float4 counts elements, or pairs of them as PyTorch does; both lie two to a byte."""
    memory = np.zeros((3, 4), np.uint8)
    for lanes, width in ((1, 8), (2, 4)):
        view = ArrayView(
            pointer=memory.ctypes.data, shape=(3, width), strides=(width, 1), dtype=_dtype(_CODES[17], lanes), device="cuda:0",
            owner=memory,
        )  # fmt: skip
        assert view.dtype is not None
        found = in_elements(view, tirx.ir.DType(F4))
        assert found is not None
        assert (found.shape, found.strides, found.dtype) == ((3, 8), (8, 1), tirx.ir.DType(F4))


def test_the_command_line_makes_and_reads_them(tmp_path: Path) -> None:
    given = np.full((3, 4), 0x21, np.uint8)
    np.save(tmp_path / "a.npy", given)
    a, b, c = make_arguments(matrix, (f"A={tmp_path / 'a.npy'}", "B=ones"), 0)
    assert (a.shape, b.shape, c.shape) == ((3, 4), (8, 4), (4, 2))
    assert set(b.reshape(-1)) == {0x22}  # 1.0 twice
    assert tirx.simulate(matrix, a, b, c, target="cuda").verdict == "clean"


def test_elements_pack_and_unpack() -> None:
    elements = np.arange(16, dtype=np.uint8).reshape(2, 8).view(ml_dtypes.float4_e2m1fn)
    packed = pack_elements(elements)
    np.testing.assert_array_equal(packed[0], [0x10, 0x32, 0x54, 0x76])
    np.testing.assert_array_equal(unpack_elements(packed, F4).view(np.uint8), elements.view(np.uint8))
    with pytest.raises(ArgumentError, match=r"shape \(2, 3\) does not fill whole bytes"):
        pack_elements(elements[:, :3])
    with pytest.raises(ArgumentError, match="no elements that share bytes"):
        pack_elements(np.zeros(4, np.float32))
    with pytest.raises(ArgumentError, match="expected an array of uint8"):
        unpack_elements(np.zeros(4, np.float32), F4)
    with pytest.raises(ArgumentError, match="float32 is no type of which two elements share a byte"):
        unpack_elements(packed, "float32")


def test_halves_of_a_byte_are_one_place() -> None:
    """Two threads that write the two halves race, and what was not written is missed."""

    @Tx.prim_func
    def racing(A: Tx.Buffer((64,), "uint8"), B: Tx.Buffer((64,), F4)):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        tile = Tx.alloc_shared((64,), F4)
        for j in Tx.vectorized(2):
            tile[2 * tx + j] = B[2 * tx + j]
        if tx < 31:
            A[tx] = Tx.reinterpret("uint8", tile.vload([2 * tx + 2], f"{F4}x2"))

    report = tirx.simulate(racing, np.zeros(64, np.uint8), np.zeros(32, np.uint8), target="cuda")
    assert [finding.kind for finding in report.findings] == ["race"], str(report)

    @Tx.prim_func
    def missing(A: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        own = Tx.alloc_local((4,), F4)
        own[1] = Tx.float4_e2m1fn(1.0)
        A[tx] = Tx.cast(own[3], "float32")

    report = tirx.simulate(missing, np.zeros(32, np.float32), target="cuda")
    assert [finding.kind for finding in report.findings] == ["uninitialised"], str(report)


def test_indices_outside_are_found() -> None:
    @Tx.prim_func
    def outside(A: Tx.Buffer((64,), F4), B: Tx.Buffer((33,), "float32"), n: Tx.int32):
        Tx.device_entry()
        tx = Tx.thread_id([33])
        B[tx] = Tx.cast(A[n * tx], "float32")

    report = tirx.simulate(outside, np.zeros(32, np.uint8), np.zeros(33, np.float32), 2, target="cuda")
    assert "index 64 is outside dimension 0 of `A` (64,)" in str(report)


def single() -> Any:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), F4), B: Tx.Buffer((64,), F4)):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        B[tx] = A[tx]

    return kernel


def crooked() -> Any:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), F4), B: Tx.Buffer((64,), F4), n: Tx.int32):
        Tx.device_entry()
        B.vstore([n], A.vload([n], f"{F4}x2"))

    return kernel


def odd_address() -> Any:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), F4), B: Tx.Buffer((64,), "uint32")):
        Tx.device_entry()
        words = Tx.decl_buffer((4,), "uint32", data=A.ptr_to([3]))
        B[0] = words[0]

    return kernel


@pytest.mark.parametrize(
    ("make", "message", "line"),
    [
        (single, "one element of `B` is stored, but float4_e2m1fn shares its byte with a neighbour", "B[tx] = A[tx]"),
        (
            crooked,
            "elements of `B` are stored that do not provably begin at an even one and lie side by side",
            "B.vstore",
        ),
        (
            odd_address,
            "the address of an odd element of `A` is taken, but float4_e2m1fn shares its byte",
            "A.ptr_to([3])",
        ),
    ],
)
@pytest.mark.parametrize("target", ["cuda -arch=sm_100a", "generic"])
def test_half_a_byte_cannot_be_written_or_named(make: Callable[[], Any], message: str, line: str, target: str) -> None:
    with pytest.raises(TirxError) as caught:
        tirx.compile(make(), target)
    assert message in str(caught.value)
    assert line in str(caught.value)


@pytest.mark.parametrize("text", ["inf", "-inf", "nan"])
@pytest.mark.parametrize("dtype", [Tx.float4_e2m1fn, Tx.float6_e2m3fn, Tx.float6_e3m2fn])
def test_they_have_no_special_values(dtype: Any, text: str) -> None:
    with pytest.raises(TirxError, match=r"has no (infinity|NaN)"):
        dtype(text)


def test_three_of_four_bits_are_no_vector() -> None:
    with pytest.raises(ValueError, match="an even number of lanes"):
        tirx.ir.DType(f"{F4}x3")


def test_masks_do_not_divide_bytes() -> None:
    with pytest.raises(TirxError, match="share bytes, which a mask would divide"):
        Tx.masked_load(f"{F4}x2", Tx.handle(), Tx.Broadcast(Tx.bool(True), 2))
