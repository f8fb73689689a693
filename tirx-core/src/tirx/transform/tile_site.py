"""The place at which a tile call is lowered: where its variant's statements go, ids, names, and what is kept for the kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager

from ..analysis import Declaration, Extents
from ..analysis.free import buffer_variables
from ..ir import (
    INT32,
    Alloc,
    Bind,
    Buffer,
    Expr,
    Layout,
    PrimFunc,
    ScopeIdDef,
    Stmt,
    Var,
    as_expr,
    const,
    mask_of,
    set_builder,
    variables,
    walk,
)  # fmt: skip
from ..script.builder import Builder, Frame, FunctionFrame
from ..script.builder.effects import Effects
from ..script.builder.state import fold
from ..tile.space import Space

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["KernelSite"]


class _Ids:
    """The ids of one pair of levels: the expression for it, and what declares it."""

    __slots__ = ("stmts", "value")

    def __init__(self, value: Expr, stmts: tuple[Stmt, ...] = ()) -> None:
        self.value = value
        self.stmts = stmts


class KernelSite:
    """One kernel part while its tile calls are lowered. `declared` is told of ids that variants add."""

    def __init__(
        self,
        func: PrimFunc,
        space: Space,
        extents: Extents | None,
        found: list[Declaration],
        declared: Callable[[Declaration | Bind], None],
    ) -> None:
        self.space = space
        self.extents = extents
        self.declared = declared
        self.span = func.span
        self.cache: dict[Hashable, Any] = {}
        self.front: list[Stmt] = []
        self.host: list[Stmt] = []
        self.ids: dict[tuple[str, str], _Ids] = {}
        self._root = FunctionFrame(func.name)
        self._root.symbols = {var.name: var for var in func.symbols()}
        self._owner = Builder()
        self._owner.stack.append(self._root)
        for name in (*func.names, *_names(func)):
            self._owner.names.used.setdefault(name, 0)
        self._authors(found)

    def _authors(self, found: list[Declaration]) -> None:
        """Ids that the author has declared; of several dimensions they are the parts of one number."""
        for item in found:
            pair = (item.parent, item.child)
            plain = isinstance(item.node, ScopeIdDef) and all(var.dtype is INT32 for var in item.vars)
            if plain and len(item.vars) == len(self._dims(*pair)) and pair not in self.ids:
                self.ids[pair] = self._linear(item.child, item.parent, item.vars)

    def _dims(self, within: str, child: str) -> tuple[Any, ...]:
        fact = self.extents.facts.get((within, child)) if self.extents is not None else None
        return fact.dims if fact is not None else (None,)

    # ---- where statements go ----------------------------------------------------------------------------------------

    def collect(self, build: Callable[[], None]) -> Stmt:
        """The statements that `build` appends; when it raises, nothing of it is left."""
        front, host, cache = len(self.front), len(self.host), dict(self.cache)
        with self._frame() as frame:
            try:
                build()
            except BaseException:
                del self.front[front:], self.host[host:]
                self.cache = cache
                raise
        return frame.done

    @contextmanager
    def at_kernel_start(self) -> Iterator[None]:
        """What is built inside goes to the start of the kernel."""
        with self._frame() as frame:
            yield
        self.front.append(frame.done)

    @contextmanager
    def on_host(self) -> Iterator[None]:
        """What is built inside goes to the host, before the launch."""
        with self._frame() as frame:
            yield
        self.host.append(frame.done)

    @contextmanager
    def _frame(self) -> Iterator[_Piece]:
        """Build a piece of its own. Its names stay taken: what it binds is visible to the end of the block that it goes to."""
        owner, piece = self._owner, _Piece("a tile operation")
        stack, effects = owner.stack, owner.effects
        owner.stack, owner.effects = [self._root, piece], Effects()
        depth = len(owner.names.blocks)
        restore = set_builder(owner)
        try:
            yield piece
            owner.effects.flush(owner)
            piece.done = owner.effects.resolve(fold(piece.stmts))
        finally:
            restore()
            owner.names.leave(len(owner.names.blocks) - depth)
            owner.stack, owner.effects = stack, effects

    def fresh_name(self, hint: str) -> str:
        """A name that the kernel does not use yet."""
        return self._owner.fresh_name(hint)

    # ---- ids --------------------------------------------------------------------------------------------------------

    def width(self, child: str, within: str) -> int | None:
        """How many members of `child` one `within` has."""
        space = self.space
        if space.holds(child) and space.holds(within):
            return space.sizes[within] // space.sizes[child]
        known = self.extents is not None and (within, child) in self.extents.facts
        size = self.extents.total(within, child) if known and self.extents is not None else None
        return size if isinstance(size, int) else None

    def id(self, child: str, within: str) -> Expr:
        """The id of a `child` in its `within`."""
        pair = (within, child)
        if child == within or self.width(child, within) == 1:
            return const(0)
        if pair not in self.ids:
            self.ids[pair] = self._composed(child, within) or self._declared(child, within)
        return self.ids[pair].value

    def _composed(self, child: str, within: str) -> _Ids | None:
        """Of levels that no launch axis goes across (threads of a cluster): from the ids of a level between."""
        model = self.space.model
        order = {name: number for number, name in enumerate(model.names)}
        spans = [(outer, level.name) for level in model.levels for outer in (*level.axes, *level.reads)]
        if any(
            outer in order and order[outer] <= order[within] and order[inner] >= order[child] for outer, inner in spans
        ):
            return None
        between = next(name for name in model.names if order[within] < order[name] and (name, child) in spans)
        size = self.width(child, between)
        return _Ids(self.id(between, within) * as_expr(size) + self.id(child, between))

    def _declared(self, child: str, within: str) -> _Ids:
        """Ids of our own, declared at the kernel's start."""
        dims = self._dims(within, child)
        names = [f"{child}_in_{within}" if len(dims) == 1 else f"{child}_{axis}" for axis in "xyz"[: len(dims)]]
        made = tuple(Var(self.fresh_name(name), INT32, span=self.span) for name in names)
        stmt = ScopeIdDef(made, None, within, child, span=self.span)
        self.declared(Declaration(stmt, made, within, child, None))
        linear = self._linear(child, within, made)
        return _Ids(linear.value, (stmt, *linear.stmts))

    def _linear(self, child: str, within: str, made: tuple[Var, ...]) -> _Ids:
        """One number from the ids of all dimensions, the first fastest."""
        value: Expr = made[-1]
        for var, size in reversed(list(zip(made[:-1], self._dims(within, child)[:-1], strict=True))):
            value = value * as_expr(size) + var
        if len(made) == 1:
            return _Ids(value)
        linear = Var(self.fresh_name(f"{child}_in_{within}"), INT32, span=self.span)
        stmt = Bind(linear, value, span=self.span)
        self.declared(stmt)
        return _Ids(linear, (stmt,))

    def declarations_for(self, *parts: Stmt) -> list[Stmt]:
        """The statements that declare those of our own ids that are used."""
        own = [item for item in self.ids.values() if item.stmts]
        used = _mentioned(parts) if own else set[int]()
        return [stmt for item in own if id(item.value) in used for stmt in item.stmts]


def _mentioned(parts: Iterable[Stmt]) -> set[int]:
    """Ids of the variables that statements use, also in the shapes, offsets and layouts of the buffers that they touch."""
    used: set[int] = set()
    buffers: dict[int, Buffer] = {}
    for part in parts:
        for node in walk(part):
            if type(node) is Var:
                used.add(id(node))
            elif (buffer := getattr(node, "buffer", None)) is not None:
                buffers[id(buffer)] = buffer
    for buffer in buffers.values():
        used.update(map(id, buffer_variables(buffer)))
        if buffer.layout is not None:
            used.update(id(var) for part in _numbers(buffer.layout) for var in variables(part))
    return used


def _numbers(layout: Layout) -> list[Expr]:
    """The expressions that a layout is made of."""
    held: list[Expr] = []

    def hold(item: Expr) -> Expr:
        held.append(item)
        return item

    layout.mapped(hold)
    return held


class _Piece(Frame):
    """Statements that are built on their own."""

    __slots__ = ("done",)

    done: Stmt


def _names(func: PrimFunc) -> Iterator[str]:
    for node in walk(func.body, mask_of(Var, Alloc)):
        if isinstance(node, Var):
            yield node.name
    for item in func.params:
        yield item.name
