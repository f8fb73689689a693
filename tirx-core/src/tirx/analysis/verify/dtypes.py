"""Operands, stored values, conditions, indices and bounds have the types that their nodes need.

The operators of the language promote and refuse where the author writes them; this is for programs built by hand and
passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...ir import (
    And,
    Assert,
    Binary,
    Bind,
    BufferLoad,
    BufferStore,
    DType,
    Evaluate,
    Expr,
    For,
    If,
    Node,
    Not,
    Or,
    PrimFunc,
    Ramp,
    Select,
    Var,
    While,
    walk,
)  # fmt: skip
from ...support.errors import Diagnostic
from ...support.words import an
from .facts import Facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["check", "check_function"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    return check_function(facts.func)


def check_function(func: PrimFunc) -> Iterator[Diagnostic]:
    """Problems of one function, at any stage."""
    for node in walk(func.body):
        rule = _rule(type(node))
        if rule is not None:
            message = rule(node)
            if message is not None:
                yield Diagnostic(message, node.span)


def _same(a: DType, b: DType) -> bool:
    """Equal types; all pointers count as one."""
    return a is b or (a.is_handle and b.is_handle)


def _binary(node: Binary) -> str | None:
    if _same(node.a.dtype, node.b.dtype):
        return None
    return f"operands of type {node.a.dtype} and {node.b.dtype} meet in one {type(node).__name__}"


def _logical(node: Binary) -> str | None:
    wrong = next((item for item in (node.a, node.b) if not item.dtype.is_bool), None)
    return f"a condition is of type {wrong.dtype}, not bool" if wrong is not None else None


def _condition(node: If | While | Assert | Select) -> str | None:
    dtype = node.condition.dtype
    scalar = dtype.lanes == 1 or isinstance(node, Select)
    return None if dtype.is_bool and scalar else f"the condition is of type {dtype}, not bool"


def _select(node: Select) -> str | None:
    if not _same(node.true_value.dtype, node.false_value.dtype):
        return f"a choice between {node.true_value.dtype} and {node.false_value.dtype} has no type"
    return _condition(node)


def _load(node: BufferLoad) -> str | None:
    return _indices(node.buffer.name, len(node.buffer.shape), node.indices)


def _indices(name: str, rank: int, indices: tuple[Expr, ...]) -> str | None:
    if len(indices) != rank:
        return f"`{name}` has {rank} dimensions and is indexed with {len(indices)}"
    for index in indices[:-1]:
        if index.dtype.lanes != 1:
            return f"only the last index of `{name}` may be a vector"
    wrong = next((index for index in indices if not index.dtype.is_integer), None)
    return f"an index of `{name}` is of type {wrong.dtype}, not an integer" if wrong is not None else None


def _store(node: BufferStore) -> str | None:
    lanes = node.indices[-1].dtype.lanes if node.indices else 1
    wanted = node.buffer.dtype.with_lanes(node.buffer.dtype.lanes * lanes)
    if not _same(node.value.dtype, wanted):
        return f"{an(node.value.dtype)} value is stored where `{node.buffer.name}` takes {wanted}"
    return _indices(node.buffer.name, len(node.buffer.shape), node.indices)


def _bind(node: Bind) -> str | None:
    if _same(node.var.dtype, node.value.dtype):
        return None
    return f"`{node.var.name}` of type {node.var.dtype} is bound to {an(node.value.dtype)} value"


def _loop(node: For) -> str | None:
    parts = (node.start, node.extent, node.step)
    wrong = next((item for item in parts if item.dtype is not node.var.dtype), None)
    if wrong is None and node.var.dtype.is_integer:
        return None
    got = wrong.dtype if wrong is not None else node.var.dtype
    return f"the loop over `{node.var.name}` ({node.var.dtype}) has a bound of type {got}"


def _ramp(node: Ramp) -> str | None:
    return None if _same(node.base.dtype, node.stride.dtype) else "base and stride of a ramp differ in type"


_RULES: dict[type[Node], Callable[[Any], str | None] | None] = {
    And: _logical, Or: _logical, Not: lambda node: None if node.a.dtype.is_bool else f"`not` of {an(node.a.dtype)}",
    If: _condition, While: _condition, Assert: _condition, Select: _select, BufferLoad: _load, BufferStore: _store,
    Bind: _bind, For: _loop, Ramp: _ramp, Var: None, Evaluate: None,
}  # fmt: skip


def _rule(kind: type[Node]) -> Callable[[Any], str | None] | None:
    if kind not in _RULES:
        _RULES[kind] = _binary if issubclass(kind, Binary) else None
    return _RULES[kind]
