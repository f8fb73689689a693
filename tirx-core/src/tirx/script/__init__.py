"""The language. `from tirx import script as Tx`; everything that kernel authors write is `Tx.<name>`.

Core's names stand below. A name that core lacks is looked for in the manifests of the installed backends, and only the backend that
offers it is loaded; nothing of that is kept in this module, so what a backend takes away is gone.
"""

from __future__ import annotations

# ruff: noqa: PLE0604, N812 - the language has its own `min`, `abs`, `filter`; constructors come from tables
import sys

from ..intrinsic.core.arithmetic import (
    abs,
    add,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    cast,
    ceildiv,
    div,
    divide,
    equal,
    floordiv,
    floormod,
    greater,
    greater_equal,
    infinity,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    max,
    max_value,
    min,
    min_value,
    mul,
    multiply,
    neg,
    not_equal,
    q_multiply_shift,
    q_multiply_shift_per_axis,
    select,
    shift_left,
    shift_right,
    sub,
    subtract,
    truncdiv,
    truncmod,
)  # fmt: skip
from ..intrinsic.core.atomic import atomic_add, atomic_cas, atomic_exch, atomic_max, atomic_min
from ..intrinsic.core.calls import call_extern, call_intrin, call_pure_extern
from ..intrinsic.core.collective import (
    tvm_storage_sync,
    tvm_warp_activemask,
    tvm_warp_shuffle,
    tvm_warp_shuffle_down,
    tvm_warp_shuffle_up,
    tvm_warp_shuffle_xor,
)  # fmt: skip
from ..intrinsic.core.control import assume, filter, if_then_else, likely, selector
from ..intrinsic.core.math import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceil,
    clz,
    copysign,
    cos,
    cosh,
    erf,
    exp,
    exp2,
    exp10,
    fabs,
    floor,
    fma,
    fmod,
    hypot,
    isfinite,
    isinf,
    isnan,
    ldexp,
    log,
    log1p,
    log2,
    log10,
    nearbyint,
    nextafter,
    popcount,
    pow,
    round,
    rsqrt,
    sigmoid,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
)  # fmt: skip
from ..intrinsic.core.memory import (
    address_of,
    handle_add_byte_offset,
    isnullptr,
    masked_load,
    masked_store,
    ptr_byte_offset,
    reinterpret,
    tvm_access_ptr,
    type_annotation,
    undef,
)  # fmt: skip
from ..intrinsic.core.vector import broadcast, dp4a, get_active_lane_mask, ramp, vectorcombine, vectorhigh, vectorlow
from ..ir import BufferRegion, Call, Expr, IRModule, PrimFunc
from . import builder
from .builder import (
    CONSTRUCTORS,
    NODES,
    Assert,
    Bind,
    Break,
    Builder,
    Continue,
    Else,
    If,
    IRBuilder,
    Let,
    LetAnnotation,
    LocalVectorAnnotation,
    Ptr,
    Return,
    TensorMap,
    Then,
    While,
    add_to_parent,
    alloc_buffer,
    alloc_local,
    alloc_scalar,
    alloc_shared,
    arg,
    attr,
    bind,
    break_loop,
    buffer,
    buffer_store,
    cluster_id,
    continue_loop,
    cta_id,
    cta_id_in_cluster,
    cta_id_in_pair,
    decl_buffer,
    decl_scalar,
    device_entry,
    elected,
    env_thread,
    evaluate,
    func_attr,
    func_name,
    func_ret,
    grid,
    handle,
    hint,
    lane_id,
    launch_thread,
    let,
    local_scalar,
    match_buffer,
    parallel,
    ptr,
    scope_id,
    serial,
    shared_scalar,
    smem,
    static_assert,
    thread_binding,
    thread_id,
    thread_id_in_wg,
    thread_return,
    trace,
    unroll,
    var,
    vectorized,
    void,
    warp_id,
    warp_id_in_wg,
    warpgroup_id,
)  # fmt: skip
from .builder.buffers import BufferProxy
from .builder.nodes import make_range as Range
from .builder.nodes import tuple_node as tvm_tuple
from .builder.types import DtypeConstructor, TupleAnnotation, constructor
from .lowered import lowered as tirx
from .lowered import tvm_thread_invariant
from .namespaces import LAZY, find, load_lazy, register_script_namespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..layout import Axis, ComposeLayout, Iter, R, S, TileLayout
    from . import tile
    from .assign import meta_var
    from .decorators import inline, macro, meta_class, prim_func
    from .specialization import Optional, constexpr, jit
    from .text import from_source
    from .tile import cluster, cta, thread, warp, warpgroup, wg

