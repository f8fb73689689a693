"""How CUDA C++ writes core's intrinsics: tables by dtype, and small rules where a name is not enough.

Functions of half precision that CUDA does not have (or has only as approximations) go through float: the result is rounded once
more, which costs at most half a unit of the 16-bit type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tirx.intrinsic import Emission, Requirement
from tirx.ir import Call, DType
from tirx.support.errors import TargetError

from ..arch import number_of
from ..capabilities import needs
from ..emit import shuffle

__all__ = ["CORE_EMISSIONS"]

Rule = Callable[[Any, Call, Sequence[str]], str]

# functions that exist for float (with an f) and double
_PLAIN = [
    "exp",
    "exp2",
    "exp10",
    "log",
    "log1p",
    "log2",
    "log10",
    "sqrt",
    "rsqrt",
    "erf",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "hypot",
    "pow",
    "fmod",
    "fma",
    "copysign",
    "nextafter",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "round",
    "nearbyint",
    "ldexp",
]
# what CUDA has for both half and bfloat16, correctly rounded
_HALF = {
    "sqrt": "hsqrt",
    "fabs": "__habs",
    "abs": "__habs",
    "floor": "hfloor",
    "ceil": "hceil",
    "trunc": "htrunc",
    "nearbyint": "hrint",
    "fma": "__hfma",
    "isnan": "__hisnan",
}
_SMALL = frozenset({"float16", "bfloat16"})


def _unsupported(call: Call, dtype: DType) -> TargetError:
    return TargetError(
        f"{call.op.name} of {dtype} does not exist in CUDA",
        span=call.span,
        hint='compute in float32: Tx.cast(x, "float32")',
    )


def _is_before_ampere(printer: Any) -> bool:
    """Whether the architecture may lack arithmetic of bfloat16, whose `__hfma` then does not exist."""
    return printer.target is not None and number_of(printer.target) < 80


def _math(name: str) -> Rule:
    """A function of floats: `expf`, `exp`, `(half)expf((float)x)`."""

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        dtype = call.args[0].dtype.element
        if dtype.name == "float32":
            return f"{name}f({', '.join(texts)})"
        if dtype.name == "float64":
            return f"{name}({', '.join(texts)})"
        if dtype.name not in _SMALL or name == "nextafter":
            raise _unsupported(call, dtype)
        direct = _HALF.get(name)
        if direct is not None and not (name == "fma" and dtype.name == "bfloat16" and _is_before_ampere(printer)):
            return f"{direct}({', '.join(texts)})"
        wide = ", ".join(
            f"(float){printer.text(arg, 14)}" if arg.dtype.is_float else printer.text(arg) for arg in call.args
        )
        return f"({printer.type(dtype)}){name}f({wide})"

    return rule


def _test(name: str) -> Rule:
    """`isnan` and its like answer an int in CUDA."""

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        small = call.args[0].dtype.element.name in _SMALL
        if small and name in _HALF:
            return f"{_HALF[name]}({texts[0]})"
        return f"{name}((float){printer.text(call.args[0], 14)})" if small else f"{name}({texts[0]})"

    return rule


def _sigmoid(printer: Any, call: Call, texts: Sequence[str]) -> str:
    dtype = call.args[0].dtype.element
    printer.helper("sigmoid")
    if dtype.name in _SMALL:
        return f"({printer.type(dtype)})sigmoid((float){printer.text(call.args[0], 14)})"
    return f"sigmoid({texts[0]})"


def _abs(printer: Any, call: Call, texts: Sequence[str]) -> str:
    dtype = call.args[0].dtype.element
    if dtype.is_float:
        return _math("fabs")(printer, call, texts)
    if dtype.bits < 32:
        return f"({printer.type(dtype)})abs({texts[0]})"
    return f"{'llabs' if dtype.bits == 64 else 'abs'}({texts[0]})"


def _unsigned(printer: Any, call: Call) -> str:
    """The operand as the unsigned type of its own width, widened to 32 bits without its sign."""
    dtype = call.args[0].dtype.element
    text = printer.text(call.args[0], 14)
    return (
        f"({printer.type(DType(f'uint{dtype.bits}'))}){text}"
        if dtype.is_int and dtype.bits < 32
        else printer.text(call.args[0])
    )


def _popcount(printer: Any, call: Call, texts: Sequence[str]) -> str:
    return f"{'__popcll' if call.args[0].dtype.bits == 64 else '__popc'}({_unsigned(printer, call)})"


def _clz(printer: Any, call: Call, texts: Sequence[str]) -> str:
    bits = call.args[0].dtype.bits
    if bits == 64:
        return f"__clzll({texts[0]})"
    return f"__clz({texts[0]})" if bits == 32 else f"__clz({_unsigned(printer, call)}) - {32 - bits}"


# ---- atomics ------------------------------------------------------------------------------------------------------

_NATIVE = {
    "atomic_add": ("int32", "uint32", "uint64", "float32", "float64", "float16", "bfloat16"),
    "atomic_max": ("int32", "uint32", "int64", "uint64"),
    "atomic_min": ("int32", "uint32", "int64", "uint64"),
    "atomic_exch": ("int32", "uint32", "uint64", "float32"),
    "atomic_cas": ("int32", "uint32", "uint64", "uint16"),
}
_FUNCTION = {
    "atomic_add": "atomicAdd",
    "atomic_max": "atomicMax",
    "atomic_min": "atomicMin",
    "atomic_exch": "atomicExch",
    "atomic_cas": "atomicCAS",
}


def _atomic(name: str) -> Rule:
    """CUDA's function where it has one for the type; for other words the same bits as unsigned, or a loop that swaps."""

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        dtype = call.args[1].dtype
        pointer = f"({printer.type(dtype)}*){printer.text(call.args[0], 14)}" if _is_opaque(call) else texts[0]
        if dtype.name in _NATIVE[name]:
            return f"{_FUNCTION[name]}({', '.join([pointer, *texts[1:]])})"
        if dtype.bits not in (16, 32, 64) or dtype.lanes > 1:
            raise TargetError(
                f"{name} of {dtype} does not exist in CUDA", span=call.span, hint="atomics work on 16, 32 and 64 bits"
            )
        if name == "atomic_add" and dtype.name == "int64":
            word = "unsigned long long"
            operands = f"({word}*){printer.text(call.args[0], 14)}, ({word}){printer.text(call.args[1], 14)}"
            return f"(long long)atomicAdd({operands})"
        typed = (
            f"<{printer.type(dtype)}>" if printer.ctype(dtype).promoted else ""
        )  # a constant operand would be an int
        return f"{printer.helper(name)}{typed}({', '.join([pointer, *texts[1:]])})"

    return rule


