"""Tensor maps on the host: what the author may say, what the driver is told, what a kernel gets."""

from __future__ import annotations

import ctypes
import sys
import types
from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.runtime.row import Binary, Resources
from tirx.support.errors import ArgumentError, ScriptError, VerifyError
from tirx.testing import assert_round_trip
from tirx_cuda.arguments import accept, encode, encoded, tensor_map
from tirx_cuda.tensor_map import SWIZZLES, TensorMap, check, element_of, parsed

TARGET = "cuda -arch=sm_90a"
LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
KERNEL = """\
@T.prim_func
def kernel({params}, Out: T.Buffer((8, 32), "float32")):
{host}
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_shared((8, 32), "float32", align=1024)
    bar = T.alloc_shared((1,), "uint64")
    if tx == 0:
        T.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), 1)
    T.ptx.fence.proxy.async_()
    T.cuda.cta_sync()
    if tx == 0:
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), 1024)
        T.ptx["{load}"](s.ptr_to([0, 0]), T.address_of(m), 0, 2, bar.ptr_to([0]))
    T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)
    for i in range(8):
        Out[i, tx] = s[i, tx]
"""


def kernel(host: str, params: str = 'A: T.Buffer((16, 32), "float32")') -> Any:
    return Tx.from_source(KERNEL.format(params=params, host=f"    {host}", load=LOAD))


PUBLISHED = """m: T.let[T.handle("tensormap")] = T.tvm_stack_alloca("tensormap", 1)
    T.tensormap_encode_tiled(m, A.data, 32, 16, 128, 32, 8, 1, 1, descriptor_dtype="float32", rank=2, interleave=0, swizzle=0,
                             l2_promotion=2, oob_fill=0, force_cu_dtype=-1)"""
