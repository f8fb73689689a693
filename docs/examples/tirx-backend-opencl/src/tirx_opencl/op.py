"""The intrinsics behind `Tx.opencl`: for each its row, and how OpenCL C writes it.

OpenCL 1.2, section 6.12. A meaning is named and imported only by a simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tirx.codegen.literal import quoted
from tirx.intrinsic import Effect, Emission, Intrinsic, Operand
from tirx.ir import Call, DType, IntImm, PointerType, StringImm
from tirx.support.errors import TargetError

__all__ = ["EMISSIONS", "FENCES", "INTRINSICS", "LANES", "NATIVE", "ROW", "WORK_ITEM"]

Rule = str | Callable[[Any, Call, Sequence[str]], str]

_SIM = "tirx_opencl.sim."
_FLOATS = ("float32",)
UNARY = 14  # level of casts in C
LANES = (2, 4, 8, 16)  # of vectors

# functions of a dimension: name -> doc
WORK_ITEM = {
    "get_global_id": "number of the work-item along a dimension, over all work-groups",
    "get_local_id": "number of the work-item along a dimension of its work-group",
    "get_group_id": "number of the work-group along a dimension",
    "get_global_size": "work-items along a dimension",
    "get_local_size": "work-items of a work-group along a dimension",
    "get_num_groups": "work-groups along a dimension",
}
# functions that are as precise as the device likes: name -> number of operands
NATIVE = {
    "native_cos": 1, "native_divide": 2, "native_exp": 1, "native_exp2": 1, "native_exp10": 1, "native_log": 1,
    "native_log2": 1, "native_log10": 1, "native_powr": 2, "native_recip": 1, "native_rsqrt": 1, "native_sin": 1,
    "native_sqrt": 1, "native_tan": 1,
}  # fmt: skip
# integer functions: name -> doc
_INTEGER = {
    "mul_hi": "the upper half of the whole product",
    "add_sat": "the sum, or the number nearest to it that the type has",
    "sub_sat": "the difference, or the number nearest to it that the type has",
    "hadd": "half of the sum, rounded down, without overflow",
    "rhadd": "half of the sum, rounded up, without overflow",
    "rotate": "the bits of the first operand, rotated to the left",
}
FENCES = {
    "CLK_LOCAL_MEM_FENCE": "local memory",
    "CLK_GLOBAL_MEM_FENCE": "global memory",
    "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE": "both",
}


def _dimension(printer: Any, call: Call, texts: Sequence[str]) -> str:
    axis = call.args[0]
    assert isinstance(axis, IntImm)
    if not 0 <= axis.value <= 2:
        raise TargetError(f"there is no dimension {axis.value}", span=call.span, hint="dimensions are 0, 1 and 2")
    return f"(int){call.op.name.rpartition('.')[2]}({axis.value})"


def _printf(printer: Any, call: Call, texts: Sequence[str]) -> str:
    fmt = call.args[0]
    assert isinstance(fmt, StringImm)
    return f"printf({', '.join([quoted(fmt.value), *(_printed(printer, arg) for arg in call.args[1:])])})"


def _printed(printer: Any, arg: Any) -> str:
    if arg.dtype.is_float and arg.dtype.name != "float64":
        return str(printer.converted(printer.term(arg), arg.dtype, DType("float32")).text)
    return str(printer.text(arg))


def _async_copy(printer: Any, call: Call, texts: Sequence[str]) -> str:
    return f"{EVENT} = async_work_group_copy({texts[0]}, {texts[1]}, {texts[2]}, {EVENT})"


EVENT = "copies"  # the variable of a kernel that stands for its copies under way


def _vector(args: Sequence[Any], attrs: dict[str, Any]) -> DType:
    return DType(attrs["dtype"]).with_lanes(attrs["lanes"])


def _elements(printer: Any, pointer: Any, dtype: DType) -> str:
    """A pointer typed as the elements that a vector is made of."""
    scope = pointer.dtype.scope if isinstance(pointer.dtype, PointerType) else "global"
    if getattr(pointer.dtype, "pointee", None) is dtype:
        return str(printer.text(pointer))
    return f"({printer.pointer(dtype, scope)}){printer.text(pointer, UNARY)}"


def _vload(printer: Any, call: Call, texts: Sequence[str]) -> str:
    return f"vload{call.dtype.lanes}(0, {_elements(printer, call.args[0], call.dtype.element)})"


def _vstore(printer: Any, call: Call, texts: Sequence[str]) -> str:
    dtype = call.args[0].dtype
    return f"vstore{dtype.lanes}({texts[0]}, 0, {_elements(printer, call.args[1], dtype.element)})"


def _call(name: str) -> Rule:
    return lambda printer, call, texts: f"{name}({', '.join(texts)})"


def _pair(row: Intrinsic, rule: Rule) -> tuple[Intrinsic, Emission]:
    return row, Emission(row.name, "opencl", rule)


def _work_items() -> Iterator[tuple[Intrinsic, Emission]]:
    for name, doc in WORK_ITEM.items():
        operands = [Operand("dimension", "constant", dtypes=("integer",))]
        row = Intrinsic(
            f"opencl.{name}", operands, "int32", doc=doc, meaning=f"{_SIM}work_items:{name}", source="6.12.1"
        )
        yield _pair(row, _dimension)


def _math() -> Iterator[tuple[Intrinsic, Emission]]:
    for name, count in NATIVE.items():
        operands = [Operand(letter, dtypes=_FLOATS) for letter in "xy"[:count]]
        row = Intrinsic(
            f"opencl.{name}", operands, "same", doc=f"{name.removeprefix('native_')}, as precise as the device likes",
            meaning=f"{_SIM}math:{name}", accuracy="model", source="6.12.2",
        )  # fmt: skip
        yield _pair(row, _call(name))
    operands = [Operand(letter, dtypes=_FLOATS) for letter in "abc"]
    doc = "a * b + c, rounded once or twice"
    yield _pair(
        Intrinsic(
            "opencl.mad", operands, "same", doc=doc, meaning=f"{_SIM}math:mad", accuracy="model", source="6.12.2"
        ),
        _call("mad"),
    )
    for name, doc in _INTEGER.items():
        operands = [Operand("a", dtypes=("integer",)), Operand("b", dtypes=("integer",))]
        row = Intrinsic(f"opencl.{name}", operands, "same", doc=doc, meaning=f"{_SIM}integer:{name}", source="6.12.3")
        yield _pair(row, _call(name))


def _vectors() -> Iterator[tuple[Intrinsic, Emission]]:
    load = Intrinsic(
        "opencl.vload", [Operand("src", "pointer")], _vector, "read", attrs={"lanes": 4, "dtype": "float32"},
        form=("lanes", "src", "dtype"), meaning=f"{_SIM}vectors:vload", source="6.12.7",
        doc="the vector of `lanes` elements from a pointer on, which is aligned as one element",
    )  # fmt: skip
    yield _pair(load, _vload)
    store = Intrinsic(
        "opencl.vstore", [Operand("value", lanes=LANES), Operand("dst", "pointer", rw="w")], "void", "write",
        attrs={"dtype": "float32"}, form=("value", "dst", "dtype"), meaning=f"{_SIM}vectors:vstore", source="6.12.7",
        doc="store a vector from a pointer on, which is aligned as one element",
    )  # fmt: skip
    yield _pair(store, _vstore)


def _memory() -> Iterator[tuple[Intrinsic, Emission]]:
    for name, what in (("mem_fence", "loads and stores"), ("read_mem_fence", "loads"), ("write_mem_fence", "stores")):
        doc = f"{what} of this work-item before it are done before those after it"
        row = Intrinsic(
            f"opencl.{name}", [], "void", Effect("sync"), attrs={"flags": "CLK_LOCAL_MEM_FENCE"}, doc=doc, form=("flags",),
            meaning=f"{_SIM}memory:fence", source="6.12.9",
        )  # fmt: skip
        yield _pair(row, f"{name}({{flags}})")
    copy = Intrinsic(
        "opencl.async_work_group_copy",
        [Operand("dst", "pointer", rw="w"), Operand("src", "pointer"), Operand("count", dtypes=("integer",))],
        "void",
        "write",
        attrs={"dtype": ""},
        form=("dst", "src", "count", "dtype"),
        doc="all work-items of the group together copy `count` elements between global and local memory; seen after wait_group_events",
        meaning=f"{_SIM}memory:async_work_group_copy",
        source="6.12.10",
    )
    yield _pair(copy, _async_copy)
    wait = Intrinsic(
        "opencl.wait_group_events", [], "void", Effect("sync"), source="6.12.10",
        doc="wait for the copies that the group has started; a barrier after it shows them to all",
        meaning=f"{_SIM}memory:wait_group_events",
    )  # fmt: skip
    yield _pair(wait, f"wait_group_events(1, &{EVENT})")
    printf = Intrinsic(
        "opencl.printf", [Operand("format", "text"), Operand("values")], "void", "opaque", variadic=True,
        doc="print a line of each work-item", meaning=f"{_SIM}memory:printf", source="6.12.13",
    )  # fmt: skip
    yield _pair(printf, _printf)


_PAIRS = (*_work_items(), *_math(), *_vectors(), *_memory())
INTRINSICS = tuple(row for row, _ in _PAIRS)
EMISSIONS = tuple(emission for _, emission in _PAIRS)
ROW = {row.name.removeprefix("opencl."): row for row in INTRINSICS}