__all__ = [
    "Assert", "Axis", "Bind", "Break", "Buffer", "BufferRegion", "Builder", "Call", "ComposeLayout", "Continue", "DtypeConstructor",
    "Else", "Expr", "IRBuilder", "IRModule", "If", "Iter", "Let", "LetAnnotation", "LocalVectorAnnotation",
    "Optional", "PrimFunc", "Ptr", "R", "Range", "Return", "S", "TensorMap", "Then", "TileLayout", "Tuple", "While",
    "abs", "acos", "acosh", "add", "add_to_parent", "address_of", "alloc_buffer", "alloc_local", "alloc_scalar",
    "alloc_shared", "arg", "asin", "asinh", "assume", "atan", "atan2", "atanh", "atomic_add", "atomic_cas",
    "atomic_exch", "atomic_max", "atomic_min", "attr", "bind", "bitwise_and", "bitwise_not", "bitwise_or",
    "bitwise_xor", "break_loop", "broadcast", "buffer", "buffer_store", "builder", "call_extern", "call_intrin",
    "call_pure_extern", "cast", "ceil", "ceildiv", "cluster", "cluster_id", "clz", "constexpr", "continue_loop",
    "copysign", "cos", "cosh", "cta", "cta_id", "cta_id_in_cluster", "cta_id_in_pair", "decl_buffer", "decl_scalar",
    "device_entry", "div", "divide", "dp4a", "elected", "env_thread", "equal", "erf", "evaluate", "exp", "exp10",
    "exp2", "fabs", "filter", "floor", "floordiv", "floormod", "fma", "fmod", "from_source", "func_attr", "func_name",
    "func_ret", "get_active_lane_mask", "greater", "greater_equal", "grid", "handle", "handle_add_byte_offset",
    "hint", "hypot", "if_then_else", "infinity", "inline", "is_buffer_var", "isfinite", "isinf", "isnan", "isnullptr",
    "jit", "lane_id", "launch_thread", "ldexp", "less", "less_equal", "let", "likely", "local_scalar", "log", "log10",
    "log1p", "log2", "logical_and", "logical_not", "logical_or", "macro", "masked_load", "masked_store",
    "match_buffer", "max", "max_value", "meta_class", "meta_var", "min", "min_value", "mul", "multiply", "nearbyint",
    "neg", "nextafter", "not_equal", "parallel", "popcount", "pow", "prim_func", "ptr", "ptr_byte_offset",
    "q_multiply_shift", "q_multiply_shift_per_axis", "ramp", "register_script_namespace", "reinterpret", "round",
    "rsqrt", "scope_id", "select", "selector", "serial", "shared_scalar", "shift_left", "shift_right", "sigmoid",
    "sin", "sinh", "smem", "sqrt", "static_assert", "sub", "subtract", "tan", "tanh", "thread", "thread_binding",
    "thread_id", "thread_id_in_wg", "thread_return", "tile", "tirx", "trace", "trunc", "truncdiv", "truncmod",
    "tvm_access_ptr", "tvm_storage_sync", "tvm_thread_invariant", "tvm_tuple", "tvm_warp_activemask",
    "tvm_warp_shuffle", "tvm_warp_shuffle_down", "tvm_warp_shuffle_up", "tvm_warp_shuffle_xor", "type_annotation",
    "undef", "unroll", "var", "vectorcombine", "vectorhigh", "vectorized", "vectorlow", "void", "warp", "warp_id",
    "warp_id_in_wg", "warpgroup", "warpgroup_id", "wg",
    *CONSTRUCTORS, *NODES,
]  # fmt: skip

Buffer = BufferProxy()
Tuple = TupleAnnotation()
globals().update(CONSTRUCTORS)  # `float32`, `int8x4`, `f16`, ...: one table
globals().update(NODES)  # `Add`, `Cast`, `IntImm`, ...


def is_buffer_var(value: object) -> bool:
    """Whether `value` is a buffer."""
    return isinstance(value, Buffer)  # type: ignore[arg-type]  # the proxy knows


def __getattr__(name: str) -> Any:
    """Names that are imported when they are used: the parser's, and those that backends offer."""
    if name in LAZY:
        return load_lazy(name)
    dtype = constructor(name)
    if dtype is not None:
        return dtype
    return find(name, sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted(__all__)
