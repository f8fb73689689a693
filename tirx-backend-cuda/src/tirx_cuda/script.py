"""`Tx.cuda`: functions of CUDA for kernels.

Operands named `ptr`, `addr`, `src`, `dst`, `scratch` take a pointer (`B.ptr_to([i])`, `Tx.address_of(B[i])`) or a whole buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirx.intrinsic import call
from tirx.intrinsic.core import atomic
from tirx.intrinsic.core.memory import reinterpret
from tirx.ir import (
    Buffer,
    BufferLoad,
    Call,
    DType,
    Expr,
    Scalar,
    Shuffle,
    as_expr,
    cast,
    const,
    current_span,
    logical_not,
)
from tirx.script.builder import While, evaluate
from tirx.support.errors import ScriptError

from .called import near
from .namespaces import iket, tcgen05, wgmma
from .namespaces.memory import (
    copy_bytes,
    cvt_e2m1x8_f32,
    get_tmem_addr,
    mbarrier_wait,
    mbarrier_wait_acquire_cluster,
    mma_fill,
    mma_fill_legacy,
    mma_store,
    mma_store_legacy,
    sm100_2sm_leader_smem_addr,
    smem_addr_from_uint64,
)
from .namespaces.tcgen05 import runtime_instr_desc
from .namespaces.tensor_maps import (
    tensor_map,
    tensor_map_im2col,
    tensormap_encode_im2col,
    tensormap_encode_tiled,
    tensormap_record,
)  # fmt: skip
from .namespaces.timers import timer_end, timer_finalize, timer_init, timer_start
from .op import ROW
from .ptx.instructions import ptx as ptx  # noqa: PLC0414 - offered from here, with its types

__all__ = [
    "__activemask",
    "__shfl_down_sync",
    "__shfl_sync",
    "__shfl_up_sync",
    "__shfl_xor_sync",
    "any_sync",
    "atomic_add",
    "atomic_cas",
    "ballot_sync",
    "bfloat162float",
    "bfloat1622float2",
    "clock64",
    "cluster_sync",
    "copy_bytes",
    "cta_max",
    "cta_min",
    "cta_reduce",
    "cta_sum",
    "cta_sync",
    "cvt_e2m1x8_f32",
    "cvta_generic_to_shared",
    "elect_sync",
    "fadd2_rn",
    "fdividef",
    "ffs_u32",
    "float2_x",
    "float2_y",
    "float8tohalf8",
    "float22bfloat162_rn",
    "float22bfloat162_rn_from_float2",
    "float22half2",
    "float_as_uint",
    "fmul2_rn",
    "fp8x4_e4m3_from_float4",
    "func_call",
    "get_tmem_addr",
    "grid_sync",
    "half2float",
    "half8tofloat8",
    "hmax2",
    "hmin2",
    "iket",
    "ld_acquire",
    "ldg",
    "make_float2",
    "mbarrier_wait",
    "mbarrier_wait_acquire_cluster",
    "mma_fill",
    "mma_fill_legacy",
    "mma_store",
    "mma_store_legacy",
    "mov_sreg",
    "nano_sleep",
    "printf",
    "reduce_add_sync_u32",
    "reduce_min_sync_u32",
    "runtime_instr_desc",
    "sm100_2sm_leader_smem_addr",
    "smem_addr_from_uint64",
    "syncthreads_and", "syncthreads_or", "tcgen05",
    "tensor_map", "tensor_map_im2col", "tensormap_encode_im2col", "tensormap_encode_tiled", "tensormap_record",
    "thread_fence",
    "thread_rank",
    "timer_end", "timer_finalize", "timer_init", "timer_start",
    "trap_when_assert_failed",
    "uint_as_float",
    "wait_until",
    "warp_max",
    "warp_min",
    "warp_reduce",
    "warp_sum",
    "warp_sync",
    "warpgroup_sync",
    "wgmma",
]  # fmt: skip


def __dir__() -> list[str]:
    """What completion offers."""
    return [*__all__]


def __getattr__(name: str) -> Any:
    """`__shfl_sync` and its like inside a class, where Python spells them `_Class__shfl_sync`."""
    own = f"__{name.rpartition('__')[2]}"
    if name.startswith("_") and not name.startswith("__") and own in __all__:
        return globals()[own]
    raise AttributeError(f"Tx.cuda has no `{name}`{near(name, __all__)}", name=name)


def _refuse(message: str, hint: str) -> ScriptError:
    return ScriptError(message, span=current_span(), hint=hint)


# ---- synchronisation ----------------------------------------------------------------------------------------------


def cta_sync() -> Call:
    """All threads of the cta meet, and see each other's writes to shared and global memory (`__syncthreads`)."""
    return call(ROW["cta_sync"])


