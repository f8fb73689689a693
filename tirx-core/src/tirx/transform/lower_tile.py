"""Tile operations become the statements of the variants that are chosen for them.

before  Tx.cta.fill(A_shared, 0.0)
after   for i in Tx.serial(4):
            A_shared[(i * 128 + thread) // 64, (i * 128 + thread) % 64] = 0.0

Each call is dispatched where it stands: with the threads that are active there, the ranges of loop variables, and the
conditions that hold. What variants emit may hold tile calls again. Decisions are kept in the context for `explain`; calls
that no variant fits are all reported together. Needs: a target on every function, marked kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..analysis import declarations, resolve_extents
from ..ir import (
    Attr,
    Call,
    GlobalVar,
    IRModule,
    PrimFunc,
    ScopeIdDef,
    Seq,
    Stmt,
    TileCall,
    mask_of,
    rewrite,
    seq,
    walk,
)  # fmt: skip
from ..ir.tiles import call_name
from ..support.errors import Diagnostic, DispatchError
from ..support.span import pin
from ..target import Target
from ..tile.active import ActiveSet
from ..tile.context import DispatchContext
from ..tile.dispatch import Decision, choose
from ..tile.report import failure
from ..tile.space import Space
from .mark_kernels import ENTRY
from .pipeline import Pass, PassContext
from .tile_flow import Flow
from .tile_site import KernelSite

__all__ = ["lower_tile"]

DEEPEST = 16  # variants that emit tile calls: beyond this they only call each other


class _KernelTiles(Flow):
    """The tile calls of one kernel part; or of a function that is not `launched`, which kernels call."""

    def __init__(
        self, func: PrimFunc, body: Stmt, target: Target, context: PassContext, *, launched: bool = True
    ) -> None:
        self.model = target.scope_model(func.attrs)
        self.found = list(declarations(body, self.model)) if self.model and launched else []
        extents = resolve_extents(self.model, self.found) if self.model and launched else None
        scopes = {call.scope for call in walk(body, TileCall.BIT) if isinstance(call, TileCall)}
        super().__init__(func, body, Space(self.model, extents, scopes), self.found, extents)
        self.func = func
        self.target = target
        self.context = context
        self.problems: list[Diagnostic] = []
        self.stack: list[Decision] = []
        self.site = KernelSite(func, self.space, extents, self.found, self.declare)

    def lower(self, body: Stmt) -> tuple[list[Stmt], Stmt]:
        """Statements for the host, and the body without tile calls."""
        made = self.body(body)
        front = self._front()
        ids = [item.node for item in self.found if isinstance(item.node, ScopeIdDef)]
        if not front and not self.site.declarations_for(made):
            return self.site.host, made
        made = rewrite(made, {ScopeIdDef: lambda _: []})
        own = self.site.declarations_for(made, *front)
        return self.site.host, seq([*ids, *own, *front, made])

    def _front(self) -> list[Stmt]:
        """What variants put at the kernel's start, its own tile calls lowered; what those need comes before."""
        waiting, self.site.front = self.site.front, []
        found: list[Stmt] = []
        for stmt in waiting:
            self.active = ActiveSet(self.space)
            made = self.body(stmt)
            found += [*self._front(), made]
        return found

    # ---- one call ---------------------------------------------------------------------------------------------------

    def tile(self, call: TileCall) -> list[Stmt]:
        """What takes the call's place."""
        decision = Decision(call, self.func.name, parent=self.stack[-1] if self.stack else None)
        self.context.decisions.append(decision)
        if self.active is None or self.active.is_empty:
            decision.note = "no thread gets here: nothing is emitted"
            return []
        try:
            made = self._dispatched(call, decision, self.active)
        except DispatchError as error:
            decision.error = error
            self.problems += error.diagnostics
            return []
        return self._nested(made, decision)

    def _dispatched(self, call: TileCall, decision: Decision, active: ActiveSet) -> Stmt:
        self._check_scope(call, active)
        here = DispatchContext(self.target, call, active, self.known(active), self.site, self.model)
        decision.threads = here.threads
        release = pin(call.span)
        try:
            made = choose(call, here, self.context.registry, self.site, decision)
        finally:
            release()
        if made is None:
            raise failure(decision, self.target.kind.name)
        self._check_depth(decision)
        return made

    def _check_scope(self, call: TileCall, active: ActiveSet) -> None:
        name, scope = call_name(call), call.scope
        if scope != "thread" and scope not in self.model:
            listed = f"it has {', '.join(self.model.names[1:])}" if self.model else "it has no threads"
            hint = f"{listed}; without a scope an operation belongs to each thread: Tx.tile.{call.op.name}(...)"
            raise DispatchError(f"the target has no {scope}s to do {name}", span=call.span, hint=hint)
        problem = active.problem(scope)
        if problem is not None:
            hint = "put the call where the same threads of each are active, or use a smaller scope"
            raise DispatchError(f"{name} cannot be shared out here: {problem}", span=call.span, hint=hint)

    def _check_depth(self, decision: Decision) -> None:
        if len(decision.chain) > DEEPEST:
            names = [
                f"{call_name(item.call)} by `{item.chosen.variant.name}`" for item in self.stack[-3:] if item.chosen
            ]
            raise DispatchError(
                f"variants emit each other's operations without an end: {', '.join(names)}, ...",
                span=decision.call.span,
                hint="this is a fault of the variants; name another one with dispatch=",
            )

    def _nested(self, made: Stmt, decision: Decision) -> list[Stmt]:
        """The statements of a variant, with the tile calls among them lowered too."""
        for node in walk(made, mask_of(*Stmt.__subclasses__())):
            if isinstance(node, Stmt) and node.span is None:
                node.span = decision.call.span
        if made.has(TileCall):
            self.values.learn(made)
            self.stack.append(decision)
            before = self.active
            made = self.body(made)
            self.active = before
            self.stack.pop()
        return list(made.stmts) if isinstance(made, Seq) else [made]


