"""Which names a function binds, reads, and declares, by Python's own rules."""

from __future__ import annotations

import ast

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost start-up time
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

__all__ = ["argument_names", "bound_names", "free_names", "target_names"]

_BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.If: ("body", "orelse"), ast.For: ("body", "orelse"), ast.While: ("body", "orelse"), ast.With: ("body",),
}  # fmt: skip


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
    if isinstance(target, ast.Name):
        yield target.id
        return
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def bound_names(body: Iterable[ast.stmt]) -> dict[str, ast.AST]:
    """Names that statements bind in their own function, in order, with where first; nested functions are not searched."""
    found: dict[str, ast.AST] = {}
    outer: set[str] = set()
    stack: list[Any] = list(reversed(list(body)))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Nonlocal | ast.Global):
            outer.update(node.names)
            continue
        for name in _own_names(node):
            found.setdefault(name, node)
        for part in _BLOCKS.get(type(node), ()):
            stack.extend(reversed(getattr(node, part)))
    return {name: node for name, node in found.items() if name not in outer}


def _own_names(node: ast.AST) -> Iterator[str]:
    """Names that a statement itself binds, not those in its blocks."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((item.asname or item.name).partition(".")[0] for item in node.names)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from target_names(target)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For):
        yield from target_names(node.target)
    elif isinstance(node, ast.With):
        for item in node.items:
            yield from target_names(item.optional_vars) if item.optional_vars is not None else ()


def free_names(node: ast.AST) -> set[str]:
    """Every name that is read at or below `node`; an over-estimate of what it takes from outside."""
    found = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
    found.update(name for item in ast.walk(node) if isinstance(item, ast.Nonlocal) for name in item.names)
    return found