def warp_sync() -> Call:
    """All threads of the warp meet, and see each other's writes (`__syncwarp`)."""
    return call(ROW["warp_sync"])


def warpgroup_sync(bar_no: Any) -> Call:
    """The 128 threads of a warpgroup meet at named barrier `bar_no`, 0 to 15 (0 is the one that `cta_sync` uses).

    Number your own from 1 up: barriers 15 down to 8 are those at which tile operations synchronise warpgroups 0 to 7 of a cta
    (`context.sync()` of a variant), so a kernel with such operations leaves the last ones, one for each warpgroup, alone.
    """
    if isinstance(bar_no, int) and not 0 <= bar_no <= 15:
        raise _refuse(f"there is no barrier {bar_no}", "named barriers are 0 to 15")
    return call(ROW["warpgroup_sync"], bar_no)


def cluster_sync() -> Call:
    """All threads of the cluster meet. sm_90 or newer."""
    return call(ROW["cluster_sync"])


def grid_sync() -> Call:
    """All threads of the grid meet; needs a cooperative launch (`tirx.kernel_launch_params`)."""
    return call(ROW["grid_sync"])


def syncthreads_and(cond: Any) -> Call:
    """All threads of the cta meet; 1 when `cond` holds in all of them."""
    return call(ROW["syncthreads_and"], cond)


def syncthreads_or(cond: Any) -> Call:
    """All threads of the cta meet; 1 when `cond` holds in any of them."""
    return call(ROW["syncthreads_or"], cond)


def thread_fence() -> Call:
    """What this thread wrote before is seen by the device before what it writes after (`__threadfence`)."""
    return call(ROW["thread_fence"])


def nano_sleep(time: Any) -> Call:
    """Wait about `time` nanoseconds."""
    return call(ROW["nano_sleep"], time)


# ---- identity -----------------------------------------------------------------------------------------------------


def thread_rank() -> Call:
    """Linear index of the thread in its cta."""
    return call(ROW["thread_rank"])


def mov_sreg(bits: int, reg_name: str) -> Call:
    """The value of a special register such as `"smid"`, as an unsigned integer of 32 or 64 bits."""
    if bits not in (32, 64):
        raise _refuse(f"a special register has no {bits} bits", "read 32 or 64")
    return call(ROW["mov_sreg"], bits=bits, reg_name=reg_name)


def clock64() -> Call:
    """The cycle counter of the multiprocessor."""
    return call(ROW["clock64"])


# ---- votes and shuffles -------------------------------------------------------------------------------------------


def elect_sync() -> Call:
    """True in exactly one thread of the warp. sm_90 or newer."""
    return call(ROW["elect_sync"])


def any_sync(mask: Any, pred: Any) -> Call:
    """1 when `pred` holds in any thread of `mask`."""
    return call(ROW["any_sync"], _mask(mask), pred)


def ballot_sync(mask: Any, pred: Any) -> Call:
    """One bit for each thread of `mask` in which `pred` holds."""
    return call(ROW["ballot_sync"], _mask(mask), pred)


def __activemask() -> Call:  # CUDA's name
    """One bit for each thread of the warp that is here now."""
    return call(ROW["__activemask"])


def __shfl_sync(mask: Any, var: Any, lane: Any, width: Any = 32) -> Call:
    """The value `var` of thread `lane` of each group of `width` threads."""
    return call(ROW["__shfl_sync"], _mask(mask), var, lane, width)


def __shfl_up_sync(mask: Any, var: Any, delta: Any, width: Any = 32) -> Call:
    """`var` of the thread `delta` below in its group; the own value where there is none."""
    return call(ROW["__shfl_up_sync"], _mask(mask), var, delta, width)


def __shfl_down_sync(mask: Any, var: Any, delta: Any, width: Any = 32) -> Call:
    """`var` of the thread `delta` above in its group; the own value where there is none."""
    return call(ROW["__shfl_down_sync"], _mask(mask), var, delta, width)


def __shfl_xor_sync(mask: Any, var: Any, lane_mask: Any, width: Any = 32) -> Call:
    """`var` of the thread whose number differs in the bits of `lane_mask`."""
    return call(ROW["__shfl_xor_sync"], _mask(mask), var, lane_mask, width)


