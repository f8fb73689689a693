"""A target kind with variants that only these tests have: what they fit says their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from tirx import backend
from tirx.backend import hookimpl
from tirx.target import TargetKind
from tirx.target.generic import GENERIC
from tirx.tile import Predicate, TileOp, TileOperand, Variant, Verdict, decline
from tirx.transform import SIMT_LOWER, Pipeline

PROBE = TileOp("probe", [TileOperand("dst", "w")], meaning="tests.core.tile.toys:probe", doc="a mark")


def never(reason: str = "never", **measured: Any) -> Predicate:
    """A predicate that refuses."""

    def test(call: Any, context: Any) -> Verdict:
        decline(reason, **measured)

    return Predicate("never", test)


ALWAYS = Predicate("always", lambda call, context: None)
FEW = Predicate(
    "few threads", lambda call, context: Verdict(context.threads <= 32, "too many", {"threads": context.threads})
)


def mark(number: float) -> Callable[[Any, Any], None]:
    """Every thread that takes part writes `number` where it stands in the row."""

    def emit(call: Any, context: Any) -> None:
        dst = call.operand("dst").buffer
        dst[context.rank] = number

    return emit


def variant(
    name: str, emit: Any = None, *predicates: Predicate, kind: str = "lab", operation: str = "fill", **options: Any
) -> Variant:
    """A variant of `fill` on the tests' kind; without an `emit` it marks with 1."""
    return Variant(operation, kind, name, emit=emit or mark(1.0), predicates=predicates or (ALWAYS,), **options)


def _kind(name: str, parent: str | None = None) -> TargetKind:
    return TargetKind(
        name, doc="of the tests", attributes=GENERIC.attributes, scope_model=GENERIC.scope_model,
        capabilities=GENERIC.capabilities, limits=GENERIC.limits, parent=parent,
    )  # fmt: skip


class Plugin:
    """Hooks that answer what they are given."""

    def __init__(self, variants: Iterable[Variant], kinds: Iterable[TargetKind] = ()) -> None:
        self.variants = tuple(variants)
        self.kinds = tuple(kinds)

    @hookimpl
    def tirx_dispatch_variants(self) -> Iterable[Variant]:
        return self.variants

    @hookimpl
    def tirx_target_kinds(self) -> Iterable[TargetKind]:
        return self.kinds

    @hookimpl
    def tirx_pipelines(self) -> Iterable[Pipeline]:
        return [Pipeline(kind.name, lower=SIMT_LOWER) for kind in self.kinds]

    @hookimpl
    def tirx_simulators(self) -> Iterable[Any]:
        from tirx.sim.row import Simulator

        return [Simulator(kind.name, "simt") for kind in self.kinds]


_numbers = count()


@contextmanager
def lab(*variants: Variant, **others: Iterable[Variant]) -> Iterator[None]:
    """Kind `lab` and its child `lab_small`, with these variants; further keywords are distributions that add more."""
    number = next(_numbers)  # a name stays known when its rows are taken away
    plugins = {"lab-kit": Plugin(variants, [_kind("lab"), _kind("lab_small", "lab")])}
    plugins.update((f"{name}-kit", Plugin(rows)) for name, rows in others.items())
    names = []
    for distribution, plugin in plugins.items():
        names.append(f"{distribution.partition('-')[0]}{number}")
        backend.register(names[-1], plugin, distribution=distribution, version="1.2")
        backend.load(names[-1])
    try:
        yield
    finally:
        for name in reversed(names):
            backend.unload(name)
