"""`Tx.opencl`: functions of OpenCL C for kernels.

Operands named `dst` and `src` take a pointer (`B.ptr_to([i])`, `Tx.address_of(B[i])`).
"""

from __future__ import annotations

from tirx.intrinsic import call
from tirx.intrinsic.core.collective import tvm_storage_sync
from tirx.ir import Call, Expr, PointerType, current_span
from tirx.support.errors import ScriptError
from tirx.support.suggest import did_you_mean

from .op import FENCES, LANES, ROW

__all__ = [
    "add_sat", "async_work_group_copy", "barrier", "get_global_id", "get_global_size", "get_group_id", "get_local_id",
    "get_local_size", "get_num_groups", "hadd", "mad", "mem_fence", "mul_hi", "native_cos", "native_divide", "native_exp",
    "native_exp2", "native_exp10", "native_log", "native_log2", "native_log10", "native_powr", "native_recip", "native_rsqrt",
    "native_sin", "native_sqrt", "native_tan", "printf", "read_mem_fence", "rhadd", "rotate", "sub_sat", "vload", "vstore",
    "wait_group_events", "write_mem_fence",
]  # fmt: skip

Number = Expr | int | float

# ---- work-items ---------------------------------------------------------------------------------------------------


def get_global_id(dimension: int) -> Call:
    """Number of the work-item along a dimension, over all work-groups."""
    return call(ROW["get_global_id"], dimension)


def get_local_id(dimension: int) -> Call:
    """Number of the work-item along a dimension of its work-group."""
    return call(ROW["get_local_id"], dimension)


def get_group_id(dimension: int) -> Call:
    """Number of the work-group along a dimension."""
    return call(ROW["get_group_id"], dimension)


def get_global_size(dimension: int) -> Call:
    """Work-items along a dimension."""
    return call(ROW["get_global_size"], dimension)


def get_local_size(dimension: int) -> Call:
    """Work-items of a work-group along a dimension."""
    return call(ROW["get_local_size"], dimension)


def get_num_groups(dimension: int) -> Call:
    """Work-groups along a dimension."""
    return call(ROW["get_num_groups"], dimension)


# ---- waiting ------------------------------------------------------------------------------------------------------


