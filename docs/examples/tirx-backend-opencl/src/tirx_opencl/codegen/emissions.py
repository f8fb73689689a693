"""How OpenCL C writes core's intrinsics: tables, and small rules where a name is not enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tirx.intrinsic import Emission, Requirement
from tirx.ir import Call, DType, PointerType
from tirx.support.errors import TargetError

__all__ = ["CORE_EMISSIONS"]

Rule = Callable[[Any, Call, Sequence[str]], str]
UNARY = 14  # level of casts in C

# core's name -> OpenCL's; its functions are overloaded for float, double and (where the device has it) half
_PLAIN = {
    **{name: name for name in (
        "exp", "exp2", "exp10", "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "erf", "sin", "cos", "tan", "asin", "acos", "atan",
        "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "hypot", "pow", "fmod", "fma", "copysign", "nextafter",
        "fabs", "floor", "ceil", "trunc", "round", "ldexp", "isnan", "isinf", "isfinite", "popcount", "clz",
    )},
    "nearbyint": "rint",
}  # fmt: skip
_TESTS = ("isnan", "isinf", "isfinite")

_SUBGROUPS = Requirement("sub-groups that shuffle", lambda target: bool(target["subgroups"]), ("-subgroups=true",))


def _function(name: str) -> Rule:
    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        return f"{_PLAIN[name]}({', '.join(_typed(printer, call, texts))})"

    return rule


def _typed(printer: Any, call: Call, texts: Sequence[str]) -> list[str]:
    """The operands; small integers are cast, since C computes them as ints and overloads choose by type."""
    return [
        f"({printer.type(arg.dtype)}){printer.text(arg, UNARY)}"
        if arg.dtype.is_integer and arg.dtype.bits < 32
        else text
        for arg, text in zip(call.args, texts, strict=True)
    ]


def _abs(printer: Any, call: Call, texts: Sequence[str]) -> str:
    dtype = call.args[0].dtype
    if dtype.is_float:
        return f"fabs({texts[0]})"
    return f"({printer.type(dtype)})abs({_typed(printer, call, texts)[0]})"


def _sigmoid(printer: Any, call: Call, texts: Sequence[str]) -> str:
    if call.dtype.name == "float32":
        return f"{printer.helper('sigmoid')}({texts[0]})"
    return f"1.0 / (1.0 + exp(-{printer.text(call.args[0], UNARY)}))"


def _assume(printer: Any, call: Call, texts: Sequence[str]) -> str:
    return ""


# ---- atomics ------------------------------------------------------------------------------------------------------

_ATOMICS = {
    "atomic_add": "add",
    "atomic_max": "max",
    "atomic_min": "min",
    "atomic_exch": "xchg",
    "atomic_cas": "cmpxchg",
}
_COMBINED = {"add": "{0} + {1}", "max": "fmax({0}, {1})", "min": "fmin({0}, {1})", "xchg": "{1}"}
_WORDS = {32: ("int", "atomic"), 64: ("long", "atom")}

_LOOP = """\
static inline {kind} {name}(volatile {space}{kind}* place, {kind} value) {{
  {kind} seen, old = *place;
  do {{
    seen = old;
    old = as_{kind}({swap}((volatile {space}{word}*)place, as_{word}(seen), as_{word}({combined})));
  }} while (as_{word}(old) != as_{word}(seen));
  return old;
}}"""
_SWAP = """\
static inline {kind} {name}(volatile {space}{kind}* place, {kind} compare, {kind} value) {{
  return as_{kind}({swap}((volatile {space}{word}*)place, as_{word}(compare), as_{word}(value)));
}}"""


def _atomic(name: str) -> Rule:
    """OpenCL's function for integers; for floats a loop that swaps their bits."""

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        dtype = call.args[1].dtype
        if dtype.bits not in _WORDS or dtype.lanes > 1:
            raise TargetError(
                f"{name} of {dtype} does not exist in OpenCL", span=call.span, hint="atomics work on 32 and 64 bits"
            )
        word, prefix = _WORDS[dtype.bits]
        if dtype.bits == 64:
            printer.helper("atomics64")
        pointer = _pointer(printer, call)
        if dtype.is_integer:
            return f"{prefix}_{_ATOMICS[name]}({', '.join([pointer, *texts[1:]])})"
        return f"{_looping(printer, call, name, dtype, word, prefix)}({', '.join([pointer, *texts[1:]])})"

    return rule