# ---- functions ------------------------------------------------------------------------------------------------------


class _Module:
    """The pass over one module: problems of all functions are collected."""

    def __init__(self, module: IRModule, context: PassContext) -> None:
        self.context = context
        self.problems: list[Diagnostic] = []
        self.called = {
            node.op.name
            for func in module
            for node in walk(func.body, mask_of(Call))
            if isinstance(node, Call) and isinstance(node.op, GlobalVar)
        }

    def function(self, func: PrimFunc) -> PrimFunc:
        """A function without tile calls."""
        if not func.body.has(TileCall):
            return func
        target: Target = func.attrs.get("target", self.context.target)
        body = rewrite(func.body, {}, enter={Attr: self._entering(func, target)})
        if body.has(TileCall) and (not target.scope_model(func.attrs) or func.name in self.called):
            host, body = self._part(func, body, target, launched=False)
            body = seq([*host, body])
        self.problems += _left_over(body)
        return func.with_body(body)

    def _entering(self, func: PrimFunc, target: Target) -> Callable[[Attr], Stmt | None]:
        def enter(node: Attr) -> Stmt | None:
            if node.key != ENTRY or not node.has(TileCall):
                return None
            host, made = self._part(func, node.body, target)
            return seq([*host, node.rebuild(body=made)])

        return enter

    def _part(self, func: PrimFunc, body: Stmt, target: Target, *, launched: bool = True) -> tuple[list[Stmt], Stmt]:
        tiles = _KernelTiles(func, body, target, self.context, launched=launched)
        found = tiles.lower(body)
        self.problems += tiles.problems
        return found


def _left_over(body: Stmt) -> Iterator[Diagnostic]:
    """Tile calls outside the kernel part."""
    for node in walk(body, mask_of(TileCall)):
        if isinstance(node, TileCall):
            yield Diagnostic(
                f"{call_name(node)} stands in host code",
                node.span,
                "tile operations belong to the kernel: put the call after Tx.device_entry()",
            )


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without tile calls."""
    context.decisions.clear()
    work = _Module(module, context)
    made = module.map(work.function)
    if work.problems:
        raise DispatchError(diagnostics=work.problems)
    return made


lower_tile = Pass("lower_tile", run, requires=("target",), ensures=("tiles_lowered",))
