"""Every emission for every type that it takes, through NVRTC."""

from __future__ import annotations

import pytest

from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.intrinsic import Operand
from tirx.intrinsic.core import atomic, math
from tirx.ir import Call, DType, IRModule, PrimFunc
from tirx.support.errors import TargetError
from tirx.target import Target
from tirx_cuda.codegen.core_emissions import CORE_EMISSIONS
from tirx_cuda.nvrtc import open_nvrtc
from tirx_cuda.toolchain import compile_with_nvrtc

ARCHITECTURES = ("sm_80", "sm_100a")
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ABSENT = {("nextafter", "float16"), ("nextafter", "bfloat16")}

pytestmark = pytest.mark.skipif(
    open_nvrtc() is None, reason="NVRTC is not installed: pip install 'tirx-backend-cuda[nvrtc]'"
)


def takes(operand: Operand, dtype: DType) -> bool:
    families = {"float": dtype.is_float, "integer": dtype.is_integer, "int": dtype.is_int, "uint": dtype.is_uint}
    return any(families.get(name, name == dtype.name) for name in operand.dtypes)


def mathematics(dtype: str, lanes: int = 1) -> PrimFunc:
    """A kernel that applies every mathematical function of core to one type."""
    kind = DType(dtype).with_lanes(lanes)
    with Tx.prim_func() as frame:
        Tx.func_name(f"{kind.name}_functions")
        A = Tx.arg("A", Tx.Buffer((64,), dtype))
        out = {name: Tx.arg(name, Tx.Buffer((64,), name)) for name in ("bool", "int32")}
        Tx.device_entry()
        for row in math.ROWS:
            if not takes(row.operands[0], DType(dtype)) or (row.name, dtype) in ABSENT:
                continue
            operands = [A.vload([4 * lanes], kind.name) for _ in row.operands]
            if row.name == "ldexp":
                operands[1] = Tx.int32(3) if lanes == 1 else Tx.broadcast(3, lanes)
            value = getattr(math, row.name, None) or Tx.abs
            result = value(*operands)
            place = A if result.dtype.element is DType(dtype) else out[result.dtype.element.name]
            place.vstore([0], result)
    return frame.get()


def atomics(dtype: str) -> PrimFunc:
    """A kernel with every atomic update of one type."""
    with Tx.prim_func() as frame:
        Tx.func_name(f"{dtype}_atomics")
        A = Tx.arg("A", Tx.Buffer((64,), dtype))
        Tx.device_entry()
        for name in ("atomic_add", "atomic_max", "atomic_min", "atomic_exch"):
            A[1] = getattr(atomic, name)(A[0], A[2])
        A[1] = Tx.atomic_cas(A[0], A[2], A[3])
    return frame.get()


def conversions() -> PrimFunc:
    """A kernel that converts every type into every other."""
    names = ("bool", *INTEGERS, *FLOATS, "float8_e4m3fn", "float8_e5m2")
    with Tx.prim_func() as frame:
        Tx.func_name("conversions")
        buffers = {name: Tx.arg(f"{name}_data", Tx.Buffer((64,), name)) for name in names}
        Tx.device_entry()
        for target in names:
            for source in names:
                if source != target:
                    buffers[target][0] = Tx.cast(buffers[source][1], target)
    return frame.get()


def shuffles() -> PrimFunc:
    """A kernel that shuffles every type that has 8 to 64 bits."""
    with Tx.prim_func() as frame:
        Tx.func_name("shuffled")
        buffers = {name: Tx.arg(f"{name}_data", Tx.Buffer((64,), name)) for name in (*INTEGERS, *FLOATS)}
        Tx.device_entry()
        lane = Tx.thread_id([32])
        for buffer in buffers.values():
            buffer[lane] = Tx.cuda.__shfl_xor_sync(0xFFFFFFFF, buffer[lane], 1)
            buffer[lane] = Tx.cuda.warp_max(Tx.cuda.warp_sum(buffer[lane]))
    return frame.get()


