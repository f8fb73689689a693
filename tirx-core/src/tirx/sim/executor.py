"""Runs a lowered module: the host function statement by statement, its kernels chunk by chunk.

report = simulate_module(module, {id(var): value, ...}, target, checks="all")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..backend import find
from ..ir import Buffer, IRModule, Launch, PrimFunc, Var, variable_of
from ..support.errors import SimulationError
from ..support.late import load_object
from ..support.suggest import did_you_mean
from ..target import Target
from .checks import ALL_CHECKS, Checker
from .context import Context
from .findings import Findings
from .geometry import Geometry, Widths
from .guards import unguarded
from .inline import inlined
from .interp import Interpreter
from .launch import bytes_per_cta, prepare
from .memory import GlobalMemory, byte_view
from .meter import Meter
from .order import Order
from .pool import storage_dtype
from .regions import Storage
from .report import Report
from .schedule import Scheduler
from .sequential import SequentialContext
from .tracking import granules_of, needs_fine_order, tracked_arenas
from .translate import Translation, translate
from .watch import Paths, Proxy

__all__ = ["check_names", "simulate_module"]

DEFAULT_BUDGET = 1 << 30
DEFAULT_PATIENCE = 1_000_000
MAX_CHUNK_THREADS = 1 << 16  # arrays over more threads leave the processor's caches


def check_names(checks: str | Iterable[str]) -> frozenset[str]:
    """The set of checks that `"all"`, `"none"` or names mean; `SimulationError` for unknown ones."""
    if checks == "all":
        return frozenset(ALL_CHECKS)
    if checks == "none":
        return frozenset()
    if not isinstance(checks, Iterable):
        raise SimulationError(
            f"checks are names, not {checks!r}", hint=f'they are {", ".join(ALL_CHECKS)}; or "all", "none"'
        )
    names = frozenset([checks] if isinstance(checks, str) else checks)
    for name in sorted(names - set(ALL_CHECKS)):
        hint = did_you_mean(name, ALL_CHECKS) or f'they are {", ".join(ALL_CHECKS)}; or "all", "none"'
        raise SimulationError(f"there is no check `{name}`", hint=hint)
    return names


def simulate_module(
    module: IRModule,
    args: Mapping[int, Any] | Sequence[Any],
    target: Target,
    *,
    checks: str | Iterable[str] = "all",
    entry: str | None = None,
    budget: int = DEFAULT_BUDGET,
    patience: int = DEFAULT_PATIENCE,
) -> Report:
    """Run host function `entry` (default: the first) of a lowered module on `target`, writing into its array arguments.

    `args` are values by the id of the host function's variables, or a sequence in the order of its parameters: NumPy arrays,
    numbers. `budget` is the memory in bytes that ctas running at the same time may use; a loop that has turned `patience` times
    is taken to be endless.
    """
    host = _host(module, entry)
    names = check_names(checks)
    report = Report(host.name, names)
    with np.errstate(all="ignore"):
        _Run(module, target, report, names, budget, patience).host(host, args)
    return report


def _host(module: IRModule, entry: str | None) -> PrimFunc:
    if entry is not None:
        if entry not in module.functions:
            raise SimulationError(f"the module has no function `{entry}`", hint=did_you_mean(entry, module.functions))
        return module[entry]
    found = next((func for func in module if func.attrs.get("role", "host") == "host"), None)
    if found is None:
        raise SimulationError("the module has no host function to run")
    return found


class _Run:
    """One simulation."""

    def __init__(
        self, module: IRModule, target: Target, report: Report, checks: frozenset[str], budget: int, patience: int
    ) -> None:
        self.module = module
        self.target = target
        self.report = report
        self.checks = checks
        self.budget = budget
        self.patience = patience
        self.memory = GlobalMemory()
        self.findings = Findings(report)
        self.meter = Meter() if "metrics" in checks else None
        self.row = find("simulators", target.kind.name)
        self.attributes = dict(target.attrs)
        if self.row is None:
            raise SimulationError(f"kind `{target.kind.name}` says nothing about how it is simulated")
        if self.row.prepare is not None:
            load_object(self.row.prepare)(self)

    def host(self, func: PrimFunc, args: Mapping[int, Any] | Sequence[Any]) -> None:
        """Run the host function."""
        started = perf_counter()
        context = SequentialContext(self.report, self.findings, self.checks, self.attributes)
        interpreter = Interpreter(context, self.launch)
        _bind(interpreter, func, args, self.memory)
        interpreter.run(func.body)
        metrics = self.report.metrics
        metrics["seconds"] = perf_counter() - started
        if self.meter is not None:
            self.report.lines += self.meter.lines.values()
        for name in ("requests", "bytes", "sectors", "passes") if self.report.lines else ():
            metrics[name] = sum(getattr(line, name) for line in self.report.lines)

    def launch(self, stmt: Launch, args: list[Any], extents: list[int], resources: dict[str, Any]) -> None:
        """Run a device function."""
        func = self.module.functions.get(stmt.kernel)
        if func is None:
            raise SimulationError(f"the module has no kernel `{stmt.kernel}`", span=stmt.span)
        func = unguarded(inlined(func, self.module))
        if self.row.model == "sequential":
            self._sequential(func, args)
            return
        sizes = dict(zip(stmt.axes, extents, strict=True))
        translation = translate(func, sizes, self.checks, int(resources.get("dynamic_shared_bytes", 0)))
        record = func.attrs.get("launch")
        levels = getattr(record, "levels", None) or {}
        widths = Widths(self.target.scope_model(func.attrs), sizes, levels)
        self._chunks(
            translation, widths, [_number(self, arg, param) for arg, param in zip(args, func.params, strict=True)]
        )

    def _sequential(self, func: PrimFunc, args: list[Any]) -> None:
        interpreter = Interpreter(SequentialContext(self.report, self.findings, self.checks, self.attributes), None)
        for param, value in zip(func.params, args, strict=True):
            data = variable_of(param)
            if isinstance(value, Storage):
                interpreter.storages[id(data)] = value
            else:
                interpreter.values[id(data)] = value
        interpreter.run(func.body)

    # ---- threads ----------------------------------------------------------------------------------------------------

    def _chunks(self, translation: Translation, widths: Widths, values: list[Any]) -> None:
        per_chunk = max(
            1, min(self.budget // bytes_per_cta(translation, widths.threads), MAX_CHUNK_THREADS // widths.threads)
        )
        per_chunk = max(widths.cluster, per_chunk // widths.cluster * widths.cluster)
        if translation.facts.together and per_chunk < widths.ctas:
            per_chunk = (
                widths.ctas if widths.ctas * bytes_per_cta(translation, widths.threads) <= self.budget else per_chunk
            )
        for arena in self.memory.arenas:
            arena.shadow = None  # launches follow one another
        caches = translation.pool.facts.func._memo.setdefault("geometry", {})
        for first in range(0, widths.ctas, per_chunk):
            count = min(per_chunk, widths.ctas - first)
            key = (tuple(sorted(translation.facts.extents.items())), first, count, widths.threads_in("warp"))
            if key not in caches:
                caches[key] = Geometry(widths, first, count), {}
            geometry, cached = caches[key]
            self._chunk(translation, geometry, cached, values, alone=count == widths.ctas)
        metrics = self.report.metrics
        metrics["launches"] = metrics.get("launches", 0) + 1
        metrics["threads"] = metrics.get("threads", 0) + widths.threads * widths.ctas

    def _chunk(
        self, translation: Translation, geometry: Geometry, cached: dict[str, Any], values: list[Any], alone: bool
    ) -> None:
        checked = bool(self.checks & {"bounds", "uninitialised", "races", "alignment", "metrics"})
        chunk = prepare(translation, geometry, values, self.memory, cached, checked=checked, patience=self.patience)
        order = Order(geometry, needs_fine_order(translation))
        arenas = [*self.memory.arenas, *chunk.arenas.values()]
        tracked = tracked_arenas(translation, values, self.memory)
        checker = Checker(
            geometry,
            order,
            self.checks,
            self.findings,
            self.meter,
            tracked,
            granules_of(translation, values, arenas, self.memory),
            translation.pool.sites,
        )
        checker.pending, checker.places = chunk.pending, translation.places
        if translation.facts.apart and "races" in self.checks:
            checker.paths = Paths(geometry, order)
            for arena in chunk.arenas.values():
                arena.proxy = Proxy(len(arena.data)) if arena.kind == "shared" else None
        context = Context(chunk, self.memory, checker, self.attributes)
        scheduler = Scheduler(translation, chunk, context, checker, alone)
        context.scheduler = scheduler
        try:
            scheduler.run()
        except IndexError as error:
            raise SimulationError(
                f"an access outside its memory: {error}",
                hint='run with checks="all", which names the line and the threads',
            ) from error
        context.end()
        checker.finish()
        self.report.metrics["blocks"] = self.report.metrics.get("blocks", 0) + scheduler.blocks_run


def _number(run: _Run, value: Any, param: Any) -> Any:
    """An argument as generated code takes it."""
    if isinstance(value, Storage):
        if value.address is None:
            value.address = run.memory.add(value.name, value.data)
        return value.address
    dtype = param.dtype
    if dtype.by_value:
        return _record(run, value, param)
    if dtype.is_float:
        return storage_dtype(dtype).type(value)
    return value


def _record(run: _Run, value: Any, param: Any) -> int:
    """The address of a record that the host encodes; the launch has a copy of its own."""
    row = find("argument_kinds", str(param.dtype.pointee))
    if row is None:
        raise SimulationError(f"no installed backend encodes `{param.name}`, a {param.dtype.pointee}")
    data = load_object(row.simulate)(value, lambda array: run.memory.add(param.name, array))
    arena = run.memory.allocate(param.name, len(data))
    arena.data[:] = np.frombuffer(data, np.uint8)
    return arena.base


def _bind(
    interpreter: Interpreter, func: PrimFunc, args: Mapping[int, Any] | Sequence[Any], memory: GlobalMemory
) -> None:
    """Values of the host function's variables."""
    if not isinstance(args, Mapping):
        args = _by_position(func, args)
    names = {id(variable_of(p)): p.name for p in func.params}
    for key, value in args.items():
        array = value if isinstance(value, np.ndarray) else getattr(value, "host", None)
        if array is not None:
            name = names.get(key, "argument")
            flat = byte_view(array).view(array.dtype)
            interpreter.storages[key] = Storage(
                name, "global", flat, initialised=True, address=memory.add(name, array), array=array
            )
        elif hasattr(value, "pointer"):
            raise SimulationError(f"the simulator runs on host arrays; `{names.get(key)}` is on {value.device}")
        else:
            interpreter.values[key] = value


def _by_position(func: PrimFunc, args: Sequence[Any]) -> dict[int, Any]:
    if len(args) != len(func.params):
        raise SimulationError(f"{func.name} takes {len(func.params)} arguments, and is given {len(args)}")
    found: dict[int, Any] = {}
    for param, value in zip(func.params, args, strict=True):
        found[id(variable_of(param))] = value
        if isinstance(param, Buffer):
            for extent, size in zip(param.shape, np.shape(value), strict=True):
                if isinstance(extent, Var):
                    found.setdefault(id(extent), int(size))
    return found