def barrier(flags: str = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE") -> Call:
    """All work-items of the group meet, and see each other's writes to local and global memory (whatever `flags` names)."""
    _checked(flags)
    return tvm_storage_sync("shared")


def mem_fence(flags: str) -> Call:
    """Loads and stores of this work-item before the fence are done before those after it."""
    return call(ROW["mem_fence"], flags=_checked(flags))


def read_mem_fence(flags: str) -> Call:
    """Loads of this work-item before the fence are done before those after it."""
    return call(ROW["read_mem_fence"], flags=_checked(flags))


def write_mem_fence(flags: str) -> Call:
    """Stores of this work-item before the fence are done before those after it."""
    return call(ROW["write_mem_fence"], flags=_checked(flags))


def _checked(flags: str) -> str:
    if flags not in FENCES:
        hint = did_you_mean(flags, FENCES) or f"the flags are {', '.join(FENCES)}"
        raise ScriptError(f"there are no flags {flags!r} of fences", span=current_span(), hint=hint)
    return flags


# ---- copies -------------------------------------------------------------------------------------------------------


def async_work_group_copy(dst: Expr, src: Expr, count: Expr | int, dtype: str = "") -> Call:
    """All work-items of the group together copy `count` elements between global and local memory.

    They are seen after `wait_group_events()` and a barrier. `dtype` is that of the elements that `dst` points to.
    """
    kind = dtype or _pointee(dst, "the copy")
    return call(ROW["async_work_group_copy"], dst, src, count, dtype=kind)


def wait_group_events() -> Call:
    """Wait for the copies that the group has started; a barrier after it shows them to all."""
    return call(ROW["wait_group_events"])


def vload(lanes: int, src: Expr, dtype: str = "") -> Call:
    """The vector of 2, 4, 8 or 16 elements from `src` on. It need not be aligned as a vector. `dtype` is that of an element."""
    if lanes not in LANES:
        hint = f"vectors have {', '.join(map(str, LANES))} lanes"
        raise ScriptError(f"there are no vectors of {lanes} lanes", span=current_span(), hint=hint)
    return call(ROW["vload"], src, lanes=lanes, dtype=dtype or _pointee(src, "the load"))


def vstore(value: Expr, dst: Expr, dtype: str = "") -> Call:
    """Store a vector from `dst` on, which need not be aligned as a vector. `dtype` is that of an element."""
    return call(ROW["vstore"], value, dst, dtype=dtype or value.dtype.element.name)


def _pointee(pointer: Expr, what: str) -> str:
    """The type of the elements that a pointer points to."""
    found = pointer.dtype.pointee if isinstance(pointer.dtype, PointerType) else None
    if found is None:
        hint = "give pointers to elements: B.ptr_to([i])"
        raise ScriptError(f"{what} needs to know of which elements", span=current_span(), hint=hint)
    return found.name


# ---- arithmetic ---------------------------------------------------------------------------------------------------


def native_cos(x: Number) -> Call:
    """The cosine, as precise as the device likes."""
    return call(ROW["native_cos"], x)


def native_divide(x: Number, y: Number) -> Call:
    """x / y, as precise as the device likes."""
    return call(ROW["native_divide"], x, y)


def native_exp(x: Number) -> Call:
    """e to the x, as precise as the device likes."""
    return call(ROW["native_exp"], x)


def native_exp2(x: Number) -> Call:
    """2 to the x, as precise as the device likes."""
    return call(ROW["native_exp2"], x)


def native_exp10(x: Number) -> Call:
    """10 to the x, as precise as the device likes."""
    return call(ROW["native_exp10"], x)


def native_log(x: Number) -> Call:
    """The natural logarithm, as precise as the device likes."""
    return call(ROW["native_log"], x)


def native_log2(x: Number) -> Call:
    """The logarithm to base 2, as precise as the device likes."""
    return call(ROW["native_log2"], x)


def native_log10(x: Number) -> Call:
    """The logarithm to base 10, as precise as the device likes."""
    return call(ROW["native_log10"], x)


def native_powr(x: Number, y: Number) -> Call:
    """x to the y for x that is not negative, as precise as the device likes."""
    return call(ROW["native_powr"], x, y)


def native_recip(x: Number) -> Call:
    """1 / x, as precise as the device likes."""
    return call(ROW["native_recip"], x)


def native_rsqrt(x: Number) -> Call:
    """1 / sqrt(x), as precise as the device likes."""
    return call(ROW["native_rsqrt"], x)


def native_sin(x: Number) -> Call:
    """The sine, as precise as the device likes."""
    return call(ROW["native_sin"], x)


def native_sqrt(x: Number) -> Call:
    """The square root, as precise as the device likes."""
    return call(ROW["native_sqrt"], x)


def native_tan(x: Number) -> Call:
    """The tangent, as precise as the device likes."""
    return call(ROW["native_tan"], x)


def mad(a: Number, b: Number, c: Number) -> Call:
    """a * b + c, rounded once or twice."""
    return call(ROW["mad"], a, b, c)


def mul_hi(a: Expr | int, b: Expr | int) -> Call:
    """The upper half of the whole product."""
    return call(ROW["mul_hi"], a, b)


def add_sat(a: Expr | int, b: Expr | int) -> Call:
    """The sum, or the number nearest to it that the type has."""
    return call(ROW["add_sat"], a, b)


def sub_sat(a: Expr | int, b: Expr | int) -> Call:
    """The difference, or the number nearest to it that the type has."""
    return call(ROW["sub_sat"], a, b)


def hadd(a: Expr | int, b: Expr | int) -> Call:
    """Half of the sum, rounded down, without overflow."""
    return call(ROW["hadd"], a, b)


def rhadd(a: Expr | int, b: Expr | int) -> Call:
    """Half of the sum, rounded up, without overflow."""
    return call(ROW["rhadd"], a, b)


def rotate(a: Expr | int, b: Expr | int) -> Call:
    """The bits of `a`, rotated to the left by `b`."""
    return call(ROW["rotate"], a, b)


# ---- text ---------------------------------------------------------------------------------------------------------


def printf(format: str, *values: Number) -> Call:
    """Print a line of each work-item; the format is C's."""
    return call(ROW["printf"], format, *values)
