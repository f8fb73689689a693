"""Wide vectors lane by lane: what would take one helper function per operation becomes one loop.

    float16x8 A_lanes = *(float16x8*)&A[i];
    float16x8 lanes;
    #pragma unroll
    for (int v = 0; v < 8; ++v) lanes[v] = (half)(1.0f / (1.0f + expf(-(float)A_lanes[v])));

Only for vectors that the language has no type of its own for, and not where two elements at a time are one instruction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import (
    INT32,
    Binary,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Expr,
    Ramp,
    Select,
    Unary,
    Var,
    structural_equal,
)  # fmt: skip
from .lanes import is_lanewise, is_paired, operands_of, rebuilt
from .usage import is_unit

if TYPE_CHECKING:
    from .stmt import StmtPrinter

__all__ = ["loops_over_lanes", "write_lanes"]


def loops_over_lanes(printer: StmtPrinter, value: Expr) -> bool:
    """Whether a vector value is best computed in a loop over its lanes."""
    if value.dtype.lanes <= printer.expr.dialect.listed or not _is_operation(value):
        return False
    nodes = list(_tree(value))
    if any(node.dtype.is_packed for node in nodes):
        return False  # lanes that share bytes are no places
    if any(
        not (_is_operation(node) or _is_leaf(node)) or node.dtype.lanes not in (1, value.dtype.lanes) for node in nodes
    ):
        return False
    return not all(is_paired(printer.expr, node) for node in nodes if _is_operation(node))


def _is_operation(node: Expr) -> bool:
    if isinstance(node, Select):
        return node.condition.dtype.lanes > 1
    return isinstance(node, Binary | Unary | Cast) or (isinstance(node, Call) and is_lanewise(node))


def _is_leaf(node: Expr) -> bool:
    if isinstance(node, BufferLoad):
        index = node.indices[-1] if node.indices else None
        return isinstance(index, Ramp) and is_unit(index) and node.buffer.dtype.lanes == 1
    return isinstance(node, Var) or (
        isinstance(node, Broadcast | Ramp) and node.dtype.element is node.dtype.with_lanes(1)
    )


def _tree(value: Expr) -> list[Expr]:
    """The vector operations of a value and their vector operands."""
    found, stack = [], [value]
    while stack:
        node = stack.pop()
        if node.dtype.lanes == 1:
            continue
        found.append(node)
        if _is_operation(node):
            stack += reversed(operands_of(node))
    return found


def write_lanes(printer: StmtPrinter, name: str, value: Expr) -> None:
    """Declare the vector `name` and compute its lanes."""
    lane = Var("v", INT32)
    loads: list[tuple[BufferLoad, Var]] = []
    expr = printer.expr
    for node in _tree(value):
        if isinstance(node, BufferLoad) and not any(_same(node, known) for known, _ in loads):
            loads.append((node, _loaded(printer, node)))
    printer.line(f"{expr.type(value.dtype)} {name};")
    if expr.dialect.unroll:
        printer.line(expr.dialect.unroll.format(""))
    with expr.names.scope():
        index = expr.names.of(lane, "v")
        text = expr.assigned(_at(printer, value, lane, index, loads))
        printer.line(f"for (int {index} = 0; {index} < {value.dtype.lanes}; ++{index}) {name}[{index}] = {text};")


def _same(a: BufferLoad, b: BufferLoad) -> bool:
    """Whether two loads read the same elements."""
    return a.buffer is b.buffer and structural_equal(a.indices[-1], b.indices[-1])


def _loaded(printer: StmtPrinter, node: BufferLoad) -> Var:
    """A vector that is loaded before the loop."""
    var = Var(f"{node.buffer.name}_lanes", node.dtype)
    name = printer.expr.names.of(var, var.name)
    printer.line(f"{printer.expr.type(node.dtype)} {name} = {printer.expr.text(node)};")
    return var


def _at(printer: StmtPrinter, node: Expr, lane: Var, index: str, loads: list[tuple[BufferLoad, Var]]) -> Expr:
    """The scalar that `node` is in lane `lane`."""
    if node.dtype.lanes == 1:
        return node
    if isinstance(node, Broadcast):
        return node.value
    if isinstance(node, Ramp):
        position: Expr = node.base + lane * node.stride
        return position
    if isinstance(node, BufferLoad):
        node = next(var for known, var in loads if _same(node, known))
    if isinstance(node, Var):
        element = Var(node.name, node.dtype.element)
        printer.expr.names.give(element, f"{printer.expr.names.of(node, node.name)}[{index}]")
        return element
    return rebuilt(node, [_at(printer, item, lane, index, loads) for item in operands_of(node)])