def _mask(mask: Any) -> Any:
    """A Python number is a pattern of 32 bits."""
    return const(mask & 0xFFFFFFFF, "uint32") if isinstance(mask, int) else mask


# ---- reductions ---------------------------------------------------------------------------------------------------


def warp_reduce(value: Any, op: str, width: int = 32) -> Call:
    """`"sum"`, `"max"` or `"min"` of `value` over groups of `width` threads of a warp; all of them get the result."""
    _check_operation(op)
    if width not in (2, 4, 8, 16, 32):
        raise _refuse(f"a warp has no groups of {width}", "the width is 2, 4, 8, 16 or 32")
    return call(ROW["warp_reduce"], value, op, width)


def warp_sum(value: Any, width: int = 32) -> Call:
    """The sum of `value` over groups of `width` threads of a warp."""
    return warp_reduce(value, "sum", width)


def warp_max(value: Any, width: int = 32) -> Call:
    """The largest `value` in groups of `width` threads of a warp."""
    return warp_reduce(value, "max", width)


def warp_min(value: Any, width: int = 32) -> Call:
    """The smallest `value` in groups of `width` threads of a warp."""
    return warp_reduce(value, "min", width)


def cta_reduce(value: Any, op: str, num_warps: int, scratch: Any) -> Call:
    """`"sum"`, `"max"` or `"min"` of `value` over the `num_warps` warps of the cta; all threads get the result.

    `scratch` is shared memory with an element for each warp. All threads of the cta meet three times.
    """
    _check_operation(op)
    return call(ROW["cta_reduce"], value, op, num_warps, scratch)


def cta_sum(value: Any, num_warps: int, scratch: Any) -> Call:
    """The sum of `value` over the cta."""
    return cta_reduce(value, "sum", num_warps, scratch)


def cta_max(value: Any, num_warps: int, scratch: Any) -> Call:
    """The largest `value` in the cta."""
    return cta_reduce(value, "max", num_warps, scratch)


def cta_min(value: Any, num_warps: int, scratch: Any) -> Call:
    """The smallest `value` in the cta."""
    return cta_reduce(value, "min", num_warps, scratch)


def _check_operation(op: str) -> None:
    if op not in ("sum", "max", "min"):
        raise _refuse(f"`{op}` is no reduction", 'give "sum", "max" or "min"')


def reduce_add_sync_u32(mask: Any, value: Any) -> Call:
    """The sum of `value` over the threads of `mask`, by one instruction. sm_80 or newer."""
    return call(ROW["reduce_add_sync_u32"], _mask(mask), as_expr(value, "uint32"))


def reduce_min_sync_u32(mask: Any, value: Any) -> Call:
    """The smallest `value` of the threads of `mask`, by one instruction. sm_80 or newer."""
    return call(ROW["reduce_min_sync_u32"], _mask(mask), as_expr(value, "uint32"))


# ---- atomics ------------------------------------------------------------------------------------------------------


def atomic_add(res_addr: Any, value: Any) -> Call:
    """Add `value` to the element behind `res_addr`, a pointer or an element; the old value."""
    return atomic.atomic_add(res_addr, value)


def atomic_cas(ptr: Any, old_val: Any, new_val: Any) -> Call:
    """Where the element behind `ptr` is `old_val` it becomes `new_val`; the old value."""
    return atomic.atomic_cas(ptr, old_val, new_val)


# ---- waiting and memory -------------------------------------------------------------------------------------------

_WORDS = {"b32": "uint32", "u32": "uint32", "s32": "int32", "b64": "uint64", "u64": "uint64", "s64": "int64"}


def ld_acquire(addr: Any, dtype: str = "uint32", scope: str = "gpu") -> Call:
    """Load a 32 or 64-bit integer; what its writer did before releasing it is seen after the load. sm_70 or newer."""
    return call(ROW["ld_acquire"], addr, dtype=DType(dtype).name, scope=scope)


def wait_until(
    dst: Any,
    ptr: Any,
    predicate: Any,
    scope: str = "gpu",
    space: str = "global",
    ptx_type: str | None = None,
    backoff_ns: int | None = None,
) -> None:
    """Load `ptr` into the scalar `dst` until `predicate` holds: a condition on `dst`, or a function of its value.

    Loads acquire at `scope` (`cta cluster gpu sys`). `ptx_type` names the word (`"u32"`, `"s64"`; default: the type of `dst`).
    """
    if not isinstance(dst, Scalar):
        raise _refuse("the value that is waited for is kept in a scalar", "give a mutable scalar: seen = Tx.uint32(0)")
    if space not in ("global", "shared"):
        raise _refuse(f"words in `{space}` cannot be waited for", 'the spaces are "global" and "shared"')
    dtype = dst.dtype.name if ptx_type is None else _WORDS.get(ptx_type, ptx_type)

    def load() -> None:
        dst.assign(cast(ld_acquire(ptr, dtype, scope), dst.dtype))

    load()
    condition = predicate(dst) if callable(predicate) and not isinstance(predicate, Expr) else predicate
    with While(logical_not(as_expr(condition))):
        if backoff_ns is not None:
            evaluate(nano_sleep(backoff_ns))
        load()


