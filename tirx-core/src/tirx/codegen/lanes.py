"""Vectors: types of the language where it has them, one small function per operation where it has no operator.

An operation on vectors is printed as the same operation on scalars would be. What makes that legal is a definition such as

    __device__ inline float4 operator*(float4 a, float b) {
      return make_float4(a.x * b, a.y * b, a.z * b, a.w * b);
    }

which this module makes for exactly the operations that a module uses. A broadcast operand stays a scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..intrinsic import Intrinsic
from ..ir import (
    FLOAT32,
    Binary,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Compare,
    DType,
    Expr,
    IntImm,
    Let,
    Not,
    Ramp,
    Select,
    Shuffle,
    StringImm,
    Unary,
    Var,
    const,
    substitute,
)  # fmt: skip
from ..support.errors import TargetError
from .calls import call_term
from .precedence import ARGUMENT, BINARY, POSTFIX, PRIMARY, UNARY, Term
from .usage import is_unit

if TYPE_CHECKING:
    from .expr import ExprPrinter

__all__ = ["is_lanewise", "is_paired", "lane", "lane_term", "operands_of", "rebuilt", "vector_term"]


def vector_term(printer: ExprPrinter, node: Expr) -> Term:
    """A vector expression as source."""
    if isinstance(node, Var):
        return Term(printer.names.of(node, node.name), PRIMARY)
    if isinstance(node, BufferLoad):
        return _load(printer, node)
    if isinstance(node, Broadcast):
        return _splat(printer, node)
    if isinstance(node, Ramp):
        return _made(printer, node.dtype, [lane(node, index) for index in range(node.dtype.lanes)])
    if isinstance(node, Shuffle):
        return _shuffle(printer, node)
    if isinstance(node, Let):
        return vector_term(printer, substitute(node.body, {node.var: node.value}))
    if isinstance(node, Select) and node.condition.dtype.lanes == 1:
        return printer.conditional(node.condition, node.true_value, node.false_value)
    if isinstance(node, Call) and not is_lanewise(node):
        return call_term(printer, node)
    return _lanewise(printer, node)


def is_lanewise(node: Call) -> bool:
    """Whether a call works on each lane by itself: pure, and its row does not ask for vectors."""
    row = node.op
    if not isinstance(row, Intrinsic) or not row.effect.is_pure or any(operand.lanes for operand in row.operands):
        return False
    if row.name == "if_then_else" and node.args[0].dtype.lanes == 1:
        return False  # of whole vectors only the chosen one is evaluated
    widths = {arg.dtype.lanes for arg in node.args if not isinstance(arg, StringImm)}
    return node.dtype.lanes > 1 and widths <= {1, node.dtype.lanes} and node.dtype.lanes in widths


# ---- lanes --------------------------------------------------------------------------------------------------------


def lane(node: Expr, index: int) -> Expr:
    """Lane `index` of a vector expression, as an expression without vectors where possible."""
    if node.dtype.lanes == 1:
        return node
    if isinstance(node, Ramp) and node.base.dtype.lanes == 1:
        return node.base + _scaled(node.stride, index) if index else node.base
    if isinstance(node, Broadcast):
        return lane(node.value, index % node.value.dtype.lanes)
    if isinstance(node, BufferLoad) and node.buffer.dtype.lanes == 1:
        return BufferLoad(node.buffer, (lane(node.indices[-1], index),))
    if isinstance(node, Binary | Unary | Cast | Select):
        return rebuilt(node, [lane(child, index) for child in operands_of(node)])
    return Shuffle((node,), (index,))


def _scaled(stride: Expr, index: int) -> Expr:
    return const(stride.value * index, stride.dtype) if isinstance(stride, IntImm) else stride * index


def lane_term(printer: ExprPrinter, node: Shuffle, position: int) -> Term:
    """One lane that a shuffle takes, as source."""
    index = node.indices[position]
    for vector in node.vectors:
        if index < vector.dtype.lanes:
            return _lane_of(printer, vector, index)
        index -= vector.dtype.lanes
    raise TargetError("a shuffle takes a lane that its vectors do not have", span=node.span)


def _lane_of(printer: ExprPrinter, vector: Expr, index: int) -> Term:
    scalar = lane(vector, index)
    if not (isinstance(scalar, Shuffle) and scalar.vectors[0] is vector):
        return printer.term(scalar)
    level = ARGUMENT if printer.ctype(vector.dtype).lane else POSTFIX
    return Term(printer.lane(vector.dtype, printer.text(vector, level), index), POSTFIX)


# ---- vectors from lanes -------------------------------------------------------------------------------------------


def _load(printer: ExprPrinter, node: BufferLoad) -> Term:
    index = node.indices[-1]
    if index.dtype.lanes == 1:
        return Term(printer.place(node.buffer, index), POSTFIX)
    if isinstance(index, Ramp) and is_unit(index):
        return Term(printer.vector_place(node.buffer, index), UNARY)
    return _made(printer, node.dtype, [lane(node, number) for number in range(node.dtype.lanes)])


def _made(printer: ExprPrinter, dtype: DType, lanes: Sequence[Expr]) -> Term:
    return Term(printer.made(dtype, [printer.text(item) for item in lanes]), POSTFIX)


def _splat(printer: ExprPrinter, node: Broadcast) -> Term:
    kind, value = printer.ctype(node.dtype), printer.text(node.value)
    if kind.splat:
        return Term(printer.filled(kind.splat, value), POSTFIX)
    if (
        node.value.dtype.lanes == 1
        and (len(value) <= 8 or node.dtype.lanes == 2)
        and node.dtype.lanes <= printer.dialect.listed
    ):
        return Term(printer.made(node.dtype, [value] * node.dtype.lanes), POSTFIX)
    if node.value.dtype.lanes > 1:
        return _made(printer, node.dtype, [lane(node, index) for index in range(node.dtype.lanes)])
    name = _define(
        printer, f"splat_{node.dtype.name}", node.dtype, [node.value.dtype], lambda inner, args: inner.text(args[0])
    )
    return Term(f"{name}({value})", POSTFIX)


def _shuffle(printer: ExprPrinter, node: Shuffle) -> Term:
    (first, *rest) = node.vectors
    if not rest and node.indices == tuple(range(first.dtype.lanes)):
        return vector_term(printer, first)
    parts = [lane_term(printer, node, position).text for position in range(len(node.indices))]
    return Term(printer.made(node.dtype, parts), POSTFIX)


# ---- operations on all lanes --------------------------------------------------------------------------------------


def operands_of(node: Expr) -> list[Expr]:
    """The operands that have a value (text is none)."""
    return [child for child in node.children() if isinstance(child, Expr) and not isinstance(child, StringImm)]


def rebuilt(node: Expr, operands: Sequence[Expr]) -> Expr:
    """The scalar form of `node` with these operands."""
    if isinstance(node, Cast):
        return Cast(node.dtype.element, operands[0])
    if isinstance(node, Call):
        given = iter(operands)
        args = tuple(arg if isinstance(arg, StringImm) else next(given) for arg in node.args)
        return Call(node.dtype.element, node.op, args, node.attrs)
    return type(node)(*operands)


def _lanewise(printer: ExprPrinter, node: Expr) -> Term:
    operands = operands_of(node)
    if isinstance(node, Cast) and (node.dtype.is_packed or node.value.dtype.is_packed):
        return _cast_of_packed(printer, node)
    if all(isinstance(item, Broadcast) for item in operands):
        value = rebuilt(node, [item.value for item in operands if isinstance(item, Broadcast)])
        return _splat(printer, Broadcast(value, node.dtype.lanes))
    if isinstance(node, Binary) and _is_native(printer, node):
        operator = BINARY[type(node)]
        return printer.infix(operator, node)
    given = [item.value if isinstance(item, Broadcast) and item.value.dtype.lanes == 1 else item for item in operands]
    types = [item.dtype for item in given]
    pair = _pair(printer, node)
    if isinstance(node, Binary) and type(node) in BINARY and printer.dialect.overloads:
        operator = BINARY[type(node)]
        _define(
            printer,
            f"operator{operator.symbol}",
            node.dtype,
            types,
            lambda inner, args: inner.text(rebuilt(node, args)),
            pair,
        )
        left, right = printer.term(given[0]), printer.term(given[1])
        return Term(f"{left.at(operator.left)} {operator.symbol} {right.at(operator.right)}", operator.level)
    truth = isinstance(node, Call) and node.dtype.element.is_bool  # C's functions answer an int

    def body(inner: ExprPrinter, args: Sequence[Expr]) -> str:
        scalar = rebuilt(node, args)
        return f"({inner.type(scalar.dtype)}){inner.text(scalar, UNARY)}" if truth else inner.text(scalar)

    name = _define(printer, _name(node), node.dtype, types, body)
    return Term(f"{name}({', '.join(printer.text(item) for item in given)})", POSTFIX)


def _cast_of_packed(printer: ExprPrinter, node: Cast) -> Term:
    """Elements that share bytes are converted by a function for whole vectors; other types by way of float32."""
    source = node.value.dtype
    if isinstance(node.value, Broadcast):
        return _splat(printer, Broadcast(Cast(node.dtype.element, node.value.value), node.dtype.lanes))
    function = printer.conversion(source, node.dtype)
    if function:
        printer.type(node.dtype)
        return Term(f"{function}({printer.text(node.value)})", POSTFIX)
    between = FLOAT32.with_lanes(source.lanes)
    if source is between or node.dtype is between:
        raise TargetError(
            f"{source} cannot be converted to {node.dtype} on target {printer.dialect.name}", span=node.span
        )
    return vector_term(printer, Cast(node.dtype, Cast(between, node.value)))


def _is_native(printer: ExprPrinter, node: Binary) -> bool:
    operator = BINARY.get(type(node))
    native = printer.ctype(node.a.dtype).native
    return operator is not None and operator.symbol in native and not isinstance(node, Compare)


def is_paired(printer: ExprPrinter, node: Expr) -> bool:
    """Whether two lanes of an operation at a time are one instruction."""
    return _pair(printer, node) is not None


def _pair(printer: ExprPrinter, node: Expr) -> str | None:
    """The vector of two on which the operation is one instruction, where the machine prefers that."""
    if not isinstance(node, Binary) or node.dtype.lanes % 2 or type(node) not in BINARY:
        return None
    name = printer.dialect.pairs.get(node.dtype.element.name)
    if name is None or BINARY[type(node)].symbol not in printer.dialect.types[name].native:
        return None
    return name


def _name(node: Expr) -> str:
    """What the function for a lanewise operation is called."""
    if isinstance(node, Cast):
        return f"to_{node.dtype.name}"
    if isinstance(node, Not):
        return "logical_not"  # `not` is an operator of C++
    return node.op.name.rpartition(".")[2] if isinstance(node, Call) else type(node).__name__.lower()


def _define(
    printer: ExprPrinter,
    name: str,
    result: DType,
    operands: Sequence[DType],
    body: Callable[[Any, Sequence[Expr]], str],
    pair: str | None = None,
) -> str:
    """Make the function `name` from vectors (and scalars) to a vector part of the prelude; its name."""
    if not printer.dialect.overloads:
        name = "_".join([name, *(dtype.name for dtype in operands)])
    parameters = [Var(letter, dtype.element) for letter, dtype in zip("abcdefgh", operands, strict=False)]
    listed = ", ".join(f"{printer.type(dtype)} {var.name}" for dtype, var in zip(operands, parameters, strict=True))
    while True:
        head = f"{printer.dialect.function} inline {printer.type(result)} {name}({listed})"
        text = f"{head} {{\n{_lines(printer, result, operands, parameters, body, pair)}\n}}"
        known = printer.prelude.definition(f"{name}({listed})")
        if known is None or known == text:
            printer.prelude.define(f"{name}({listed})", text)
            return name
        name = f"{name}_"  # the same function with other keywords


def _lines(
    printer: ExprPrinter,
    result: DType,
    operands: Sequence[DType],
    parameters: Sequence[Var],
    body: Callable[[Any, Sequence[Expr]], str],
    pair: str | None,
) -> str:
    """The statements of such a function."""
    if pair is not None and result.lanes > 2:
        return _pairwise(printer, result, operands, parameters, body, pair)

    def at(texts: Iterable[str]) -> str:
        inner = printer.alone()
        for var, text in zip(parameters, texts, strict=True):
            inner.names.give(var, text)
        return body(inner, parameters)

    if result.lanes <= printer.dialect.listed or any(dtype.is_packed for dtype in (result, *operands)):
        lanes = [
            at(_lane_text(printer, var, dtype, index) for var, dtype in zip(parameters, operands, strict=True))
            for index in range(result.lanes)
        ]
        return f"  return {printer.made(result, lanes)};"
    value = at(
        f"{var.name}[i]" if dtype.lanes > 1 else var.name for var, dtype in zip(parameters, operands, strict=True)
    )
    loop = f"{_unroll(printer)}  for (int i = 0; i < {result.lanes}; ++i) r[i] = {value};"
    return f"  {printer.type(result)} r;\n{loop}\n  return r;"


def _pairwise(
    printer: ExprPrinter,
    result: DType,
    operands: Sequence[DType],
    parameters: Sequence[Var],
    body: Callable[[Any, Sequence[Expr]], str],
    pair: str,
) -> str:
    """A loop over pairs of lanes."""
    kind = printer.ctype(DType(pair))
    inner = printer.alone()
    for var, dtype in zip(parameters, operands, strict=True):
        inner.names.give(var, f"*({kind.name}*)&{var.name}[i]" if dtype.lanes > 1 else kind.splat.format(var.name))
    value = body(inner, parameters)
    loop = f"{_unroll(printer)}  for (int i = 0; i < {result.lanes}; i += 2) *({kind.name}*)&r[i] = {value};"
    return f"  {printer.type(result)} r;\n{loop}\n  return r;"


def _unroll(printer: ExprPrinter) -> str:
    """Lanes are registers only when their loop is unrolled."""
    wish = printer.dialect.unroll.format("")
    return f"  {wish}\n" if wish else ""


def _lane_text(printer: ExprPrinter, var: Var, dtype: DType, index: int) -> str:
    return printer.lane(dtype, var.name, index) if dtype.lanes > 1 else var.name
