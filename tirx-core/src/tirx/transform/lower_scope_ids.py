"""Scope ids and bound loops become launch indices and arithmetic on them.

before  with Tx.attr({"tirx.device_entry": True}):
            bx = Tx.cta_id([4]); warp = Tx.warp_id([8]); lane = Tx.lane_id()
            A[bx, warp, lane] = 0
after   with Tx.attr({"tirx.device_entry": True, "tirx.extent.cta.x": 4, "tirx.extent.thread.x": 256}):
            bx = launch_index("cta.x")
            thread_x = launch_index("thread.x")
            warp = uniform(thread_x // 32); lane = thread_x % 32
            A[bx, warp, lane] = 0

Indices are bound at the start of the kernel: they depend on nothing. Conditions that only the launch can check (a
run-time number of threads that must be a multiple of a warp) become assertions before the kernel. Needs: verified
scope ids.
"""

from __future__ import annotations

from ..analysis import Declaration, Extents, declarations, resolve_extents
from ..intrinsic.core.calls import launch_index
from ..intrinsic.internal import UNIFORM
from ..ir import (
    Add,
    Assert,
    Attr,
    Bind,
    Call,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    IRModule,
    Mul,
    PrimFunc,
    ScopeIdDef,
    Stmt,
    Substitution,
    Var,
    as_expr,
    binary,
    call_attrs,
    cast,
    const,
    rewrite,
    seq,
)  # fmt: skip
from ..ir.sizes import Size
from ..support.errors import VerifyError
from ..support.span import Span
from ..target import ScopeModel
from .launch import EXTENT
from .mark_kernels import ENTRY
from .pipeline import Pass, PassContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["lower_scope_ids"]


class _Ids:
    """The values of ids in one kernel, bound in `front`; what is declared again becomes the first variable (`same`)."""

    def __init__(self, extents: Extents, span: Span | None) -> None:
        self.extents = extents
        self.model = extents.model
        self.span = span
        self.front: list[Stmt] = []
        self.axes: dict[str, Var] = {}
        self.linear: dict[tuple[str, str], Expr] = {}
        self.computed: dict[tuple[str, str, DType], Var] = {}
        self.same: dict[int, Expr] = {}

    def define(self, item: Declaration) -> None:
        """Bind the variables of one declaration."""
        names = self._axis_names(item.parent, item.child)
        for position, var in enumerate(item.vars):
            if names:
                self._axis_id(item, var, names[item.first + position])
            else:
                self._computed_id(item, var)

    def is_computed(self, item: Declaration) -> bool:
        """Whether an id is arithmetic on launch indices, and none itself."""
        return not self._axis_names(item.parent, item.child)

    def _axis_names(self, parent: str, child: str) -> tuple[str, ...]:
        level = self.model[child]
        return level.axes.get(parent) or level.reads.get(parent) or ()

    def _axis_id(self, item: Declaration, var: Var, axis: str) -> None:
        start = item.node.start if isinstance(item.node, For) else const(0)
        if _is_zero(start) and axis not in self.axes:
            self.axes[axis] = var
            self._bind(var, self._index(item.parent, item.child, axis, var.dtype), item.span)
        elif _is_zero(start) and self.axes[axis].dtype is var.dtype:
            self.same[id(var)] = self.axes[axis]
        else:
            value = cast(self._axis_var(item.parent, item.child, axis), var.dtype)
            self._bind(var, binary(Add, value, start), item.span)

    def _computed_id(self, item: Declaration, var: Var) -> None:
        first = self.computed.setdefault((item.parent, item.child, var.dtype), var)
        if first is var:
            self._bind(var, self._computed(item.parent, item.child, var.dtype), item.span)
        else:
            self.same[id(var)] = first

    def _bind(self, var: Var, value: Expr, span: Span | None) -> None:
        self.front.append(Bind(var, value, span=span))

    def _index(self, parent: str, child: str, axis: str, dtype: DType) -> Expr:
        dims = self.extents.dims(parent, child)
        dimension = self._axis_names(parent, child).index(axis)
        size = dims[dimension] if dimension < len(dims) else 1
        if isinstance(size, int) and size == 1:
            return const(0, dtype)
        return cast(launch_index(axis=axis), dtype)

    def _axis_var(self, parent: str, child: str, axis: str) -> Var:
        """The variable of an axis; one of our own when the author has none."""
        if axis not in self.axes:
            var = self.axes[axis] = Var(axis.replace(".", "_"), DType("int32"), span=self.span)
            self._bind(var, self._index(parent, child, axis, var.dtype), self.span)
        return self.axes[axis]

    def _computed(self, parent: str, child: str, dtype: DType) -> Expr:
        """An id without axes: a slice of the linear index of the levels around it that have axes."""
        outer, inner = self._base(parent, child)
        value = cast(self._linear(outer, inner), dtype)
        value = _divided(value, self.extents.total(child, inner))
        if outer != parent:
            value = _remainder(value, self.extents.total(parent, child))
        if not self.model[child].uniform or inner == child or not isinstance(value, FloorDiv | FloorMod):
            return value
        return Call(dtype, UNIFORM, (value,), call_attrs({"level": child}), span=self.span)

    def _base(self, parent: str, child: str) -> tuple[str, str]:
        """The nearest pair of levels with axes that encloses (parent, child)."""
        order = {name: position for position, name in enumerate(self.extents.active)}
        found = [
            (outer, level.name)
            for level in self.model.levels
            for outer in level.axes
            if level.name in order and outer in order
            if order[outer] <= order[parent] and order[child] <= order[level.name]
        ]
        return max(found, key=lambda pair: order[pair[0]])

    def _linear(self, outer: str, inner: str) -> Expr:
        pair = (outer, inner)
        if pair not in self.linear:
            names = self._axis_names(*pair)
            dims = self.extents.dims(*pair)
            total: Expr | None = None
            for axis, size in reversed(list(zip(names, dims, strict=False))):
                index = self._axis_var(outer, inner, axis)
                total = index if total is None else binary(Add, binary(Mul, total, as_expr(size)), index)
            assert total is not None
            self.linear[pair] = self._named(total, inner) if len(dims) > 1 else total
        return self.linear[pair]

    def _named(self, value: Expr, level: str) -> Expr:
        var = Var(f"{level}_index", value.dtype, span=self.span)
        self._bind(var, value, self.span)
        return var


