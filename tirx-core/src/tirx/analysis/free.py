"""Variables that a statement or expression uses without defining them."""

from __future__ import annotations

from ..ir import (
    Alloc,
    Bind,
    Buffer,
    Decl,
    Expr,
    For,
    IndexFunction,
    Let,
    Node,
    ScopeIdDef,
    Stmt,
    Var,
    definitions,
    mask_of,
    variables,
)

__all__ = ["buffer_variables", "free_variables"]


def free_variables(root: Node) -> list[Var]:
    """In the order of first use, storage pointers of accessed buffers and variables in their shapes included."""
    used: dict[int, Var] = {}
    defined: set[int] = set()
    seen: set[int] = set()
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Var):
            used.setdefault(id(node), node)
            continue
        if node.mask & _DEFINING:
            defined.update(map(id, _defined(node)))
        buffer = getattr(node, "buffer", None)
        if buffer is not None and id(buffer) not in seen:
            seen.add(id(buffer))
            for var in buffer_variables(buffer):
                used.setdefault(id(var), var)
        stack.extend(node.children()[::-1])
    return [var for key, var in used.items() if key not in defined]


_DEFINING = mask_of(IndexFunction, Let, Bind, For, ScopeIdDef, Alloc, Decl)


def _defined(node: Node) -> tuple[Var, ...]:
    """Variables that a node defines; a view of existing storage defines none."""
    if isinstance(node, Let):
        return (node.var,)
    if isinstance(node, IndexFunction):
        return node.vars
    if not isinstance(node, Stmt) or (isinstance(node, Decl) and node.source is None):
        return ()
    return definitions(node)


def buffer_variables(buffer: Buffer) -> list[Var]:
    """The storage pointer, and variables in shape, strides, offset and address."""
    found = [buffer.data]
    for item in (*buffer.shape, *buffer.strides, buffer.elem_offset, *buffer.allocated_addr):
        if isinstance(item, Expr):
            found += variables(item)
    return found
