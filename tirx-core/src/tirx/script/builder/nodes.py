"""Constructors of IR nodes: `Tx.Add(a, b)` makes exactly that node, where `a + b` may fold; they also serve `isinstance`."""

from __future__ import annotations

from ... import ir
from ...ir import DType, Expr, FloatImm, IntImm, StringImm, Tuple, as_expr, current_span, truth, unify
from .state import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["NODES", "NodeConstructor"]


class NodeConstructor:
    """Makes nodes of one class from what authors write: numbers, text, scalars, names of types."""

    __slots__ = ("_make", "node")

    def __init__(self, node: type, make: Callable[..., Any]) -> None:
        self.node = node
        self._make = make

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The node."""
        try:
            return self._make(*args, **options)
        except TypeError as error:
            refuse(
                f"{self.node.__name__}: {str(error).partition('() ')[2] or error}", (self.node.__doc__ or "").strip()
            )

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self.node)

    def __repr__(self) -> str:
        return f"Tx.{self.node.__name__}"


def _binary(node: Any) -> Callable[..., Expr]:
    def make(a: Any, b: Any) -> Expr:
        left, right = unify(a, b)
        return node(left, right, span=current_span())  # type: ignore[no-any-return]

    return make


def _logical(node: Any) -> Callable[..., Expr]:
    def make(*operands: Any) -> Expr:
        first, *rest = (truth(item) for item in operands)
        for item in rest:
            first = node(first, item, span=current_span())
        return first

    return make


def _int_imm(dtype: Any, value: int) -> Expr:
    made = ir.const(value, dtype)
    return made if isinstance(made, IntImm) else refuse(f"IntImm of {dtype}", "its type is an integer type or bool")


def _float_imm(dtype: Any, value: Any) -> Expr:
    kind = DType(dtype)
    if not kind.is_float or kind.lanes > 1:
        refuse(f"FloatImm of {kind}", "its type is a scalar float type")
    return FloatImm(float(value), kind, span=current_span())


def _select(condition: Any, true_value: Any, false_value: Any) -> Expr:
    yes, no = unify(true_value, false_value)
    return ir.Select(truth(condition), yes, no, span=current_span())


def _ramp(base: Any, stride: Any, lanes: int) -> Expr:
    start = as_expr(base)
    step = ir.const(stride, start.dtype) if isinstance(stride, int) else as_expr(stride)
    return ir.Ramp(start, step, _count(lanes), span=current_span())


def _count(lanes: Any) -> int:
    value = lanes.value if isinstance(lanes, IntImm) else lanes
    if not isinstance(value, int) or value < 2:
        refuse(f"a vector has at least 2 lanes, known while the kernel is built, not {lanes!r}")
    return value


def _shuffle(vectors: Any, indices: Any) -> Expr:
    parts = tuple(as_expr(item) for item in vectors)
    picks = tuple(item.value if isinstance(item, IntImm) else item for item in indices)
    total = sum(item.dtype.lanes for item in parts)
    if any(not isinstance(item, int) or not 0 <= item < total for item in picks) or not picks:
        refuse(
            f"Shuffle picks lanes {picks} of {total}", f"lanes are 0 to {total - 1}, known while the kernel is built"
        )
    return ir.Shuffle(parts, picks, span=current_span())


def _load(buffer: Any, indices: Any) -> Expr:
    items = list(indices) if isinstance(indices, list | tuple) else [indices]
    target = buffer.buffer if isinstance(buffer, ir.Scalar) else buffer
    return ir.BufferLoad(target, target.checked_indices(items), span=current_span())


def _unary(node: Any) -> Callable[..., Expr]:
    return lambda a: node(as_expr(a), span=current_span())


_BINARY = (
    "Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "LShift",
    "RShift", "EQ", "NE", "LT", "LE", "GT", "GE",
)  # fmt: skip
_MAKERS: dict[str, Callable[..., Any]] = {
    **{name: _binary(getattr(ir, name)) for name in _BINARY},
    "And": _logical(ir.And),
    "Or": _logical(ir.Or),
    "Not": lambda a: ir.Not(truth(a), span=current_span()),
    "Neg": _unary(ir.Neg),
    "BitwiseNot": _unary(ir.BitwiseNot),
    "Cast": lambda dtype, value: ir.Cast(DType(dtype), as_expr(value), span=current_span()),
    "Select": _select,
    "Ramp": _ramp,
    "Broadcast": lambda value, lanes: ir.Broadcast(as_expr(value), _count(lanes), span=current_span()),
    "Shuffle": _shuffle,
    "BufferLoad": _load,
    "IntImm": _int_imm,
    "FloatImm": _float_imm,
    "StringImm": lambda value: StringImm(str(value), span=current_span()),
    "Var": lambda name, dtype: ir.Var(name, DType(dtype), span=current_span()),
}
NODES = {name: NodeConstructor(getattr(ir, name), make) for name, make in _MAKERS.items()}


def tuple_node(*items: Any) -> Expr:
    """Several values as one operand."""
    return Tuple(tuple(as_expr(item) for item in items), span=current_span())


def make_range(begin: Any, end: Any = None) -> ir.Range:
    """The half-open interval from `begin` to `end`."""
    low, high = (as_expr(0), as_expr(begin)) if end is None else unify(begin, end)
    return ir.Range(low, high - low)
