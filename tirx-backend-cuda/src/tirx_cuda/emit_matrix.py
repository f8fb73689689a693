"""How descriptors and fragments of matrix instructions are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirx.ir import BufferLoad, Call, DType, Expr, IntImm
from tirx.support.errors import TargetError

from .descriptor import block_scaled_instruction, instruction, matrix_constant

__all__ = [
    "block_scaled_descriptor", "instruction_descriptor", "keys_of", "matrix_descriptor", "mma_fill", "mma_store", "place",
    "runtime_descriptor",
]  # fmt: skip

UNARY = 14  # level of casts in C
OR = 5  # level of `|`
_SCALE_IDS = 0x60000030
_DEPTH_96 = ("sm_103a", "sm_103f", "sm_107a", "sm_107f")


def place(printer: Any, pointer: Expr, dtype: DType) -> str:
    """What lies behind a pointer, as something to assign to."""
    if isinstance(pointer, Call) and pointer.op.name == "address_of" and pointer.args[0].dtype is dtype:
        load = pointer.args[0]
        assert isinstance(load, BufferLoad)
        return str(printer.text(load))
    if getattr(pointer.dtype, "pointee", None) is dtype:
        return f"*{printer.text(pointer, UNARY)}"
    return f"*({printer.type(dtype)}*){printer.text(pointer, UNARY)}"


def _constant(expr: Expr) -> int | None:
    return expr.value if isinstance(expr, IntImm) else None


def matrix_descriptor(name: str) -> Any:
    """How `wgmma` or `tcgen05` has it; fields that are constant are one number."""

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        desc, address, ldo, sdo, swizzle = call.args
        code = _constant(swizzle)
        assert code is not None
        fields = matrix_constant(name, _constant(ldo) or 0, _constant(sdo) or 0, code)
        parts = [f"0x{fields:016x}ULL"]
        for offset, shift in ((ldo, 16), (sdo, 32)):
            if _constant(offset) is None:
                parts.append(f"(unsigned long long){printer.text(offset, UNARY)} << {shift}")
        printer.helper("matrix_descriptor")
        target = place(printer, desc, DType("uint64"))
        return f"{target} = matrix_descriptor({printer.text(address)}, {' | '.join(parts)})"

    return rule


def keys_of(call: Call, *, without: Sequence[str] = ()) -> dict[str, Any]:
    """The attributes of a call as keywords."""
    return {name: value for name, value in call.attrs if name not in without}


def instruction_descriptor(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """`desc = 0x08200010u`."""
    return f"{place(printer, call.args[0], DType('uint32'))} = 0x{instruction(**keys_of(call)):08x}u"


def block_scaled_descriptor(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """`desc = 0x08a00480u`, with the ids of scales whose addresses are known only when the kernel runs."""
    desc, *addresses = call.args
    if call.attr("K") == 96 and printer.target is not None and printer.target["arch"] not in _DEPTH_96:
        raise TargetError(f"K=96 needs {' or '.join(_DEPTH_96)}", span=call.span, hint="take K=64")
    known = [_constant(address) for address in addresses]
    ids = [0 if address is None else address >> 30 & 3 for address in known]
    parts = [f"0x{block_scaled_instruction(**keys_of(call), sfa_id=ids[0], sfb_id=ids[1]):08x}u"]
    for address, number, shift in zip(addresses, known, (29, 4), strict=True):
        if number is None:
            parts.append(f"({printer.text(address, UNARY)} >> 30) << {shift}")
    return f"{place(printer, desc, DType('uint32'))} = {' | '.join(parts)}"


def runtime_descriptor(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """`desc = (desc & ~ids) | id << 29 | id << 4`."""
    desc, number = call.args
    target = place(printer, desc, DType("uint32"))
    value = _constant(number)
    if value is not None:
        new = (value & 3) << 29 | (value & 3) << 4
        return f"{target} = ({target} & 0x{~_SCALE_IDS & 0xFFFFFFFF:08x}u) | 0x{new:08x}u"
    text = f"(unsigned int){printer.text(number, UNARY)}"
    return f"{target} = ({target} & 0x{~_SCALE_IDS & 0xFFFFFFFF:08x}u) | {text} << 29 | {text} << 4"


# ---- fragments of m16n16 ------------------------------------------------------------------------------------------------------


def _typed(printer: Any, pointer: Expr, dtype: DType) -> str:
    if getattr(pointer.dtype, "pointee", None) is dtype:
        return str(printer.text(pointer, UNARY))
    return f"({printer.type(dtype)}*){printer.text(pointer, UNARY)}"


def _moved(printer: Any, pointer: Expr, offset: Expr, dtype: DType) -> str:
    base = _typed(printer, pointer, dtype)
    return base if _constant(offset) == 0 else f"{base} + {printer.text(offset, 13)}"


def mma_fill(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """`mma_fill<8>(registers)`."""
    count, pointer, offset = call.args
    return f"{printer.helper('mma_fill')}<{_constant(count)}>({_moved(printer, pointer, offset, DType(call.attr('dtype')))})"


def mma_store(printer: Any, call: Call, texts: Sequence[str]) -> str:
    """`mma_store(tile, registers, stride)`."""
    dtype = DType(call.attr("dtype"))
    _, _, dst, src, offset, stride = call.args
    first, second = _typed(printer, dst, dtype), _moved(printer, src, offset, dtype)
    return f"{printer.helper('mma_store')}({first}, {second}, {printer.text(stride)})"
