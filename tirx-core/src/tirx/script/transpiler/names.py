"""Which names a function binds, reads, and declares, by Python's own rules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

__all__ = ["argument_names", "bound_names", "free_names", "target_names"]

_OWN_SCOPE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def argument_names(args: ast.arguments) -> list[str]:
    """Parameters in the order of the signature."""
    found = [item.arg for item in (*args.posonlyargs, *args.args)]
    if args.vararg is not None:
        found.append(args.vararg.arg)
    found += [item.arg for item in args.kwonlyargs]
    if args.kwarg is not None:
        found.append(args.kwarg.arg)
    return found


def target_names(target: ast.AST) -> Iterator[str]:
    """Names that an assignment target binds."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def bound_names(body: Iterable[ast.stmt]) -> dict[str, ast.AST]:
    """Names that statements bind in their own function, in order, with where first; nested functions are not searched."""
    found: dict[str, ast.AST] = {}
    outer: set[str] = set()
    stack: list[ast.AST] = list(reversed(list(body)))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Nonlocal | ast.Global):
            outer.update(node.names)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                found.setdefault(node.id, node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.setdefault(node.name, node)
        elif isinstance(node, ast.alias):
            found.setdefault((node.asname or node.name).partition(".")[0], node)
        elif not isinstance(node, _OWN_SCOPE):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))
    return {name: node for name, node in found.items() if name not in outer}


def free_names(node: ast.AST) -> set[str]:
    """Every name that is read at or below `node`; an over-estimate of what it takes from outside."""
    found = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
    found.update(name for item in ast.walk(node) if isinstance(item, ast.Nonlocal) for name in item.names)
    return found