def vectors() -> PrimFunc:
    """A kernel with what else core offers: masked access, dot products, bits of vectors, hints."""
    with Tx.prim_func() as frame:
        Tx.func_name("others")
        A = Tx.arg("A", Tx.Buffer((64,), "float32"))
        B = Tx.arg("B", Tx.Buffer((64,), "int8"))
        C = Tx.arg("C", Tx.Buffer((64,), "int32"))
        H = Tx.arg("H", Tx.Buffer((64,), "float16"))
        n = Tx.arg("n", Tx.int32)
        Tx.device_entry()
        for lanes in (4, 8):
            mask = Tx.get_active_lane_mask(f"boolx{lanes}", 3, n)
            Tx.masked_store(A, Tx.masked_load(f"float32x{lanes}", A, 8, mask), 0, mask)
        C[0] = Tx.dp4a(B.vload([0], "int8x4"), B.vload([4], "int8x4"), C[1])
        C.vstore([4], Tx.reinterpret("int32x4", H.vload([0], "float16x8")))
        H.vstore([8], Tx.vectorcombine("float16x4", H.vload([0], "float16x2"), H.vload([2], "float16x2")))
        H.vstore([16], Tx.broadcast(Tx.float16(2), 8))
        A.vstore(
            [16],
            Tx.Select(
                A.vload([0], "float32x8") > A.vload([8], "float32x8"),
                A.vload([0], "float32x8"),
                A.vload([8], "float32x8"),
            ),
        )
        C.vstore([8], C.vload([0], "int32x4") // 3 + C.vload([4], "int32x4") % 8)
        C[2] = Tx.reinterpret("int32", H.vload([4], "float16x2"))
        Tx.evaluate(Tx.assume(n > 0))
        C[3] = Tx.if_then_else(Tx.likely(n > 3), n, Tx.undef("int32"))
        C[n] = Tx.cast(Tx.isnullptr(A.data), "int32")
    return frame.get()


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_core(arch: str) -> None:
    kernels = [mathematics(dtype) for dtype in (*FLOATS, *INTEGERS)]
    kernels += [mathematics(dtype, lanes) for dtype in ("float32", "float16", "int32") for lanes in (2, 4, 8)]
    kernels += [atomics(dtype) for dtype in (*FLOATS, "int16", "uint16", "int32", "uint32", "int64", "uint64")]
    kernels += [conversions(), shuffles(), vectors()]
    target = f"cuda -arch={arch}"
    binary = compile_with_nvrtc(source_of(IRModule(kernels), target), Target(target))
    assert len(binary.resources) == len(kernels)
    assert binary.log == ""


def test_every_row_of_core_that_a_kernel_can_call_is_written() -> None:
    written = {row.intrinsic for row in CORE_EMISSIONS}
    assert {row.name for row in math.ROWS} <= written
    assert {row.name for row in atomic.ROWS} <= written


@pytest.mark.parametrize(("name", "dtype"), sorted(ABSENT))
def test_what_cuda_does_not_have(name: str, dtype: str) -> None:
    with Tx.prim_func() as frame:
        A = Tx.arg("A", Tx.Buffer((4,), dtype))
        Tx.device_entry()
        A[0] = getattr(math, name)(A[1], A[2])
    with pytest.raises(TargetError, match=f"{name} of {dtype} does not exist in CUDA") as caught:
        source_of(frame.get())
    assert caught.value.span is not None


def test_an_unknown_intrinsic_is_an_error_at_its_line() -> None:
    from tests.core.codegen.dialect import printer
    from tirx.intrinsic import Intrinsic

    row = Intrinsic("odd.function", (), "int32", doc="nobody writes it")
    with pytest.raises(TargetError, match=r"odd\.function cannot be written for target c"):
        printer().text(Call(DType("int32"), row, (), ()))