def _is_zero(expr: Any) -> bool:
    return bool(getattr(expr, "value", None) == 0)


def _divided(value: Expr, size: Size) -> Expr:
    if isinstance(size, int) and size == 1:
        return value
    return binary(FloorDiv, value, cast(as_expr(size), value.dtype))


def _remainder(value: Expr, size: Size) -> Expr:
    if isinstance(size, int) and size == 1:
        return const(0, value.dtype)
    return binary(FloorMod, value, cast(as_expr(size), value.dtype))


def _lowered(entry: Attr, model: ScopeModel) -> list[Stmt]:
    """The kernel part without ids, with the checks that go before it."""
    found = list(declarations(entry.body, model))
    extents = resolve_extents(model, found)
    if extents.problems:
        raise VerifyError(diagnostics=extents.problems)
    ids = _Ids(extents, entry.span)
    for item in sorted(found, key=ids.is_computed):  # indices first, under the author's names
        ids.define(item)
    body = rewrite(entry.body, {ScopeIdDef: lambda _: [], For: _unbound})
    if ids.same:
        body = Substitution(ids.same).apply(body)
    body = seq([*ids.front, body])
    for axis, size in reversed(list(_launch_axes(extents))):
        body = Attr(EXTENT + axis, as_expr(size), body, span=entry.span)
    checks: list[Stmt] = [Assert(test, (_text(message),), span=entry.span) for test, message in extents.checks]
    return [*checks, entry.rebuild(body=body)]


def _text(message: str) -> Expr:
    return as_expr(message)


def _unbound(loop: For) -> Stmt | None:
    return loop.body if loop.kind == "thread_binding" else None


def _launch_axes(extents: Extents) -> list[tuple[str, Size]]:
    """Axes that this launch sizes, in the order of the levels."""
    found: list[tuple[str, Size]] = []
    for level in extents.model.levels:
        for parent, names in level.axes.items():
            if (parent, level.name) not in extents.facts:
                continue
            found += zip(names, extents.dims(parent, level.name), strict=False)
            if level.preferred and parent == level.preferred:
                found += ((f"preferred_{name}", size) for name, size in zip(names, extents.preferred, strict=False))
    return found


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without scope ids."""
    return module.map(lambda func: _function(func, context))


def _function(func: PrimFunc, context: PassContext) -> PrimFunc:
    target = func.attrs.get("target", context.target)
    model = target.scope_model(func.attrs)

    def enter(node: Attr) -> Any:
        return seq(_lowered(node, model)) if node.key == ENTRY and model else None

    return func.with_body(rewrite(func.body, {}, enter={Attr: enter}))


lower_scope_ids = Pass("lower_scope_ids", run, requires=("target", "tiles_lowered"), ensures=("scope_ids_lowered",))
