"""Scope ids against the levels of the target: known levels, ranks, extents that agree and divide, limits."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import For, Stmt, definitions
from ...support.errors import Diagnostic
from ...support.suggest import did_you_mean
from ...target import ScopeModel
from ..launch_ids import Declaration, not_on_host, plural
from .facts import Facts, Kernel

__all__ = ["check"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    if facts.model is None:
        return
    for kernel in facts.kernels:
        found = [problem for item in kernel.declared for problem in _declaration(facts, kernel, facts.model, item)]
        yield from found
        if found or kernel.extents is None:
            continue
        yield from kernel.extents.problems
        if not kernel.extents.problems:
            yield from _limits(facts, kernel, facts.model)


def _declaration(facts: Facts, kernel: Kernel, model: ScopeModel, item: Declaration) -> Iterator[Diagnostic]:
    if not model:
        yield Diagnostic(
            f"{item.label} counts threads, and target `{facts.target}` has none",
            item.span,
            hint="leave it out: such a target runs a kernel once",
        )
    elif isinstance(item.node, For) and not item.parent:
        yield _unknown_axis(model, item.node)
    elif item.parent not in model or item.child not in model:
        yield _unknown_level(facts, model, item)
    else:
        yield from _order_and_rank(model, item)
        yield from _extents(kernel, item)
        yield from _preferred(model, item)


def _unknown_axis(model: ScopeModel, loop: For) -> Diagnostic:
    names = [*model.tags, *(name for level in model.levels for axes in level.axes.values() for name in axes)]
    return Diagnostic(
        f"there is no launch axis `{loop.thread}`",
        loop.span,
        hint=did_you_mean(loop.thread or "", names) or f"the target has {', '.join(names)}",
    )


def _unknown_level(facts: Facts, model: ScopeModel, item: Declaration) -> Diagnostic:
    missing = item.parent if item.parent not in model else item.child
    return Diagnostic(
        f"{item.label} needs a level `{missing}`, which target `{facts.target}` does not have",
        item.span,
        hint=f"its levels are {', '.join(model.names)}",
    )


def _order_and_rank(model: ScopeModel, item: Declaration) -> Iterator[Diagnostic]:
    if model.index(item.parent) >= model.index(item.child):
        yield Diagnostic(f"{item.label} counts {item.child}s in a {item.parent}, which is not around them", item.span)
        return
    level = model[item.child]
    axes = level.axes.get(item.parent) or level.reads.get(item.parent) or ("",)
    if len(item.vars) > len(axes):
        yield Diagnostic(
            f"{item.label} has {len(item.vars)} dimensions; a {item.child} in a {item.parent} has {len(axes)}",
            item.span,
        )


def _extents(kernel: Kernel, item: Declaration) -> Iterator[Diagnostic]:
    inside = _inside(kernel)
    for size in (*(item.dims or ()), *(item.preferred or ())):
        if isinstance(size, int):
            if size < 1:
                yield Diagnostic(f"the extent {size} of {item.label} is not positive", item.span)
            continue
        reason = not_on_host(size, inside)
        if reason is not None:
            yield Diagnostic(
                f"an extent of {item.label} is not known before the launch: {reason}",
                item.span,
                hint="compute it from parameters and shapes, before device_entry()",
            )


def _inside(kernel: Kernel) -> frozenset[int]:
    return frozenset(
        id(var)
        for nodes in kernel.nodes.values()
        for node in nodes
        if isinstance(node, Stmt)
        for var in definitions(node)
    )


def _preferred(model: ScopeModel, item: Declaration) -> Iterator[Diagnostic]:
    if item.preferred is None:
        return
    allowed = [(level.preferred, level.name) for level in model.levels if level.preferred]
    if (item.parent, item.child) not in allowed:
        where = " or ".join(f"a {child} in a {parent}" for parent, child in allowed)
        yield Diagnostic(
            f"{item.label} cannot have preferred extents",
            item.span,
            hint=f"only the ids of {where} can" if where else "the target has no such launches",
        )
    elif len(item.preferred) != len(item.dims or ()):
        yield Diagnostic(
            f"{item.label} has {len(item.dims or ())} extents, and {len(item.preferred)} preferred ones", item.span
        )
    else:
        yield from _preferred_multiple(item)


def _preferred_multiple(item: Declaration) -> Iterator[Diagnostic]:
    for size, wanted in zip(item.dims or (), item.preferred or (), strict=True):
        if isinstance(size, int) and isinstance(wanted, int) and size > 0 and wanted % size:
            yield Diagnostic(f"the preferred extent {wanted} of {item.label} is not a multiple of {size}", item.span)


def _limits(facts: Facts, kernel: Kernel, model: ScopeModel) -> Iterator[Diagnostic]:
    extents = kernel.extents
    assert extents is not None
    over = set()
    for (parent, child), limit in model.limits.items():
        fact = extents.facts.get((parent, child))
        if fact is not None and isinstance(fact.total, int) and fact.total > limit:
            over.add((parent, child))
            at = fact.given or _about(kernel, parent, child)
            yield Diagnostic(
                f"{plural(child, fact.total)} in a {parent}: target `{facts.target}` allows {limit}",
                at.span if at else kernel.entry.span,
                notes=() if fact.given else (f"{fact.why} make {fact.total}",),
            )
    for level in model.levels:
        for parent, axes in level.axes.items():
            if (parent, level.name) in extents.facts and (parent, level.name) not in over:
                yield from _axis_limits(facts, kernel, model, (parent, level.name), axes)


def _axis_limits(
    facts: Facts, kernel: Kernel, model: ScopeModel, pair: tuple[str, str], axes: tuple[str, ...]
) -> Iterator[Diagnostic]:
    assert kernel.extents is not None
    at = _about(kernel, *pair)
    for axis, size in zip(axes, kernel.extents.dims(*pair), strict=False):
        limit = model.axis_limits.get(axis)
        if limit is not None and isinstance(size, int) and size > limit:
            yield Diagnostic(
                f"the extent {size} of axis {axis} is over the {limit} of target `{facts.target}`",
                at.span if at else kernel.entry.span,
            )


def _about(kernel: Kernel, parent: str, child: str) -> Declaration | None:
    """The declaration that a problem of a pair of levels is shown at: its own, else one that touches the child."""
    for item in kernel.declared:
        if (item.parent, item.child) == (parent, child):
            return item
    sized = [item for item in kernel.declared if item.dims]
    return next((item for item in sized if item.parent == parent or child in (item.parent, item.child)), None)
