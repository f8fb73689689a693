"""Emission rules that need more than a format: `(printer, call, operand texts) -> source`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tirx.codegen.literal import quoted
from tirx.ir import Add, Binary, Call, DType, Expr, IntImm, Max, Min, StringImm, Var
from tirx.support.errors import TargetError

__all__ = [
    "acquire", "cta_reduce", "func_call", "lane_mask", "ldg", "masked", "printf", "shuffle", "special_register", "warp_reduce",
]  # fmt: skip

Rule = Callable[[Any, Call, Sequence[str]], str]

UNARY = 14  # level of casts in C
WARP = 32  # threads


def lane_mask(printer: Any, mask: Expr) -> str:
    """A mask of lanes: constants in hexadecimal, one digit for four lanes."""
    return f"0x{mask.value & 0xFFFFFFFF:08x}" if isinstance(mask, IntImm) else str(printer.text(mask))


def masked(function: str) -> Rule:
    """A function whose first operand is a mask of lanes."""
    return lambda printer, call, texts: f"{function}({', '.join([lane_mask(printer, call.args[0]), *texts[1:]])})"


def shuffle(function: str) -> Rule:
    """An exchange of registers; a width of 32 goes without saying."""

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        value, width = call.args[1].dtype, call.args[3]
        if value.lanes > 1 or (value.is_float and value.bits < 16):
            raise TargetError(
                f"a {value} value cannot be shuffled",
                span=call.span,
                hint="shuffle 16 to 64 bits at a time; reinterpret vectors",
            )
        tail = [] if isinstance(width, IntImm) and width.value == 32 else [texts[3]]
        text = f"{function}({', '.join([lane_mask(printer, call.args[0]), texts[1], texts[2], *tail])})"
        return text if value.bits >= 32 or value.is_float else f"({printer.type(value)}){text}"

    return rule


# ---- reductions ---------------------------------------------------------------------------------------------------

_OPERATIONS: dict[str, type[Binary]] = {"sum": Add, "max": Max, "min": Min}


def _combined(printer: Any, op: str, dtype: DType, other: str) -> str:
    """The statement that takes `other` into `value`."""
    if op == "sum":
        return f"value += {other};"
    inner = printer.alone()
    value, second = Var("value", dtype), Var("other", dtype)
    inner.names.give(value, "value")
    inner.names.give(second, other)
    return f"value = {inner.assigned(_OPERATIONS[op](value, second))};"


def _operation(call: Call) -> str:
    name = getattr(call.args[1], "value", None)
    if name not in _OPERATIONS:
        raise TargetError(f"`{name}` is no reduction", span=call.span, hint='give "sum", "max" or "min"')
    return str(name)


def _constant(call: Call, position: int) -> int:
    """An operand that is a number while the kernel is built."""
    value = call.args[position]
    if not isinstance(value, IntImm):
        raise TargetError(
            f"operand {position} of {call.op.name} is a number known while the kernel is built", span=call.span
        )
    return value.value


def _warp_function(printer: Any, op: str, dtype: DType, width: int) -> str:
    """A butterfly over `width` lanes, one function for each operation, type and width."""
    kind = printer.type(dtype)
    name, tail = (f"warp_{op}", "") if width == WARP else (f"warp_{op}_{width}", f", {width}")
    shuffled = f"__shfl_xor_sync(0xffffffff, value, step{tail})"
    printer.define(
        f"{name}({kind})",
        f"__device__ inline {kind} {name}({kind} value) {{\n"
        f"  for (int step = {width // 2}; step > 0; step /= 2) {_combined(printer, op, dtype, shuffled)}\n"
        "  return value;\n}",
    )
    return name


def warp_reduce(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """`warp_sum(value)`."""
    return f"{_warp_function(printer, _operation(call), call.dtype, _constant(call, 2))}({texts[0]})"


_CTA = """\
__device__ inline {kind} {name}({kind} value, int warps, {kind}* scratch) {{
  int rank = {rank}();
  value = {warp}(value);
  __syncthreads();
  if (rank % 32 == 0) scratch[rank / 32] = value;
  __syncthreads();
  value = scratch[0];
  for (int i = 1; i < warps; ++i) {combined}
  return value;
}}"""


def cta_reduce(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """`cta_sum(value, warps, scratch)`."""
    op, dtype = _operation(call), call.dtype
    kind, name = printer.type(dtype), f"cta_{op}"
    warp, combined = _warp_function(printer, op, dtype, WARP), _combined(printer, op, dtype, "scratch[i]")
    text = _CTA.format(kind=kind, name=name, rank=printer.helper("thread_rank"), warp=warp, combined=combined)
    printer.define(f"{name}({kind})", text)
    typed = getattr(call.args[3].dtype, "pointee", None) is dtype
    scratch = texts[3] if typed else f"({kind}*){printer.text(call.args[3], UNARY)}"
    return f"{name}({texts[0]}, {_constant(call, 2)}, {scratch})"


# ---- memory -------------------------------------------------------------------------------------------------------

_WORDS = {4: "unsigned int", 8: "uint2", 16: "uint4"}
_LDG = frozenset(
    [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "float32x2",
        "float32x4",
        "float64x2",
        "float16x2",
        "bfloat16x2",
        "int32x2",
        "int32x4",
        "uint32x2",
        "uint32x4",
    ]
)


def _pointer(printer: Any, pointer: Expr, pointee: DType) -> str:
    """A pointer that is read, typed as its element."""
    if getattr(pointer.dtype, "pointee", None) is pointee:
        return str(printer.text(pointer))
    return f"(const {printer.type(pointee)}*){printer.text(pointer, UNARY)}"


def ldg(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """`__ldg` of the type, or of words of the same size."""
    kind, pointer = printer.type(call.dtype), printer.text(call.args[0], UNARY)
    if call.dtype.name in _LDG:
        return f"__ldg({_pointer(printer, call.args[0], call.dtype)})"
    word = _WORDS.get(call.dtype.bytes)
    if word is None:
        raise TargetError(
            f"ldg of {call.dtype.bytes} bytes does not exist", span=call.span, hint="load 1 to 16 bytes at a time"
        )
    return f"{printer.helper('bit_cast')}<{kind}>(__ldg((const {word}*){pointer}))"


_SCOPES = ("cta", "cluster", "gpu", "sys")
_CONSTRAINT = {32: "r", 64: "l"}


def acquire(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """A function for each width and scope, named after them."""
    scope, bits = call.attr("scope"), call.dtype.bits
    if scope not in _SCOPES or bits not in _CONSTRAINT or call.dtype.lanes > 1 or not call.dtype.is_integer:
        raise TargetError(
            f"an acquiring load of {call.dtype} at scope `{scope}` does not exist", span=call.span,
            hint=f"load 32 or 64-bit integers; the scopes are {', '.join(_SCOPES)}",
        )  # fmt: skip
    kind = printer.type(call.dtype)
    name = f"load_acquire_{scope}"
    instruction = f'asm volatile("ld.acquire.{scope}.b{bits} %0, [%1];" : "={_CONSTRAINT[bits]}"(value) : "l"(address) : "memory");'
    text = f"__device__ inline {kind} {name}(const {kind}* address) {{\n  {kind} value;\n  {instruction}\n  return value;\n}}"
    printer.define(f"{name}({kind})", text)
    return f"{name}({_pointer(printer, call.args[0], call.dtype)})"


_REGISTER = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z0-9_]+)?")


def special_register(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """A function for each register, named after it."""
    register, bits = str(call.attr("reg_name")).removeprefix("%"), call.attr("bits")
    if not _REGISTER.fullmatch(register) or bits not in _CONSTRAINT:
        raise TargetError(
            f"{register!r} ({bits} bits) is no special register",
            span=call.span,
            hint='such as mov_sreg(32, "laneid"); 32 or 64 bits',
        )
    kind, name = printer.type(call.dtype), f"read_{register.replace('.', '_')}"
    instruction = f'asm volatile("mov.u{bits} %0, %%{register};" : "={_CONSTRAINT[bits]}"(value));'
    printer.define(name, f"__device__ inline {kind} {name}() {{\n  {kind} value;\n  {instruction}\n  return value;\n}}")
    return f"{name}()"


# ---- text and foreign code ----------------------------------------------------------------------------------------


def printf(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """`printf` with the author's format; small floats are widened."""
    fmt = call.args[0]
    assert isinstance(fmt, StringImm)
    values = [_printed(printer, arg) for arg in call.args[1:]]
    return f"printf({', '.join([quoted(fmt.value), *values])})"


def _printed(printer: Any, arg: Expr) -> str:
    if arg.dtype.is_float and arg.dtype.bits < 32:
        return f"({printer.type(DType('float32'))}){printer.text(arg, UNARY)}"
    return str(printer.text(arg))


def func_call(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """The source once, then the call. The name is a name and nothing else."""
    name = call.args[0]
    assert isinstance(name, StringImm)
    source = str(call.attr("source_code")).strip("\n")
    if not (name.value.isascii() and name.value.isidentifier()):
        raise TargetError(f"{name.value!r} is not the name of a function", span=call.span, hint="give its name alone")
    if not re.search(rf"\b{name.value}\b", source):
        raise TargetError(
            f"the source given for `{name.value}` does not define it",
            span=call.span,
            hint="give the function's whole definition",
        )
    known = printer.prelude.definition(f"function {name.value}")
    if known not in (None, source):
        raise TargetError(
            f"two different sources are given for `{name.value}`",
            span=call.span,
            hint="give each function its own name",
        )
    printer.define(f"function {name.value}", source)
    return f"{name.value}({', '.join(texts[1:])})"