def _scope(call: Call) -> str:
    pointer = call.args[0].dtype
    return pointer.scope if isinstance(pointer, PointerType) else "global"


def _pointer(printer: Any, call: Call) -> str:
    """The place, typed as its element."""
    pointer, dtype = call.args[0], call.args[1].dtype
    if getattr(pointer.dtype, "pointee", None) is dtype:
        return str(printer.text(pointer))
    return f"({printer.pointer(dtype, _scope(call))}){printer.text(pointer, UNARY)}"


def _looping(printer: Any, call: Call, name: str, dtype: DType, word: str, prefix: str) -> str:
    """A function for this operation, type and memory."""
    kind, space = printer.type(dtype), printer.dialect.spaces[_scope(call)]
    made, operation = f"{name}_{kind}_{space.strip('_ ')}", _ATOMICS[name]
    combined = _COMBINED.get(operation, "").format("seen", "value")
    text = (_SWAP if operation == "cmpxchg" else _LOOP).format(
        kind=kind, name=made, space=space, word=word, swap=f"{prefix}_cmpxchg", combined=combined
    )
    printer.define(f"{made}({kind})", text)
    return made


# ---- vectors ------------------------------------------------------------------------------------------------------


def _masked_load(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """A function for each vector and memory: lanes whose mask is false are not read."""
    kind, mask = printer.ctype(call.dtype), printer.ctype(call.args[1].dtype)
    _vectors_only(call, call.dtype)
    element, space = printer.type(call.dtype.element), printer.dialect.spaces[_scope(call)]
    name = f"masked_load_{call.dtype.name}_{space.strip('_ ')}"
    zero = printer.type(call.dtype.element)
    lanes = ", ".join(f"mask{mask.lanes[i]} ? place[{i}] : ({zero})0" for i in range(call.dtype.lanes))
    head = f"static inline {kind.name} {name}(const {space}{element}* place, {mask.name} mask)"
    printer.define(f"{name}()", f"{head} {{\n  return {kind.make.format(lanes)};\n}}")
    return f"{name}(({space}{element}*){printer.text(call.args[0], UNARY)}, {texts[1]})"


def _masked_store(printer: Any, call: Call, texts: Sequence[str]) -> str:
    dtype = call.args[1].dtype
    _vectors_only(call, dtype)
    kind, mask = printer.ctype(dtype), printer.ctype(call.args[2].dtype)
    element, space = printer.type(dtype.element), printer.dialect.spaces[_scope(call)]
    name = f"masked_store_{dtype.name}_{space.strip('_ ')}"
    lines = [f"  if (mask{mask.lanes[i]}) place[{i}] = value{kind.lanes[i]};" for i in range(dtype.lanes)]
    head = f"static inline void {name}({space}{element}* place, {kind.name} value, {mask.name} mask)"
    printer.define(f"{name}()", "\n".join([f"{head} {{", *lines, "}"]))
    return f"{name}(({space}{element}*){printer.text(call.args[0], UNARY)}, {texts[1]}, {texts[2]})"


def _vectors_only(call: Call, dtype: DType) -> None:
    if dtype.lanes == 1:
        hint = "write `if mask:` before a plain load or store"
        raise TargetError(f"{call.op.name} is for vectors, and this is one {dtype}", span=call.span, hint=hint)


# ---- warps --------------------------------------------------------------------------------------------------------


def _shuffle(helper: str) -> Rule:
    """A sub-group's shuffle; without sub-groups, `transform/warps.py` leaves none of these."""

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        return f"sub_group_shuffle({texts[1]}, {printer.helper(helper)}({texts[2]}, {texts[3]}))"

    return rule


def _rows() -> Iterator[tuple[str, str | Rule, Requirement | None]]:
    yield from ((name, _function(name), None) for name in _PLAIN)
    yield from ((name, _atomic(name), None) for name in _ATOMICS)
    yield "abs", _abs, None
    yield "sigmoid", _sigmoid, None
    yield "assume", _assume, None
    yield "masked_load", _masked_load, None
    yield "masked_store", _masked_store, None
    yield "tvm_storage_sync", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", None
    yield "tirx.warp_sync", "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", None
    for name, helper in (("", "lane_at"), ("_up", "lane_up"), ("_down", "lane_down"), ("_xor", "lane_xor")):
        yield f"tvm_warp_shuffle{name}", _shuffle(helper), None


CORE_EMISSIONS = tuple(Emission(name, "opencl", rule, requires=requires) for name, rule, requires in _rows())