def _is_opaque(call: Call) -> bool:
    return getattr(call.args[0].dtype, "pointee", None) is None


# ---- warps --------------------------------------------------------------------------------------------------------


_OF_THREADS = frozenset({"warp", "warpgroup"})  # their numbers come of a thread's; others the machine hands out


def _uniform(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """The number of a warp as its first lane has it: the compiler cannot know otherwise that all lanes have the same.

    Such ids are bound where a kernel begins, where whole warps are.
    """
    return f"__shfl_sync(0xffffffff, {texts[0]}, 0)" if call.attr("level") in _OF_THREADS else texts[0]


def _dp4a(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """Operands are vectors of four bytes; the instruction takes them as words."""
    words = []
    for text, arg in zip(texts[:2], call.args[:2], strict=True):
        kind = "int" if arg.dtype.is_int else "unsigned int"
        words.append(f"{printer.helper('bit_cast')}<{kind}>({text})")
    if call.args[0].dtype is not call.args[1].dtype:
        raise TargetError(
            "dp4a of signed and unsigned bytes does not exist in CUDA", span=call.span, hint="give both one type"
        )
    return f"__dp4a({words[0]}, {words[1]}, {texts[2]})"


def _masked(name: str) -> Rule:
    """One lane after the other, where its mask is true."""

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        vector = call.dtype if name == "masked_load" else call.args[1].dtype
        element = printer.type(vector.element)
        pointer = f"({element}*){printer.text(call.args[0], 14)}"
        if name == "masked_load":
            return f"{printer.helper(name)}<{printer.type(vector)}, {element}, {vector.lanes}>({pointer}, {texts[1]})"
        return f"{printer.helper(name)}<{vector.lanes}>({', '.join([pointer, *texts[1:]])})"

    return rule


def _lane(printer: Any, call: Call, texts: Sequence[str]) -> str:
    return f"{printer.helper('fp4_lane')}({', '.join(texts)})"


def _with_lane(printer: Any, call: Call, texts: Sequence[str]) -> str:
    return f"{printer.helper('fp4_with_lane')}({', '.join(texts)})"


def _rows() -> Iterator[tuple[str, str | Rule, Requirement | None]]:
    yield from ((name, _math(name), None) for name in _PLAIN)
    yield from ((name, _test(name), None) for name in ("isnan", "isinf", "isfinite"))
    yield from ((name, _atomic(name), None) for name in _NATIVE)
    for name, function in (("", ""), ("_up", "_up"), ("_down", "_down"), ("_xor", "_xor")):
        yield f"tvm_warp_shuffle{name}", shuffle(f"__shfl{function}_sync"), None
    yield "tirx.uniform", _uniform, None
    yield "sigmoid", _sigmoid, None
    yield "abs", _abs, None
    yield "popcount", _popcount, None
    yield "clz", _clz, None
    yield "dp4a", _dp4a, needs("dp4a")
    yield "masked_load", _masked("masked_load"), None
    yield "masked_store", _masked("masked_store"), None
    yield "tvm_storage_sync", "__syncthreads()", None
    yield "tirx.warp_sync", "__syncwarp()", None
    yield "tvm_warp_activemask", "__activemask()", None
    yield "assume", "__builtin_assume({0})", None
    yield "tirx.lane", _lane, None
    yield "tirx.with_lane", _with_lane, None


CORE_EMISSIONS = tuple(Emission(name, "cuda", rule, requires=requires) for name, rule, requires in _rows())