def ldg(addr: Any, dtype: str, *, dst: Any = None, vec: str = "") -> Any:
    """Load `dtype` through the read-only cache. `vec="v4"` loads four neighbours as a vector; with `dst` it is stored there."""
    if vec not in ("", "v2", "v4", "v8"):
        raise _refuse(f'there is no vector "{vec}"', 'give "v2", "v4" or "v8"')
    kind = DType(dtype).with_lanes(DType(dtype).lanes * int(vec[1:] or 1))
    value = call(ROW["ldg"], addr, dtype=kind.name)
    if dst is None:
        return value
    return _stored(dst, value)


def _stored(dst: Any, value: Expr) -> None:
    """`value` in a buffer (from its start), at an element, or in a scalar."""
    if isinstance(dst, Scalar):
        dst.assign(value)
    elif isinstance(dst, Buffer):
        dst.vstore([0] * dst.ndim, value)
    elif isinstance(dst, BufferLoad):
        dst.buffer.vstore(list(dst.indices), value)
    else:
        raise _refuse("`dst` is a buffer, an element or a scalar", "leave it out to get the value")


def cvta_generic_to_shared(ptr: Any) -> Call:
    """The 32-bit address of `ptr` in the shared window of its cta."""
    return call(ROW["cvta_generic_to_shared"], ptr)


# ---- arithmetic ---------------------------------------------------------------------------------------------------


def fdividef(x: Any, y: Any) -> Call:
    """Fast approximate x / y of float32 values."""
    return call(ROW["fdividef"], as_expr(x, "float32"), as_expr(y, "float32"))


def ffs_u32(value: Any) -> Call:
    """1 + the position of the lowest bit of `value` that is set; 0 for 0."""
    return call(ROW["ffs_u32"], value)


def hmin2(a: Any, b: Any) -> Expr:
    """The smaller in each lane of two float16x2 or bfloat16x2 values; uint32 values hold a bfloat16x2."""
    return _of_pairs("hmin2", a, b, "bfloat16x2")


def hmax2(a: Any, b: Any) -> Expr:
    """The larger in each lane of two float16x2 or bfloat16x2 values; uint32 values hold a bfloat16x2."""
    return _of_pairs("hmax2", a, b, "bfloat16x2")


def fmul2_rn(a: Any, b: Any) -> Expr:
    """The product of two float32x2 values, also held in uint64; one instruction on sm_100 and newer."""
    return _of_pairs("fmul2_rn", a, b, "float32x2")


def fadd2_rn(a: Any, b: Any) -> Expr:
    """The sum of two float32x2 values, also held in uint64; one instruction on sm_100 and newer."""
    return _of_pairs("fadd2_rn", a, b, "float32x2")


# ---- pairs in registers -------------------------------------------------------------------------------------------

_REGISTER = {
    "float32x2": "uint64",
    "bfloat16x2": "uint32",
    "float8_e4m3fnx4": "uint32",
}  # what holds the lanes as plain bits


def _of_pairs(name: str, a: Any, b: Any, dtype: str) -> Expr:
    """Row `name` of two pairs; a result of operands held as bits is held as bits too."""
    first, second = as_expr(a), as_expr(b)
    result = call(ROW[name], _lanes(first, dtype), _lanes(second, dtype))
    return _bits(result) if str(first.dtype) == _REGISTER[dtype] else result


def _bits(value: Expr) -> Expr:
    """The lanes as the plain bits in which registers, and the instructions that take pairs, hold them."""
    return reinterpret(_REGISTER[str(value.dtype)], value)


def _lanes(value: Any, dtype: str) -> Expr:
    """A pair as lanes: as it is, or out of the bits that hold it."""
    expr = as_expr(value)
    if expr.dtype.is_handle:
        raise _refuse("a pointer is given where a pair is expected", f'load it: B.vload([i], dtype="{dtype}")')
    if str(expr.dtype) != _REGISTER[dtype]:
        return expr
    if isinstance(expr, Call) and getattr(expr.op, "name", "") == "reinterpret" and expr.args[0].dtype == dtype:
        return expr.args[0]
    return reinterpret(dtype, expr)