WAYS = {
    "native": ("m = T.cuda.tensor_map(A, box=(8, 32))", 'A: T.Buffer((16, 32), "float32")'),
    "symbolic": ("m = T.cuda.tensor_map(A, box=(8, 32))", 'A: T.Buffer(("n", 32), "float32")'),
    "published": (PUBLISHED, 'A: T.Buffer((16, 32), "float32")'),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_make_one(way: str) -> None:
    made = kernel(*WAYS[way])
    a, out = np.arange(512, dtype=np.float32).reshape(16, 32), np.zeros((8, 32), np.float32)
    report = tirx.simulate(made, a, out, target=TARGET)
    assert report.verdict == "clean", str(report)
    assert out.tolist() == a[2:10].tolist()
    assert_round_trip(made)
    source = tirx.compile(made, TARGET).source.text
    assert "const __grid_constant__ tensor_map m)" in source
    assert ", &m, 0, 2, " in source


def test_one_may_be_an_argument() -> None:
    made = kernel("pass", "m: T.TensorMap()")
    a, out = np.arange(512, dtype=np.float32).reshape(16, 32), np.zeros((8, 32), np.float32)
    report = tirx.simulate(made, tensor_map(a, (8, 32)), out, target=TARGET)
    assert report.verdict == "clean", str(report)
    assert out.tolist() == a[2:10].tolist()
    assert_round_trip(made)
    with pytest.raises(ArgumentError, match=r"argument `m` of kernel: expected a tensor map \(tirx_cuda.arguments"):
        tirx.simulate(made, a, out, target=TARGET)


def test_only_arrays_are_described() -> None:
    assert accept(3) is None
    with pytest.raises(ArgumentError, match="a tensor map describes an array, not a list"):
        tensor_map([1, 2], (8,))
    with pytest.raises(ArgumentError, match="elements of the array are not neighbours"):
        tensor_map(np.zeros((16, 64), np.float32)[:, ::2], (8, 32))
    with pytest.raises(ArgumentError, match="the tensor has a stride of 120 bytes") as caught:
        tensor_map(np.zeros((16, 30), np.float32), (8, 4))
    assert "multiples of 16 bytes" in str(caught.value.hint)


REFUSED = [
    ("box=(8,)", "`box` has 1 extents and the buffer 2"),
    ("box=(8, 30)", "a row of the box has 120 bytes; rows of a box are multiples of 16 bytes"),
    ("box=(300, 32)", "the box has an extent of 300; extents of a box are 1 to 256"),
    (
        'box=(8, 32), swizzle="64B"',
        "a row of the box has 128 bytes, more than swizzle 64B spans; rows are at most 64 bytes",
    ),
    ('box=(8, 32), swizzle="96B"', 'a tensor map has no swizzle \'96B\'; it is 0 or "none", 1 or "32B"'),
    ("box=(8, 32), element_strides=(9, 1)", "the box has an element stride of 9; element strides are 1 to 8"),
    ('box=(8, 32), interleave="16B"', "a tensor map that is interleaved has 2 dimensions; it may have 3 to 5"),
    ('box=(8, 32), dtype="float64x"', "a tensor map has no elements of float64x; they are uint8, uint16"),
    ("box=(n, 32)", "`box` is a number known while the kernel is built"),
    ('box=(8, 32), oob_fill="one"', 'a tensor map has no oob_fill \'one\'; it is 0 or "zero", 1 or "nan"'),
    ("box=(8, 32), l2_promotion=9", 'a tensor map has no l2_promotion 9; it is 0 or "none"'),
]


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_limits_are_checked_at_the_line(options: str, words: str) -> None:
    with pytest.raises(ScriptError) as caught:
        kernel(f"m = T.cuda.tensor_map(A, {options})", 'A: T.Buffer((16, 32), "float32"), n: T.int32')
    said = f"{caught.value.message}; {caught.value.hint}"
    assert said.startswith(words), said
    assert caught.value.span is not None
    assert caught.value.span.line == 3


BUFFERS = [
    ('A: T.Buffer((16, 30), "float32")', "box=(8, 4)", "the tensor has a stride of 120 bytes"),
    ('A: T.Buffer((16, 32), "int32")', 'box=(8, 32), oob_fill="nan"', "elements of int32 have no NaN"),
    ('A: T.Buffer((16, 32), "float32", strides=(64, 2))', "box=(8, 32)", "elements of `A` are not neighbours"),
    ('A: T.Buffer((2, 2, 2, 2, 2, 32), "float32")', "box=(1, 1, 1, 1, 1, 32)", "a tensor map has 6 dimensions"),
]


@pytest.mark.parametrize(("params", "options", "words"), BUFFERS)
def test_buffers_that_have_none(params: str, options: str, words: str) -> None:
    with pytest.raises(ScriptError, match=words):
        kernel(f"m = T.cuda.tensor_map(A, {options})", params)


CALLS = [
    ("T.tensormap_encode_tiled(m, A.data, 32, 16, descriptor_dtype='float32', rank=2)", r"takes 2 \+ 1 \+ 2 \+ 2 numbers, and gets 2"),
    ("T.tensormap_encode_tiled(m, A.data, 1, descriptor_dtype='float32', rank=7)", "a tensor map has 7 dimensions"),
    ("T.tensormap_encode_tiled(m, A.data, 32, 16, 128, 32, 8, 1, 1, descriptor_dtype='float32', rank=2, force_cu_dtype=6)",
     "elements of float32 are not read as type 6"),
    ("T.cuda.tensormap_encode_im2col(m, A.data, 1, descriptor_dtype='float32', rank=4, mode='tiled')", "encoded by tensormap_encode_tiled"),
    ("T.tvm_stack_alloca('arg_value', 4)", "makes room for an argument of a packed call"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), CALLS)
def test_calls_of_the_published_form_are_checked(text: str, words: str) -> None:
    with pytest.raises(ScriptError, match=words):
        kernel(f'm = T.tvm_stack_alloca("tensormap", 1)\n    {text}')


def test_corners_of_pixels() -> None:
    for corners, words in (
        ((-200, 0), "offset of -200"),
        ((0,), "takes 4 . 3 . 2 . 2 . 2 . 4 numbers, and gets 16"),
        ((9, 9), "the box of pixels is empty"),
    ):
        with pytest.raises(ScriptError, match=words):
            kernel(f"m = T.cuda.tensor_map_im2col(A, {corners}, (0, 0), 8, 16)", 'A: T.Buffer((2, 4, 4, 8), "float16")')


def test_the_host_makes_maps() -> None:
    text = KERNEL.format(params='A: T.Buffer((16, 32), "float32")', host="    pass", load=LOAD)
    made = Tx.from_source(text.replace("    tx = T", "    m = T.cuda.tensor_map(A, box=(8, 32))\n    tx = T"))
    with pytest.raises(VerifyError, match="a tensor map is made in the kernel part; the host makes it"):
        tirx.compile(made, TARGET)


def test_a_call_decides_what_the_text_cannot() -> None:
    made = kernel("m = T.cuda.tensor_map(A, box=(8, 32))", 'A: T.Buffer((16, "n"), "float32")')
    report = tirx.simulate(made, np.zeros((16, 33), np.float32), np.zeros((8, 32), np.float32), target=TARGET)
    assert report.verdict == "error"
    assert report.findings[0].span.line == 3
    assert "the tensor has a stride of 132 bytes" in report.findings[0].message


def test_an_older_architecture_has_no_such_copies() -> None:
    with pytest.raises(VerifyError, match=r"cp.async.bulk.tensor.*needs"):
        tirx.compile(kernel(*WAYS["native"]), "cuda -arch=sm_80")


# ---- what the driver is told ------------------------------------------------------------------------------------------


class Driver:
    """Takes notes of calls; kinds of values are numbers."""

    def __init__(self, error: int = 0) -> None:
        self.called: list[Any] = []
        self.error = error

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cuTensorMapEncode"):
            return int

        def call(*args: Any) -> Any:
            self.called.append((name, *args))
            return self.error, types.SimpleNamespace(opaque=list(range(16)))

        return call


def test_a_tile_as_the_driver_is_told() -> None:
    driver, array = Driver(), np.zeros((4, 16, 32), np.float16)
    made = tensor_map(array, (1, 8, 32), swizzle="64B", element_strides=(1, 2, 1), oob_fill="nan", l2_promotion="256B")
    data = encoded(driver, made)
    assert len(data) == 128
    assert data[8:16] == (1).to_bytes(8, "little")
    (call,) = driver.called
    assert call == (
        "cuTensorMapEncodeTiled",
        6,
        3,
        array.ctypes.data,
        [32, 16, 4],
        [64, 1024],
        [32, 8, 1],
        [1, 2, 1],
        0,
        2,
        3,
        1,
    )


def test_pixels_as_the_driver_is_told() -> None:
    made = TensorMap()
    made.element, made.address, made.mode = element_of("float16"), 4096, 1
    made.dims, made.strides, made.box, made.steps = (16, 6, 5, 3), (32, 192, 960), (8, 48), (1, 1, 1, 1)
    made.lower, made.upper = (-1, -2), (0, 1)
    check(made)
    driver = Driver()
    encoded(driver, made)
    assert driver.called[0][6:10] == ([-1, -2], [0, 1], 8, 48)
    made.mode, made.lower, made.upper, made.swizzle = 2, (-1,), (0,), 3
    check(made)
    encoded(driver, made)
    assert driver.called[1][0] == "cuTensorMapEncodeIm2colWide"
    assert driver.called[1][6:10] == (-1, 0, 8, 48)


def test_what_the_driver_refuses() -> None:
    with pytest.raises(ArgumentError, match="the driver refuses a tensor map: 1"):
        encoded(Driver(1), tensor_map(np.zeros((16, 32), np.float32), (8, 32)))


def test_the_simulator_s_bytes_say_the_same() -> None:
    made = tensor_map(np.zeros((3, 16, 32), np.int32), (1, 8, 8), swizzle="32B", element_strides=(1, 2, 1))
    again = parsed(made.simulated().ljust(128, b"\0"))
    assert again is not None
    for name in ("element", "address", "dims", "strides", "box", "steps", "swizzle", "interleave", "fill", "mode"):
        assert getattr(again, name) == getattr(made, name)
    assert parsed(bytes(128)) is None
    assert [item.name for item in SWIZZLES][3] == "128B"


def test_a_device_needs_maps_of_its_own_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = types.ModuleType("cuda.bindings")
    bindings.driver = Driver()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    with pytest.raises(ArgumentError, match="a tensor map of an array on the host cannot be launched on a device"):
        encode(tensor_map(np.zeros((16, 32), np.float32), (8, 32)), None)
    with pytest.raises(ArgumentError, match="launched before it is encoded"):
        encode(TensorMap(), None)


class Whole(Driver):
    """Encodes maps, allocates, and notes what a kernel is launched with."""

    def __init__(self) -> None:
        super().__init__()
        self.copied: list[tuple[str, Any]] = []
        self.launched: list[tuple[bytes, int]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("CUlaunch"):
            return types.SimpleNamespace
        if not name.startswith("cu") or name.startswith(("cuTensorMap", "cuuint")):
            return super().__getattr__(name)
        answers = {
            "cuDeviceGetCount": 1,
            "cuDeviceGet": 0,
            "cuMemAlloc": 4096,
            "cuModuleLoadData": 1,
            "cuModuleGetFunction": 2,
        }

        def call(*args: Any) -> Any:
            self.copied.append((name, args))
            return (0, answers[name]) if name in answers else (0,)

        return call

    def cuLaunchKernelEx(self, config: Any, function: Any, pointers: int, extra: int) -> tuple[int]:
        slots = (ctypes.c_void_p * 2).from_address(pointers)
        self.launched.append((ctypes.string_at(slots[1], 128), ctypes.c_uint64.from_address(slots[0]).value))
        return (0,)


def test_a_kernel_is_launched_with_what_the_driver_made(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Whole()
    bindings = types.ModuleType("cuda.bindings")
    bindings.driver = driver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    executable = tirx.compile(kernel(*WAYS["symbolic"]), TARGET)
    executable.__dict__["binary"] = Binary(b"cubin", "cubin", {"kernel_kernel": Resources(8, 0, 0, 0)}, "nvrtc")
    a, out = np.zeros((16, 32), np.float32), np.zeros((8, 32), np.float32)
    a.flags.writeable = False  # the kernel only reads it
    executable(a, out)
    assert [call[1:] for call in driver.called] == [(7, 2, 4096, [32, 16], [128], [32, 8], [1, 1], 0, 0, 2, 0)]
    assert driver.launched == [(b"".join(number.to_bytes(8, "little") for number in range(16)), 4096)]
    back = [args for name, args in driver.copied if name == "cuMemcpyDtoH"]
    assert [args[0] for args in back] == [out.ctypes.data]
    with pytest.raises(ArgumentError, match="expected at least one element"):
        executable(np.zeros((0, 32), np.float32), out)


HELPED = f"""\
@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((16, 32), "float32"), Out: T.Buffer((8, 32), "float32")):
        first = T.cuda.tensor_map(A, box=(8, 32))
        T.device_entry()
        tx = T.thread_id([32])
        s = T.alloc_shared((8, 32), "float32", align=128)
        bar = T.alloc_shared((1,), "uint64")
        same: T.let = T.address_of(first)
        if tx == 0:
            T.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), 1)
            T.ptx.fence.proxy.async_()
            T.ptx.prefetch.tensormap(same)
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), 1024)
            T.tirx.call("fetch", same, s.ptr_to([0, 0]), bar.ptr_to([0]), 8)
        T.cuda.cta_sync()
        T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)
        for i in range(8):
            Out[i, tx] = s[i, tx]

    @T.prim_func(private=True)
    def fetch(m: T.TensorMap(), tile: T.handle("float32", "shared"), bar: T.handle("uint64", "shared"), row: T.int32):
        T.ptx["{LOAD}"](tile, m, 0, row, bar)
"""


def test_helpers_take_maps() -> None:
    module = Tx.from_source(HELPED)
    a, out = np.arange(512, dtype=np.float32).reshape(16, 32), np.zeros((8, 32), np.float32)
    report = tirx.simulate(module, a, out, target=TARGET)
    assert report.verdict == "clean", str(report)
    assert out.tolist() == a[8:].tolist()
    source = tirx.compile(module, TARGET).source.text
    assert (
        "__device__ inline void fetch(const tensor_map* m, float* tile, unsigned long long* bar, int row) {" in source
    )
    assert "fetch(&first, s, bar, 8);" in source
