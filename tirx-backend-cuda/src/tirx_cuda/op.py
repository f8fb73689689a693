"""Intrinsics of CUDA: rows, and how each is written.

Rows keep CUDA's own names where CUDA has the function; the others are helpers that generated source defines when it uses them
(`cpp/helpers.cuh`). Facts: CUDA C++ Programming Guide, PTX ISA.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tirx.intrinsic import Effect, Operand
from tirx.ir import DType, Expr

from . import emit, op_iket, op_matrix, op_memory, op_timer
from .capabilities import needs
from .entry import Entry, sync, value

__all__ = ["EMISSIONS", "INTRINSICS", "ROW"]

_NUMBER, _WORD, _U32 = ("int", "uint", "float"), ("integer",), ("uint32", "int32")


# ---- synchronisation ----------------------------------------------------------------------------------------------


def _synchronisation() -> Iterator[Entry]:
    yield Entry(
        "cta_sync", [], "void", sync("cta"), "__syncthreads()", "all threads of the cta meet and see each other's writes",
        meaning="sync:cta_sync",
    )  # fmt: skip
    yield Entry(
        "warp_sync", [], "void", sync("warp"), "__syncwarp()", "all threads of the warp meet and see each other's writes",
        meaning="sync:warp_sync",
    )  # fmt: skip
    yield Entry(
        "warpgroup_sync", [value("bar_no", *_WORD)], "void", sync("warpgroup", identifier="bar_no"), "warpgroup_sync({0})",
        "the 128 threads of a warpgroup meet at named barrier `bar_no` (0 to 15; 0 is that of cta_sync)",
        meaning="sync:warpgroup_sync", helpers=("warpgroup_sync",),
    )  # fmt: skip
    yield Entry(
        "cluster_sync", [], "void", sync("cluster"), "cluster_sync()", "all threads of the cluster meet",
        meaning="sync:cluster_sync", helpers=("cluster_sync",), requires=needs("cluster"),
    )  # fmt: skip
    yield Entry(
        "grid_sync", [], "void", sync("kernel"), "grid_sync()", "all threads of a cooperative launch meet",
        meaning="sync:grid_sync", helpers=("grid_sync",), requires=needs("grid_sync"),
    )  # fmt: skip
    for name, words in (("and", "all"), ("or", "any")):
        yield Entry(
            f"syncthreads_{name}", [value("cond", "bool", "integer")], "int32", sync("cta"), f"__syncthreads_{name}({{0}})",
            f"all threads of the cta meet; 1 when the condition holds in {words} of them", meaning=f"sync:syncthreads_{name}",
        )  # fmt: skip
    yield Entry(
        "thread_fence", [], "void", "sync", "__threadfence()", "writes before it are seen by the device before those after it",
        meaning="sync:thread_fence",
    )  # fmt: skip
    yield Entry(
        "nano_sleep", [value("time", *_WORD)], "void", "opaque", "__nanosleep({0})", "wait about so many nanoseconds",
        meaning="sync:nano_sleep", requires=needs("nanosleep"),
    )  # fmt: skip


# ---- who am I -----------------------------------------------------------------------------------------------------


def _sreg_dtype(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    return DType(f"uint{attrs['bits']}")


def _identity() -> Iterator[Entry]:
    yield Entry(
        "thread_rank", [], "int32", "pure", "thread_rank()", "linear index of the thread in its cta",
        meaning="identity:thread_rank", helpers=("thread_rank",),
    )  # fmt: skip
    yield Entry(
        "mov_sreg", [], _sreg_dtype, "opaque", emit.special_register, "value of a special register",
        meaning="identity:mov_sreg", attrs={"bits": 0, "reg_name": ""}, accuracy="model",
        form=("bits", "reg_name"),
    )  # fmt: skip
    yield Entry(
        "clock64", [], "int64", "opaque", "clock64()", "cycle counter of the multiprocessor",
        meaning="identity:clock64", accuracy="model",
    )  # fmt: skip


# ---- votes, shuffles, reductions ----------------------------------------------------------------------------------

_MASK = Operand("mask", dtypes=_WORD)


def _votes() -> Iterator[Entry]:
    yield Entry(
        "elect_sync", [], "bool", Effect("sync", elects="warp"), "elect_sync()", "true in exactly one thread of the warp",
        meaning="votes:elect_sync", helpers=("elect_sync",), requires=needs("elect"),
    )  # fmt: skip
    yield Entry(
        "any_sync", [_MASK, value("pred", "bool", "integer")], "int32", "sync", emit.masked("__any_sync"),
        "1 when the predicate holds in any thread of the mask", meaning="votes:any_sync",
    )  # fmt: skip
    yield Entry(
        "ballot_sync", [_MASK, value("pred", "bool", "integer")], "uint32", "sync", emit.masked("__ballot_sync"),
        "one bit for each thread of the mask in which the predicate holds", meaning="votes:ballot_sync",
    )  # fmt: skip
    yield Entry(
        "__activemask", [], "uint32", "sync", "__activemask()", "one bit for each thread of the warp that is here now",
        meaning="votes:activemask",
    )  # fmt: skip


_SHUFFLES = (
    ("__shfl_sync", "lane", "the value of thread `lane` of each group of `width` threads"),
    ("__shfl_up_sync", "delta", "the value of the thread `delta` below in its group, own value where there is none"),
    ("__shfl_down_sync", "delta", "the value of the thread `delta` above in its group, own value where there is none"),
    ("__shfl_xor_sync", "lane_mask", "the value of the thread whose number differs in the bits of `lane_mask`"),
)


def _shuffles() -> Iterator[Entry]:
    for name, other, doc in _SHUFFLES:
        operands = [_MASK, Operand("var"), value(other, *_WORD), Operand("width", dtypes=_WORD, default=32)]
        meaning = f"votes:{name.strip('_').removesuffix('_sync')}"
        yield Entry(name, operands, "arg:var", "sync", emit.shuffle(name), doc, meaning=meaning)


_OPERATION = Operand("op", "text")


def _reductions() -> Iterator[Entry]:
    yield Entry(
        "warp_reduce", [value("value", *_NUMBER), _OPERATION, Operand("width", "constant", dtypes=_WORD, default=32)], "same", "sync",
        emit.warp_reduce, "sum, max or min over groups of `width` threads of a warp; all of them get it",
        meaning="reduce:warp_reduce", accuracy="ulp(5)",
    )  # fmt: skip
    yield Entry(
        "cta_reduce",
        [
            value("value", *_NUMBER), _OPERATION, Operand("num_warps", "constant", dtypes=_WORD),
            Operand("scratch", "pointer", rw="rw"),
        ],
        "same", sync("cta"), emit.cta_reduce,
        "sum, max or min over `num_warps` warps of the cta by way of shared scratch memory, an element for each warp",
        meaning="reduce:cta_reduce", accuracy="ulp(8)",
    )  # fmt: skip
    for name in ("add", "min"):
        yield Entry(
            f"reduce_{name}_sync_u32", [_MASK, value("v", "uint32")], "uint32", "sync", emit.masked(f"__reduce_{name}_sync"),
            f"{'sum' if name == 'add' else 'minimum'} over the threads of the mask, by one instruction",
            meaning=f"reduce:reduce_{name}_sync", requires=needs("redux"),
        )  # fmt: skip


# ---- memory -------------------------------------------------------------------------------------------------------


def _loaded_dtype(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    return DType(attrs["dtype"])


def _memory() -> Iterator[Entry]:
    yield Entry(
        "ldg", [Operand("addr", "pointer")], _loaded_dtype, "read", emit.ldg,
        "load through the read-only cache; nobody may write there while the kernel runs", meaning="memory:ldg",
        attrs={"dtype": "float32"}, form=("addr", "dtype"),
    )  # fmt: skip
    yield Entry(
        "ld_acquire", [Operand("addr", "pointer")], _loaded_dtype, "atomic", emit.acquire,
        "load a word; what its writer did before releasing it is seen after it", meaning="memory:ld_acquire",
        attrs={"dtype": "uint32", "scope": "gpu"}, requires=needs("memory_model"),
    )  # fmt: skip
    yield Entry(
        "cvta_generic_to_shared", [Operand("ptr", "pointer")], "uint32", "pure", "(unsigned int)__cvta_generic_to_shared({0})",
        "32-bit address in the shared window of the cta", meaning="memory:cvta_generic_to_shared",
    )  # fmt: skip


# ---- arithmetic and conversion ------------------------------------------------------------------------------------

_PAIR = ("float16", "bfloat16")


def _math() -> Iterator[Entry]:
    yield Entry(
        "fdividef", [value("x", "float32"), value("y", "float32")], "float32", "pure", "__fdividef({0}, {1})",
        "fast approximate x / y", meaning="math:fdividef", accuracy="ulp(2)",
    )  # fmt: skip
    yield Entry(
        "ffs_u32", [value("v", *_U32)], "int32", "pure", "__ffs({0})", "1 + position of the lowest bit that is set, 0 for 0",
        meaning="math:ffs",
    )  # fmt: skip
    for name in ("hmin2", "hmax2"):
        yield Entry(
            name, [value("a", *_PAIR, lanes=(2,)), value("b", *_PAIR, lanes=(2,))], "same", "pure", f"__{name}({{0}}, {{1}})",
            f"the {'smaller' if name == 'hmin2' else 'larger'} of each of two halves", meaning=f"math:{name}",
        )  # fmt: skip
    for name, word in (("fmul2_rn", "product"), ("fadd2_rn", "sum")):
        yield Entry(
            name, [value("a", "float32", lanes=(2,)), value("b", "float32", lanes=(2,))], "same", "pure", f"{name}({{0}}, {{1}})",
            f"{word} of two pairs, one instruction where the architecture has it", meaning=f"math:{name}", helpers=(name,),
        )  # fmt: skip


def _conversion() -> Iterator[Entry]:
    rows = (
        ("float22half2", "dst src", "two floats at `src` become two halves at `dst`"),
        ("half8tofloat8", "src dst", "eight halves at `src` become eight floats at `dst`"),
        ("float8tohalf8", "src dst", "eight floats at `src` become eight halves at `dst`"),
    )
    for name, order, doc in rows:
        operands = [Operand(item, "pointer", rw="w" if item == "dst" else "r") for item in order.split()]
        yield Entry(
            name, operands, "void", "write", f"{name}({{0}}, {{1}})", doc, meaning=f"convert:{name}", helpers=(name,)
        )


# ---- debugging and foreign code -----------------------------------------------------------------------------------


def _result_dtype(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    return DType(attrs["return_type"])


def _debug() -> Iterator[Entry]:
    yield Entry(
        "printf", [Operand("fmt", "text"), Operand("args")], "void", "opaque", emit.printf, "print from the kernel",
        meaning="debug:printf", variadic=True,
    )  # fmt: skip
    yield Entry(
        "trap_when_assert_failed", [value("cond", "bool")], "void", "opaque", "trap_when_assert_failed({0})",
        "stop the kernel with an error where the condition is false", meaning="debug:trap_when_assert_failed",
        helpers=("trap_when_assert_failed",),
    )  # fmt: skip
    yield Entry(
        "func_call", [Operand("func_name", "text"), Operand("args")], _result_dtype, "opaque", emit.func_call,
        "call a device function whose source is given", meaning=None, variadic=True,
        attrs={"source_code": "", "return_type": "void"},
    )  # fmt: skip


_ENTRIES = tuple(
    entry
    for topic in (
        _synchronisation, _identity, _votes, _shuffles, _reductions, _memory, _math, _conversion, _debug,
        op_memory.entries, op_matrix.entries, op_timer.entries, op_iket.entries,
    )
    for entry in topic()
)  # fmt: skip
INTRINSICS = tuple(entry.row for entry in _ENTRIES)
EMISSIONS = tuple(entry.emission for entry in _ENTRIES)
ROW = {row.name.removeprefix("cuda."): row for row in INTRINSICS}
