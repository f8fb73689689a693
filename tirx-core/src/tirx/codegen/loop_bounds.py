"""Where a loop ends is decided once, before its first turn; C asks again on each turn."""

from __future__ import annotations

from collections.abc import Container

from ..intrinsic import effect_of
from ..ir import BufferLoad, BufferStore, Call, Expr, Node, Stmt, walk

__all__ = ["may_change"]


def may_change(value: Expr, body: Stmt) -> bool:
    """Whether `value` could be another one after some turns of `body`: it reads a register that the body sets, or memory."""
    read = {id(node.buffer.data): node.buffer for node in walk(value) if isinstance(node, BufferLoad)}
    if any(not buffer.is_scalar or buffer.scope_name != "local" for buffer in read.values()):
        return True
    if any(isinstance(node, Call) and not effect_of(node).is_pure for node in walk(value)):
        return True
    return bool(read) and any(_sets(node, read) for node in walk(body))


def _sets(node: Node, registers: Container[int]) -> bool:
    """Whether a node stores to one of the registers, or may do so through a pointer."""
    if isinstance(node, BufferStore):
        return id(node.buffer.data) in registers
    return isinstance(node, Call) and not effect_of(node).is_pure
