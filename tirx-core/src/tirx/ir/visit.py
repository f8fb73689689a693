"""Walking and rewriting. No pass knows how to walk: it gives functions by node type.

Expressions are handled with an explicit stack, so that a sum of ten thousand terms is no deeper than one. A rewrite
that changes nothing returns the same object, and subtrees without the wanted kinds are skipped by their mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from .buffer import Buffer
from .expr import Expr, Var
from .layout import Layout
from .node import Node
from .stmt import Alloc, Bind, Decl, For, ScopeIdDef, Seq, Stmt, seq

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, TypeVar

__all__ = ["Rule", "definitions", "map_bodies", "mask_of", "post_order", "rewrite", "substitute", "variables", "walk"]

if TYPE_CHECKING:
    N = TypeVar("N", bound=Node)
    S = TypeVar("S", bound=Stmt)
    Rule = Callable[[Any], Any]
else:
    Rule = Callable


_masks: dict[tuple[type[Node], ...], int] = {}


def mask_of(*kinds: type[Node]) -> int:
    """Union of the kind bits of node classes (abstract ones count with their subclasses)."""
    found = _masks.get(kinds)
    if found is None:
        found = _masks[kinds] = _mask_of(kinds)
    return found


def _mask_of(kinds: tuple[type[Node], ...]) -> int:
    mask = 0
    stack: list[type[Node]] = list(kinds)
    while stack:
        kind = stack.pop()
        mask |= kind.BIT
        stack.extend(kind.__subclasses__())
    return mask


def walk(root: Node, mask: int = -1) -> Iterator[Node]:
    """All nodes at and below `root`, parents first, in source order; subtrees outside `mask` are skipped."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.mask & mask:
            yield node
            stack.extend(node.children()[::-1])


def post_order(root: Node, mask: int = -1) -> Iterator[Node]:
    """All nodes at and below `root`, children first, in source order."""
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            yield node
        elif node.mask & mask:
            stack.append((node, True))
            stack.extend([(child, False) for child in node.children()[::-1]])


def variables(root: Node) -> list[Var]:
    """Variables in an expression or statement as often as they are mentioned, in source order."""
    return [node for node in walk(root, Var.BIT) if isinstance(node, Var)]


def rewrite(
    root: N,
    rules: Mapping[type[Node], Rule],
    *,
    enter: Mapping[type[Node], Rule] | None = None,
    mask: int | None = None,
) -> N:
    """`root` with `rules[type(node)](node)` applied bottom-up; a rule answers a node, None (keep), or `[]` (drop a statement).

    `enter` rules run before the children: one that answers a node other than its argument replaces the subtree, which is
    not visited again. A statement rule may answer a list of statements: it is spliced. `mask` limits the visit to subtrees
    that hold one of its kinds (default: the kinds that have rules).
    """
    enter = enter or {}
    if mask is None:
        mask = mask_of(*rules, *enter)
    return _Rewriter(rules, enter, mask).run(root)  # type: ignore[no-any-return]


class _Rewriter:
    """The driver: an explicit stack of (node, visited) and a stack of results."""

    def __init__(self, rules: Mapping[type[Node], Rule], enter: Mapping[type[Node], Rule], mask: int) -> None:
        self.rules, self.enter, self.mask = rules, enter, mask

    def run(self, root: Node) -> Any:
        mask, rules, enter = self.mask, self.rules, self.enter
        stack: list[tuple[Node, bool]] = [(root, False)]
        results: list[Any] = []
        while stack:
            node, done = stack.pop()
            if not done:
                if not node.mask & mask:
                    results.append(node)
                    continue
                rule = enter.get(type(node)) if enter else None
                replaced = rule(node) if rule is not None else None
                if replaced is not None and replaced is not node:
                    results.append(replaced)
                    continue
                children = node.children()
                below = 0
                for child in children:
                    below |= child.mask
                if below & mask:
                    stack.append((node, True))
                    stack.extend([(child, False) for child in children[::-1]])
                    continue
            else:
                node = _with_children(node, results)
            rule = rules.get(type(node))
            replaced = rule(node) if rule is not None else None
            results.append(node if replaced is None else replaced)
        (result,) = results
        return seq(result) if isinstance(result, list) else result


