"""What a kernel declares about its launch: scope ids, and loops that are bound to launch axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ir import BufferLoad, Expr, For, Node, ScopeIdDef, Stmt, Var, mask_of, walk
from ..ir.sizes import Size, size_of
from ..support.span import Span
from ..target import ScopeModel

__all__ = ["Declaration", "declarations", "not_on_host", "plural", "size_text"]

# (parent, child) -> the function of the language that declares it
_FUNCTIONS = {
    ("kernel", "cluster"): "cluster_id",
    ("kernel", "cta"): "cta_id",
    ("cluster", "cta"): "cta_id_in_cluster",
    ("cta_pair", "cta"): "cta_id_in_pair",
    ("cta", "warpgroup"): "warpgroup_id",
    ("cta", "warp"): "warp_id",
    ("warpgroup", "warp"): "warp_id_in_wg",
    ("cta", "thread"): "thread_id",
    ("warpgroup", "thread"): "thread_id_in_wg",
    ("warp", "thread"): "lane_id",
}


class Declaration:
    """`vars` are ids of `child` inside `parent`; `dims` their extents, None when deferred.

    `first` is the dimension of the first variable: a loop bound to `thread.y` declares dimension 1 only.
    """

    __slots__ = ("child", "dims", "first", "node", "parent", "preferred", "vars")

    def __init__(
        self,
        node: Stmt,
        variables: Sequence[Var],
        parent: str,
        child: str,
        dims: Sequence[Size] | None,
        preferred: Sequence[Size] | None = None,
        first: int = 0,
    ) -> None:
        self.node = node
        self.vars = tuple(variables)
        self.parent = parent
        self.child = child
        self.dims: tuple[Size, ...] | None = None if dims is None else tuple(dims)
        self.preferred = None if preferred is None else tuple(preferred)
        self.first = first

    @property
    def span(self) -> Span | None:
        """Where it was written."""
        return self.node.span

    @property
    def is_loop(self) -> bool:
        """Whether it is a loop bound to a launch axis."""
        return isinstance(self.node, For)

    @property
    def label(self) -> str:
        """How it was written: `warp_id([3])`."""
        if isinstance(self.node, For):
            return f"the loop over `{self.node.thread}`"
        sizes = "" if self.dims is None else f"[{', '.join(map(size_text, self.dims))}]"
        name = _FUNCTIONS.get((self.parent, self.child))
        return f"`{name}({sizes})`" if name else f'`scope_id({sizes}, "{self.parent}", "{self.child}")`'

    @property
    def where(self) -> str:
        """The label with its line."""
        return f"{self.label} in line {self.span.line}" if self.span is not None else self.label


def declarations(body: Node, model: ScopeModel) -> Iterator[Declaration]:
    """All declarations of a kernel's body in order. A bound loop whose axis the model lacks has an empty parent."""
    for node in walk(body, mask_of(ScopeIdDef, For)):
        if isinstance(node, ScopeIdDef):
            dims = None if node.extents is None else [size_of(item) for item in node.extents]
            preferred = None if node.preferred is None else [size_of(item) for item in node.preferred]
            yield Declaration(node, node.vars, node.parent, node.cur, dims, preferred)
        elif isinstance(node, For) and node.kind == "thread_binding":
            parent, child, dimension = model.axis(node.thread or "") or ("", "", 0)
            yield Declaration(node, (node.var,), parent, child, (size_of(node.extent),), first=dimension)


def size_text(value: Size) -> str:
    """An extent as people write it."""
    if isinstance(value, int):
        return str(value)
    return value.name if isinstance(value, Var) else "..."


def plural(level: str, count: Size) -> str:
    """`1 warp`, `4 warps`."""
    return f"{size_text(count)} {level}{'' if isinstance(count, int) and count == 1 else 's'}"


def not_on_host(expr: Expr, inside: frozenset[int]) -> str | None:
    """Why the host cannot compute `expr` before the launch, or None.

    `inside` holds the `id()` of every variable that the kernel defines.
    """
    for node in walk(expr):
        if isinstance(node, BufferLoad) and not (node.buffer.is_scalar and id(node.buffer.data) not in inside):
            return f"it reads `{node.buffer.name}`"
        if isinstance(node, Var) and id(node) in inside:
            return f"it uses `{node.name}`, which the kernel computes"
    return None
