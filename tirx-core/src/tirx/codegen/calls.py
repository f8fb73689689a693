"""Calls: intrinsics through the target's emissions, and those that every language of the C family writes alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..arith import simplify
from ..intrinsic import Emission
from ..ir import BufferLoad, Call, DType, Expr, GlobalVar, PointerType, StringImm, const
from ..support.errors import TargetError
from ..support.span import Span
from .precedence import ADD, POSTFIX, PRIMARY, UNARY, Term, term_of

if TYPE_CHECKING:
    from .expr import ExprPrinter

__all__ = ["call_term"]


def call_term(printer: ExprPrinter, node: Call) -> Term:
    """A call as source: a function of the module, the target's own way, or C's."""
    if isinstance(node.op, GlobalVar):
        return Term(f"{printer.function(node.op.name)}({_arguments(printer, node)})", POSTFIX)
    emission = printer.emission(node.op.name)
    if emission is not None:
        return _emitted(printer, node, emission)
    rule = _RULES.get(node.op.name)
    if rule is None:
        raise TargetError(
            f"{node.op.name} cannot be written for target {printer.dialect.name}",
            span=node.span,
            hint="use another operation, or another target; `tirx backends` lists what is installed",
        )
    return rule(printer, node)


# Words of C++ behind which no argument list makes a call; types (`float`) and operators (`sizeof`) may be written like one.
_WORDS = """
alignas and and_eq asm auto bitand bitor break case catch class co_await co_return co_yield compl concept const
const_cast consteval constexpr constinit continue default delete do dynamic_cast else enum explicit export extern
false for friend goto if inline mutable namespace new not not_eq nullptr operator or or_eq private protected public
register reinterpret_cast requires return static static_assert static_cast struct switch template this
thread_local throw true try typedef typename union using virtual volatile while xor xor_eq
"""
_KEYWORDS = frozenset(_WORDS.split())


def _arguments(printer: ExprPrinter, node: Call, start: int = 0) -> str:
    return ", ".join(printer.text(arg) for arg in node.args[start:])


def _emitted(printer: ExprPrinter, node: Call, emission: Emission) -> Term:
    """The text of an emission rule; what it names comes into the prelude."""
    requires = emission.requires
    if requires is not None and printer.target is not None and not requires.holds(printer.target):
        raise TargetError(
            f"{node.op.name} needs {requires.text}", span=node.span, hint=f"the target is {printer.target}"
        )
    for header in emission.includes:
        printer.include(header)
    for name in emission.helpers:
        printer.helper(name)
    texts = [printer.text(arg) for arg in node.args]
    if callable(emission.rule):
        return term_of(emission.rule(printer, node, texts))
    return term_of(emission.rule.format(*texts, **dict(node.attrs)))


# ---- what C itself has ------------------------------------------------------------------------------------------------


def _launch_index(printer: ExprPrinter, node: Call) -> Term:
    axis = str(node.attr("axis"))
    text = printer.dialect.launch_axes.get(axis)
    if text is None:
        raise TargetError(f"target {printer.dialect.name} has no launch axis {axis}", span=node.span)
    if node.dtype.name == printer.dialect.launch_type:
        return term_of(text)
    return Term(f"({printer.type(node.dtype)}){text}", UNARY)


def _if_then_else(printer: ExprPrinter, node: Call) -> Term:
    return printer.conditional(*node.args)


def _address_of(printer: ExprPrinter, node: Call) -> Term:
    load = node.args[0]
    assert isinstance(load, BufferLoad)
    return printer.address(load.buffer, load.indices[0] if load.indices else const(0))


def _access_ptr(printer: ExprPrinter, node: Call) -> Term:
    data, offset = node.args[:2]
    dtype = DType(node.attr("dtype"))
    base = _typed(printer, data, dtype)
    if getattr(offset, "value", None) == 0:
        return base
    if dtype.unit is not dtype:
        offset = simplify(offset // 2)
    return Term(f"{base.at(ADD)} + {printer.text(offset, ADD + 1)}", ADD)


def _typed(printer: ExprPrinter, pointer: Expr, pointee: DType) -> Term:
    """`pointer` as a pointer to `pointee` (a handle: as it is)."""
    if pointee.is_handle or (
        isinstance(pointer.dtype, PointerType)
        and pointer.dtype.pointee is not None
        and pointer.dtype.pointee.unit is pointee.unit
    ):
        return printer.term(pointer)
    kind = printer.pointer(pointee, _scope(pointer))
    return Term(f"({kind}){printer.text(pointer, UNARY)}", UNARY)


def _scope(pointer: Expr) -> str:
    """The memory that a pointer points into."""
    return pointer.dtype.scope if isinstance(pointer.dtype, PointerType) else "global"


def _byte_offset(printer: ExprPrinter, node: Call) -> Term:
    pointer, offset = node.args
    kind = node.dtype
    if getattr(offset, "value", None) == 0:
        return (
            printer.converted(printer.term(pointer), pointer.dtype, kind)
            if pointer.dtype is not kind
            else printer.term(pointer)
        )
    byte = printer.pointer(DType("uint8"), _scope(pointer))
    moved = f"(({byte}){printer.text(pointer, UNARY)} + {printer.text(offset, ADD + 1)})"
    return Term(f"({printer.type(kind)}){moved}", UNARY)


def _is_null(printer: ExprPrinter, node: Call) -> Term:
    return Term(f"!{printer.text(node.args[0], UNARY)}", UNARY)


def _same(printer: ExprPrinter, node: Call) -> Term:
    return printer.term(node.args[-1])


def _extern(printer: ExprPrinter, node: Call) -> Term:
    name = node.args[0]
    assert isinstance(name, StringImm)
    function = _function_name(name, node.span)
    printer.prelude.mention(function)
    return Term(f"{function}({_arguments(printer, node, 1)})", POSTFIX)


def _function_name(name: StringImm, span: Span | None) -> str:
    """The name of a foreign function: possibly qualified, nothing else can be smuggled in."""
    parts = name.value.split("::")
    if not all(part.isascii() and part.isidentifier() for part in parts):
        raise TargetError(f"{name.value!r} is not the name of a function", span=span, hint="give its name alone")
    keyword = next((part for part in parts if part in _KEYWORDS), None)
    if keyword is not None:
        raise TargetError(
            f"{name.value!r} is not the name of a function: `{keyword}` is a keyword",
            span=span,
            hint="call a function of the target's language by its name",
        )
    return name.value


def _undef(printer: ExprPrinter, node: Call) -> Term:
    if node.dtype.lanes == 1:
        return printer.term(const(0, node.dtype))
    kind = printer.ctype(node.dtype)
    return Term(f"{kind.name}()" if printer.dialect.overloads else kind.splat.format("0"), POSTFIX)


def _reinterpret(printer: ExprPrinter, node: Call) -> Term:
    value = node.args[0]
    integers = value.dtype.is_integer and node.dtype.is_integer and value.dtype.lanes == node.dtype.lanes == 1
    if integers or node.dtype.is_handle or value.dtype.is_handle:
        return Term(f"({printer.type(node.dtype)}){printer.text(value, UNARY)}", UNARY)
    direct = printer.dialect.calls.get(f"reinterpret.{value.dtype.name}.{node.dtype.name}")
    if direct is not None:
        printer.type(node.dtype)
        return Term(f"{direct}({printer.text(value)})", POSTFIX)
    return Term(f"{printer.helper('bit_cast')}<{printer.type(node.dtype)}>({printer.text(value)})", POSTFIX)


def _nothing(printer: ExprPrinter, node: Call) -> Term:
    return Term("", PRIMARY)


_RULES: dict[str, Callable[[ExprPrinter, Any], Term]] = {
    "tirx.launch_index": _launch_index,
    "if_then_else": _if_then_else,
    "address_of": _address_of,
    "tvm_access_ptr": _access_ptr,
    "ptr_byte_offset": _byte_offset,
    "handle_add_byte_offset": _byte_offset,
    "isnullptr": _is_null,
    "likely": _same,
    "tirx.uniform": _same,
    "filter": _same,
    "selector": _same,
    "call_extern": _extern,
    "call_pure_extern": _extern,
    "undef": _undef,
    "reinterpret": _reinterpret,
    "assume": _nothing,
}