# ---- conversion ---------------------------------------------------------------------------------------------------


def half2float(src: Any) -> Expr:
    """A float16 value as float32."""
    return cast(src, "float32")


def bfloat162float(src: Any) -> Expr:
    """A bfloat16 value as float32."""
    return cast(src, "float32")


def float22half2(dst: Any, src: Any) -> Call:
    """Two floats at `src` become two halves at `dst`."""
    return call(ROW["float22half2"], dst, src)


def half8tofloat8(src_addr: Any, dst_addr: Any) -> Call:
    """Eight halves at `src_addr` become eight floats at `dst_addr`."""
    return call(ROW["half8tofloat8"], src_addr, dst_addr)


def float8tohalf8(src_addr: Any, dst_addr: Any) -> Call:
    """Eight floats at `src_addr` become eight halves at `dst_addr`."""
    return call(ROW["float8tohalf8"], src_addr, dst_addr)


def make_float2(x: Any, y: Any) -> Expr:
    """Two float32 values as the uint64 that holds a float32x2."""
    return _bits(_joined(x, y))


def float2_x(packed: Any) -> Expr:
    """The first lane of a float32x2, also held in uint64."""
    return Shuffle((_lanes(packed, "float32x2"),), (0,), span=current_span())


def float2_y(packed: Any) -> Expr:
    """The second lane of a float32x2, also held in uint64."""
    return Shuffle((_lanes(packed, "float32x2"),), (1,), span=current_span())


def float22bfloat162_rn(v0: Any, v1: Any) -> Expr:
    """Two float32 values as the uint32 that holds a bfloat16x2, rounded to nearest."""
    return _bits(cast(_joined(v0, v1), "bfloat16x2"))


def float22bfloat162_rn_from_float2(packed: Any) -> Expr:
    """A float32x2, also held in uint64, as the uint32 that holds a bfloat16x2."""
    return _bits(cast(_lanes(packed, "float32x2"), "bfloat16x2"))


def bfloat1622float2(packed: Any) -> Expr:
    """A bfloat16x2, also held in uint32, as the uint64 that holds a float32x2."""
    return _bits(cast(_lanes(packed, "bfloat16x2"), "float32x2"))


def fp8x4_e4m3_from_float4(x: Any, y: Any, z: Any, w: Any) -> Expr:
    """Four float32 values as the uint32 that holds a float8_e4m3fnx4, saturating."""
    return _bits(cast(_joined(x, y, z, w), "float8_e4m3fnx4"))


def _joined(*lanes: Any) -> Expr:
    """Several float32 values as one vector."""
    made = tuple(as_expr(lane, "float32") for lane in lanes)
    return Shuffle(made, tuple(range(len(made))), span=current_span())


def uint_as_float(bits: Any) -> Expr:
    """The bits of a uint32 as float32."""
    return reinterpret("float32", bits)


def float_as_uint(x: Any) -> Expr:
    """The bits of a float32 as uint32."""
    return reinterpret("uint32", x)


# ---- debugging and foreign code -----------------------------------------------------------------------------------


def printf(fmt: str, *args: Any) -> Call:
    """Print from the kernel, with C's format."""
    _check_format(fmt, len(args))
    return call(ROW["printf"], fmt, *args)


def _check_format(fmt: str, count: int) -> None:
    if not isinstance(fmt, str):
        raise _refuse("the first argument of printf is its format, as text", 'e.g. Tx.cuda.printf("%f\\n", x[i])')
    wanted = fmt.replace("%%", "").count("%")
    if wanted != count:
        raise _refuse(f"the format asks for {wanted} values and gets {count}", "give one value for each % in it")


def trap_when_assert_failed(cond: Any) -> Call:
    """Stop the kernel with an error where `cond` is false."""
    return call(ROW["trap_when_assert_failed"], cond)


def func_call(
    func_name: str,
    *args: Any,
    source_code: str,
    return_type: str = "void",
    lazy_args: tuple[Callable[[], Any], ...] = (),
) -> Call:
    """Call a device function whose CUDA C++ source is given; the same source is pasted once.

    `lazy_args` are functions that make further arguments when the call is built.
    """
    values = [*args, *(make() for make in lazy_args)]
    return call(ROW["func_call"], func_name, *values, source_code=source_code, return_type=str(DType(return_type)))