def _with_children(node: Node, results: list[Any]) -> Node:
    """`node` with the children that lie on top of `results` (popped)."""
    old = node.children()
    new = results[-len(old) :]
    del results[-len(old) :]
    for before, after in zip(old, new, strict=True):
        if before is not after:
            return _rebuilt(node, new)
    return node


def _rebuilt(node: Node, new: list[Any]) -> Node:
    if isinstance(node, Seq):
        return seq(stmt for item in new for stmt in (item if isinstance(item, list) else [item]))
    if isinstance(node, Stmt):
        return node.with_children(tuple(seq(item) if isinstance(item, list) else item for item in new))
    return node.with_children(tuple(new))


def map_bodies(stmt: S, change: Callable[[Stmt], Stmt]) -> S:
    """`stmt` with `change` applied to the statements directly inside it; itself when none of them changes."""
    old = stmt.children()
    new = tuple(change(child) if isinstance(child, Stmt) else child for child in old)
    return stmt if all(a is b for a, b in zip(old, new, strict=True)) else stmt.with_children(new)


def substitute(root: N, values: Mapping[Var, Expr], buffers: Mapping[Buffer, Buffer] | None = None) -> N:
    """`root` with variables (and buffers) replaced by identity; buffers whose shape or storage mentions one are remade."""
    by_id = {id(var): value for var, value in values.items()}
    return Substitution(by_id, {id(k): v for k, v in (buffers or {}).items()}).apply(root)


class Substitution:
    """Variables to expressions, and buffers to buffers, by identity. Extended lazily to buffers that mention a variable."""

    def __init__(self, values: dict[int, Expr], buffers: dict[int, Buffer] | None = None) -> None:
        self.values = values
        self.buffers = buffers if buffers is not None else {}
        self._keep: list[Buffer] = []

    def apply(self, root: N) -> N:
        """`root` after the substitution."""
        return rewrite(root, {Var: self._var, **dict.fromkeys(_buffer_holders(), self._holder)}, mask=-1)

    def buffer(self, old: Buffer) -> Buffer:
        """The buffer to use for `old`."""
        found = self.buffers.get(id(old))
        if found is None:
            found = self.buffers[id(old)] = self._remade(old)
            self._keep.append(old)  # its id must not be reused while we live
        return found

    def _var(self, var: Var) -> Expr | None:
        return self.values.get(id(var))

    def _holder(self, node: Any) -> Any:
        changes = {"buffer": self.buffer(node.buffer)}
        if getattr(node, "source", None) is not None and isinstance(node.source, Buffer):
            changes["source"] = self.buffer(node.source)
        return node.rebuild(**changes)

    def _remade(self, old: Buffer) -> Buffer:
        data = self.values.get(id(old.data), old.data)
        shape = tuple(self._dim(item) for item in old.shape)
        strides = tuple(self._dim(item) for item in old.strides)
        offset = self._dim(old.elem_offset)
        layout = old._layout.mapped(self._expr) if isinstance(old._layout, Layout) else old._layout
        same = data is old.data and offset is old.elem_offset and layout is old._layout
        if same and all(a is b for a, b in zip(shape + strides, old.shape + old.strides, strict=True)):
            return old
        return old.replaced(
            data=data if isinstance(data, Var) else old.data,
            shape=shape,
            strides=strides,
            elem_offset=offset,
            layout=layout,
        )

    def _expr(self, item: Expr) -> Expr:
        return rewrite(item, {Var: self._var})

    def _dim(self, item: int | Expr) -> int | Expr:
        return item if isinstance(item, int) else self._expr(item)


def _buffer_holders() -> list[type[Node]]:
    found: list[type[Node]] = []
    stack: list[type[Node]] = [Node]
    while stack:
        kind = stack.pop()
        stack.extend(kind.__subclasses__())
        if any(field.name == "buffer" for field in kind.FIELDS):
            found.append(kind)
    return found


def definitions(stmt: Stmt) -> tuple[Var, ...]:
    """Variables that a statement defines."""
    if isinstance(stmt, Bind | For):
        return (stmt.var,)
    if isinstance(stmt, ScopeIdDef):
        return stmt.vars
    if isinstance(stmt, Alloc | Decl):
        return (stmt.buffer.data,)
    return ()
