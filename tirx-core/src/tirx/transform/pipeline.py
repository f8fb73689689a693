"""Passes and pipelines: what runs, in which order, under which observation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..backend import registry
from ..ir import IRModule
from ..support.errors import TirxError
from ..support.suggest import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..backend.snapshot import Registry
    from ..target import Target
    from ..tile.dispatch import Decision

__all__ = [
    "Anchor",
    "Instrument",
    "Pass",
    "PassContext",
    "PassRow",
    "Pipeline",
    "check_pass",
    "check_pipeline",
    "run_passes",
]


class Pass:
    """A named step: one `IRModule` in, one out.

    `requires` and `ensures` are facts about the module by name (`layouts_lowered`); the pipeline refuses an order in
    which a pass runs before what it requires. `run` never changes its argument.
    """

    __slots__ = ("ensures", "name", "requires", "run")

    def __init__(
        self,
        name: str,
        run: Callable[[IRModule, PassContext], IRModule],
        *,
        requires: Iterable[str] = (),
        ensures: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.run = run
        self.requires = frozenset(requires)
        self.ensures = frozenset(ensures)

    def __repr__(self) -> str:
        return f"Pass({self.name!r})"


class Anchor:
    """A documented place in a pipeline, `kind:name`, where extensions may insert passes.

    Without a kind (`:name`) it takes that of the pipeline that it is put into, as anchors in shared lists of passes do.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Instrument:
    """Watches a pipeline: called before and after each pass; anything with these two methods will do."""

    def before(self, step: Pass, module: IRModule) -> None:
        """`step` is about to run on `module`."""

    def after(self, step: Pass, module: IRModule) -> None:
        """`step` has answered `module`."""


class PassContext:
    """What passes may ask: the target, configuration values, the rows that act, and the instruments that watch.

    `decisions` is how each tile call was dispatched, once pass `lower_tile` has run.
    """

    __slots__ = ("config", "decisions", "extensions", "instruments", "target")

    KNOWN: Mapping[str, Any] = {"narrow_indices": True, "simplify": True, "line_directives": False, "noalias": True}

    def __init__(
        self,
        target: Target,
        *,
        config: Mapping[str, Any] | None = None,
        instruments: Sequence[Instrument] = (),
        extensions: Iterable[str] = (),
    ) -> None:
        for name in config or {}:
            if name not in self.KNOWN:
                raise TirxError(
                    f"unknown configuration key `{name}`",
                    hint=did_you_mean(name, self.KNOWN) or f"the keys are {', '.join(self.KNOWN)}",
                )
        self.target = target
        self.config = {**self.KNOWN, **(config or {})}
        self.instruments = tuple(instruments)
        self.extensions = tuple(extensions)
        self.decisions: list[Decision] = []

    @property
    def registry(self) -> Registry:
        """All rows, with those of the enabled extensions."""
        return registry(self.extensions)


class Pipeline:
    """A row of hook `tirx_pipelines`: the passes of one target kind, in order, with anchors.

    `lower` ends with `split_host_device`: what it answers is what the simulator runs. `prepare` follows on the way to
    source.
    """

    __slots__ = ("kind", "lower", "prepare")

    def __init__(self, kind: str, lower: Sequence[Pass | Anchor], prepare: Sequence[Pass | Anchor] = ()) -> None:
        self.kind = kind
        self.lower = tuple(map(self._own, lower))
        self.prepare = tuple(map(self._own, prepare))
        self._check_order()

    def _own(self, step: Pass | Anchor) -> Pass | Anchor:
        return Anchor(self.kind + step.name) if isinstance(step, Anchor) and step.name.startswith(":") else step

    def _check_order(self) -> None:
        facts: set[str] = set()
        for step in (*self.lower, *self.prepare):
            if isinstance(step, Anchor):
                continue
            missing = step.requires - facts
            if missing:
                raise ValueError(f"pipeline {self.kind}: pass {step.name} requires {', '.join(sorted(missing))} first")
            facts |= step.ensures


def run_passes(steps: Iterable[Pass | Anchor], module: IRModule, context: PassContext) -> IRModule:
    """`module` after all passes; instruments see each."""
    for step in steps:
        if isinstance(step, Anchor):
            continue
        for instrument in context.instruments:
            instrument.before(step, module)
        module = step.run(module, context)
        for instrument in context.instruments:
            instrument.after(step, module)
    return module


class PassRow:
    """A row of hook `tirx_passes`: `step` runs at `anchor` (`"kind:name"`), after the passes named in `after`."""

    __slots__ = ("after", "anchor", "step")

    def __init__(self, anchor: str, step: Pass, *, after: Sequence[str] = ()) -> None:
        self.anchor = anchor
        self.step = step
        self.after = tuple(after)


def check_pipeline(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Pipeline):
        raise ValueError(f"expected a Pipeline, got {type(row).__name__}")


def check_pass(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, PassRow) or ":" not in row.anchor:
        raise ValueError("expected a PassRow whose anchor is 'kind:name'")
