"""What every topic of the verifier reads: one function, its target, and its nodes by kind, host and kernel apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...ir import Attr, IRModule, Node, PrimFunc, Stmt
from ...support.span import Span
from ...target import ScopeModel, Target
from ..extents import Extents, resolve_extents
from ..launch_ids import Declaration, declarations

__all__ = ["ENTRY", "Facts", "line_of"]

ENTRY = "tirx.device_entry"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    N = TypeVar("N", bound=Node)


class Kernel:
    """The kernel part of a function: what opens it, its nodes by type, and what it declares of its launch."""

    def __init__(self, entry: Attr, model: ScopeModel | None) -> None:
        self.entry = entry
        self.nodes, self.inner_entries = _sorted_nodes(entry.body)
        self.declared: list[Declaration] = list(declarations(entry.body, model)) if model is not None else []
        self._extents: Extents | None = None
        self.model = model

    def all(self, *kinds: type[N]) -> Iterator[N]:
        """Nodes of the kernel that are of one of `kinds`, in source order for each."""
        for kind in kinds:
            yield from self.nodes.get(kind, ())  # type: ignore[misc]  # the table is keyed by the type of its nodes

    def attributes(self, key: str) -> list[Attr]:
        """Attribute statements of this key."""
        return [node for node in self.nodes.get(Attr, ()) if isinstance(node, Attr) and node.key == key]

    @property
    def known(self) -> list[Declaration]:
        """Declarations whose levels the target has."""
        model = self.model
        return [item for item in self.declared if model and item.parent in model and item.child in model]

    @property
    def extents(self) -> Extents | None:
        """The resolved launch; None without a target, or on one without threads."""
        if self._extents is None and self.model:
            self._extents = resolve_extents(self.model, self.known)
        return self._extents


class Facts:
    """One function. `target` is None while it is not known; `model` then too."""

    def __init__(self, func: PrimFunc, module: IRModule, target: Target | None) -> None:
        self.func = func
        self.module = module
        self.target = target
        self.model = target.scope_model(func.attrs) if target is not None else None
        self.host, entries = _sorted_nodes(func.body)
        self.kernels = [Kernel(entry, self.model) for entry in entries]

    def all(self, *kinds: type[N]) -> Iterator[N]:
        """Nodes of the whole function that are of one of `kinds`."""
        for kind in kinds:
            yield from self.host.get(kind, ())  # type: ignore[misc]  # the table is keyed by the type of its nodes
        for kernel in self.kernels:
            yield from kernel.all(*kinds)


def _sorted_nodes(root: Stmt) -> tuple[Mapping[type[Node], list[Node]], list[Attr]]:
    """All nodes by type; kernel parts are listed apart and not entered."""
    found: dict[type[Node], list[Node]] = {}
    entries: list[Attr] = []
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is Attr and node.key == ENTRY:  # type: ignore[attr-defined]  # the test on the type says so
            entries.append(node)  # type: ignore[arg-type]
            continue
        if kind in found:
            found[kind].append(node)
        else:
            found[kind] = [node]
        stack.extend(reversed(list(node.children())))
    return found, entries


def line_of(span: Span | None) -> str:
    """` in line 12`, or nothing."""
    return f" in line {span.line}" if span is not None else ""
