"""Variables that a statement or expression uses without defining them."""

from __future__ import annotations

from ..ir import Buffer, Expr, Let, Node, Stmt, Var, definitions, walk

__all__ = ["buffer_variables", "free_variables"]


def free_variables(root: Node) -> list[Var]:
    """In the order of first use, storage pointers of accessed buffers and variables in their shapes included."""
    used: dict[int, Var] = {}
    defined: set[int] = set()
    seen: set[int] = set()
    for node in walk(root):
        if isinstance(node, Var):
            used.setdefault(id(node), node)
        elif isinstance(node, Let):
            defined.add(id(node.var))
        elif isinstance(node, Stmt):
            defined.update(id(var) for var in definitions(node) if not _is_view(node))
        buffer = getattr(node, "buffer", None)
        if isinstance(buffer, Buffer) and id(buffer) not in seen:
            seen.add(id(buffer))
            for var in buffer_variables(buffer):
                used.setdefault(id(var), var)
    return [var for key, var in used.items() if key not in defined]


def _is_view(node: Stmt) -> bool:
    return type(node).__name__ == "Decl" and getattr(node, "source", None) is None


def buffer_variables(buffer: Buffer) -> list[Var]:
    """The storage pointer, and variables in shape, strides, offset and address."""
    found = [buffer.data]
    for item in (*buffer.shape, *buffer.strides, buffer.elem_offset, *buffer.allocated_addr):
        if isinstance(item, Expr):
            found += [node for node in walk(item) if isinstance(node, Var)]
    return found
