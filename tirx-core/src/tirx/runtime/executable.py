"""Executable: what `tirx.compile` answers. Source, binaries and device are made when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ..backend import find
from ..codegen.row import Source
from ..ir import Call, IRModule, PrimFunc, walk
from ..support.elsewhere import advice
from ..support.errors import ArgumentError, TargetError
from ..support.late import load_object
from ..support.suggest import did_you_mean
from ..target import Target
from ..tile.dispatch import Decision
from ..transform.extensions import extended
from ..transform.pipeline import PassContext, Pipeline, run_passes
from .explanation import Explanation
from .launch_plan import LaunchPlan, plan_of
from .launcher import Launcher
from .row import Binary, Resources
from .toolchains import build

__all__ = ["Executable"]


class Executable:
    """A compiled module for one target.

    * `source`: target source, with `.text`; `binaries`: compiled forms by format; `resources`: figures per kernel
    * `launch_plan`: what a call will launch; `lowered`: the IR that the simulator runs
    * `decisions`, `explain()`: which variant each tile call got, and why
    * `provenance`: every distribution whose rows were used, with its version
    * calling it checks the arguments and runs on the device; `executable["name"]` is one function of several
    """

    def __init__(
        self,
        module: IRModule,
        lowered: IRModule,
        context: PassContext,
        *,
        entry: str | None = None,
    ) -> None:
        self.module = module
        self.lowered = lowered
        self.context = context
        self.entry = entry

    def __getattr__(self, name: str) -> Any:
        """Names that other compilers give to what is here."""
        if hasattr(type(self), name):  # it is here, and a fault of a code generator looked like its absence
            return object.__getattribute__(self, name)
        found = None if name.startswith("_") else advice("executable", name)
        raise AttributeError(f"an Executable has no `{name}`{'; ' + found if found else ''}", name=name, obj=self)

    @property
    def target(self) -> Target:
        """What it was compiled for."""
        return self.context.target

    @cached_property
    def prepared(self) -> IRModule:
        """The IR that the source is written from."""
        snapshot = self.context.registry
        pipeline: Pipeline = snapshot.rows("pipelines")[self.target.kind.name]
        return run_passes(extended(pipeline.prepare, snapshot), self.lowered, self.context)

    @cached_property
    def source(self) -> Source:
        """Target source. `TargetError` for a kind that only simulates."""
        row = find("codegens", self.target.kind.name)
        if row is None:
            raise TargetError(
                f"kind `{self.target.kind.name}` has no source: it is simulated only",
                hint="choose a target of an installed backend; `tirx targets` lists them",
            )
        made: Source = load_object(row.generate)(self.prepared, self.target, self.context.config)
        return made

    @cached_property
    def binary(self) -> Binary:
        """The binary of the best installed toolchain; `ToolchainError` when there is none."""
        acting = self.context.registry.enabled
        return build(self.source, self.target, used=self.provenance, extensions=acting)

    @property
    def binaries(self) -> Mapping[str, bytes]:
        """Bytes by format."""
        return {self.binary.format: self.binary.data}

    @property
    def resources(self) -> Mapping[str, Resources]:
        """What each kernel uses."""
        return self.binary.resources

    @property
    def launch_plan(self) -> LaunchPlan:
        """The launches of the entry function."""
        return plan_of(self.host())

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """How each tile call was dispatched, in the order of the program."""
        return tuple(self.context.decisions)

    def explain(self) -> Explanation:
        """What the compiler decided: the variant of each tile call and why no other, the launches, whose parts were used."""
        return Explanation(self.target, self.decisions, self)

    @property
    def provenance(self) -> tuple[tuple[str, str], ...]:
        """Distributions used, with versions, sorted."""
        snapshot, kind = self.context.registry, self.target.kind.name
        owners = {
            snapshot.owner("target_kinds", name) for name in ("generic", kind)
        }  # core is always used: `generic` is its
        owners |= {owner for row, owner in snapshot.entries("passes") if row.anchor.partition(":")[0] == kind}
        for name in ("pipelines", "codegens", "simulators"):
            if kind in snapshot.rows(name):
                owners.add(snapshot.owner(name, kind))
        owners |= {item.chosen.owner for item in self.decisions if item.chosen is not None}
        for op in _called(self.lowered):
            if op in snapshot.rows("intrinsics"):
                owners.add(snapshot.owner("intrinsics", op))
        return tuple(sorted({(owner.distribution, owner.version) for owner in owners}))

    def functions(self) -> tuple[str, ...]:
        """Names that can be called."""
        return tuple(func.name for func in self.lowered if func.attrs.get("role") == "host")

    def host(self, name: str | None = None) -> PrimFunc:
        """The host function of that name (default: the entry)."""
        names = self.functions()
        wanted = name or self.entry or (names[0] if len(names) == 1 else None)
        if wanted is None:
            raise ArgumentError(
                f"the module has several functions: {', '.join(names)}", hint='choose one: executable["name"]'
            )
        if wanted not in names:
            raise ArgumentError(
                f"the module has no function `{wanted}`",
                hint=did_you_mean(wanted, names) or f"it has {', '.join(names)}",
            )
        return self.prepared[wanted]

    def __getitem__(self, name: str) -> Executable:
        entry = self.host(name).name
        made = Executable(self.module, self.lowered, self.context, entry=entry)
        made.__dict__.update({k: v for k, v in self.__dict__.items() if k in ("prepared", "source", "binary")})
        return made

    @cached_property
    def _launcher(self) -> Launcher:
        return Launcher(self.host(), self)

    def __call__(self, *args: Any, stream: Any = None, **kwargs: Any) -> None:
        """Check the arguments and run on the device they are on (host arrays: copied to the first device and back)."""
        self._launcher(args, kwargs, stream)

    def __repr__(self) -> str:
        return f"<Executable {', '.join(self.functions())} for {self.target}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the author's text beside the target's, and the launches."""
        from ..support.html import beside, block_of, heading  # only in notebooks

        authors = "\n\n".join(filter(None, (block_of(func.span) for func in self.module)))
        if find("codegens", self.target.kind.name) is None:
            written = ("lowered", self.lowered.script())
        else:
            written = (self.source.language, self.source.text)
        plans = "".join(plan_of(self.host(name))._repr_html_() for name in self.functions())
        return f"<div>{heading(f'for {self.target}')}{beside([('source', authors), written])}{plans}</div>"


def _called(module: IRModule) -> set[str]:
    return {node.op.name for func in module for node in walk(func.body, Call.BIT) if isinstance(node, Call)}
