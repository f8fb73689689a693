"""The road of a kernel, in reading order: function -> module -> lowered -> (simulated | source -> binary -> run)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from .backend import find, hint_for, registry
from .ir import IRModule, PrimFunc, active_builder
from .runtime import ArrayView, Bound, Executable, Explanation, bind_arguments
from .sim import Report, simulate_module
from .support.errors import ArgumentError, DispatchError, ScriptError, TargetError
from .support.late import load_object
from .support.suggest import did_you_mean
from .support.words import an
from .target import Target, as_target
from .transform.extensions import extended
from .transform.pipeline import Instrument, PassContext, Pipeline, run_passes

__all__ = ["call_function", "compile", "estimate", "explain", "lower", "pass_names", "simulate"]

Kernel = PrimFunc | IRModule


def compile(
    kernel: Kernel,
    target: Target | str | Mapping[str, Any] | None = None,
    *,
    config: Mapping[str, Any] | None = None,
    instruments: Sequence[Instrument] = (),
    extensions: Iterable[str] = (),
) -> Executable:
    """`kernel` compiled for `target` (default: the one of the surrounding `with target:`, or of the function).

    The module is verified and lowered now; source and binaries are made when the result is asked for them. `extensions` act in
    addition to those that the settings enable. Raises `VerifyError`, `DispatchError`, `TargetError` at the author's line.
    """
    module = as_module(kernel)
    context = PassContext(_target(module, target), config=config, instruments=instruments, extensions=extensions)
    return Executable(module, lower(module, context), context, entry=_entry(kernel))


def lower(module: IRModule, context: PassContext) -> IRModule:
    """`module` after the target kind's `lower` passes: what the simulator runs and source is written from."""
    return run_passes(extended(_pipeline(context.target).lower, context.registry), module, context)


def pass_names(target: Target, extensions: Iterable[str] = ()) -> tuple[str, ...]:
    """The passes that a kernel goes through on its way to the source of `target`, in order."""
    pipeline, snapshot = _pipeline(target), registry(extensions)
    return tuple(step.name for steps in (pipeline.lower, pipeline.prepare) for step in extended(steps, snapshot))


def _pipeline(target: Target) -> Pipeline:
    kind = target.kind.name
    pipeline: Pipeline | None = find("pipelines", kind)
    if pipeline is None:
        raise TargetError(f"kind `{kind}` has no pipeline", hint=hint_for("pipelines", kind))
    return pipeline


def simulate(
    kernel: Kernel,
    *args: Any,
    target: Target | str | Mapping[str, Any] | None = None,
    checks: str | Iterable[str] = "all",
    config: Mapping[str, Any] | None = None,
    extensions: Iterable[str] = (),
    **kwargs: Any,
) -> Report:
    """Run `kernel` on NumPy arrays as `target` would, writing into them, and report what it did wrong.

    `checks` is "all", "none" or names of checks; further keywords that are no arguments of the kernel go to the simulator (`budget`).
    The report's `.verdict` is `clean`, `error` or `incomplete`.
    """
    module = as_module(kernel)
    entry = _entry(kernel)
    func = module[entry or next(iter(module.functions))]
    options = {name: value for name, value in kwargs.items() if name not in func.names}
    for name in options:
        if name not in ("budget", "patience"):
            known = (*func.names, "budget", "patience")
            hint = did_you_mean(name, known) or f"it has {', '.join(known)}"
            raise ArgumentError(f"simulate() of {func.name} has no argument `{name}`", hint=hint)
    context = PassContext(
        _target(module, target), config=config, extensions=extensions
    )  # first: the target's backend knows its arrays
    given = {name: value for name, value in kwargs.items() if name not in options}
    bound = bind_arguments(func, args, given, noalias=bool(context.config["noalias"]))
    lowered = _lowered(kernel, module, context)
    return simulate_module(lowered, _host_values(bound), context.target, checks=checks, entry=func.name, **options)


def _host_values(bound: Bound) -> dict[int, Any]:
    """The values of a call as the simulator takes them: NumPy arrays and numbers."""
    if bound.device != "cpu":
        raise ArgumentError(f"the arrays are on {bound.device}; the simulator takes arrays in host memory")
    found = bound.environment()
    return {key: value.host if isinstance(value, ArrayView) else value for key, value in found.items()}


def _lowered(kernel: Kernel, module: IRModule, context: PassContext) -> IRModule:
    """Lowering is remembered with the function, so that simulating it again costs nothing."""
    if not isinstance(kernel, PrimFunc) or context.config != PassContext.KNOWN:
        return lower(module, context)
    memo = kernel._memo.setdefault("lowered", {})
    key = (context.target, context.registry)
    if key not in memo:
        memo[key] = lower(module, context)
    found: IRModule = memo[key]
    return found


def explain(
    kernel: Kernel,
    target: Target | str | Mapping[str, Any] | None = None,
    *,
    config: Mapping[str, Any] | None = None,
    extensions: Iterable[str] = (),
) -> Explanation:
    """What the compiler decides about `kernel` for `target`: `print` it, or ask `.decisions`, `.to_json()`.

    The variant of each tile call and why each other was refused, nearest miss first; the launches; where each part came from. A call
    that no variant fits is part of the answer, and its `.error`.
    """
    module = as_module(kernel)
    context = PassContext(_target(module, target), config=config, extensions=extensions)
    try:
        made = Executable(module, lower(module, context), context, entry=_entry(kernel))
    except DispatchError as error:
        return Explanation(context.target, context.decisions, error=error)
    return made.explain()


def estimate(
    kernel: Kernel,
    target: Target | str | Mapping[str, Any] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    config: Mapping[str, Any] | None = None,
) -> Any:
    """What `kernel` costs on `target` by the figures that its backend documents: `print` it, or ask `.plain()`.

    `sizes` gives symbolic dimensions. `TargetError` where the target's kind has no cost model (hook `tirx_cost_models`).
    """
    module = as_module(kernel)
    context = PassContext(_target(module, target), config=config)
    row = find("cost_models", context.target.kind.name)
    if row is None:
        raise TargetError(
            f"kind `{context.target.kind.name}` has no cost model",
            hint="its backend documents no figures; the simulator counts accesses and bytes (tirx.simulate)",
        )
    return load_object(row.estimate)(lower(module, context), context.target, dict(sizes or {}))


def as_module(kernel: Any) -> IRModule:
    """A function as a module of its own; a module as it is."""
    if isinstance(kernel, IRModule):
        return kernel
    if isinstance(kernel, PrimFunc):
        return IRModule.of(kernel)
    raise _no_kernel(kernel)


def _no_kernel(kernel: Any) -> ScriptError:
    name = getattr(kernel, "__name__", "")
    if hasattr(kernel, "specialize"):
        return ScriptError(
            f"`{name}` has compile-time parameters, and is no kernel yet",
            hint=f"specialise it first: {name}.specialize(NAME=value)",
        )
    if isinstance(kernel, FunctionType):
        return ScriptError(
            f"`{name}` is a plain function of Python, not a kernel", hint="decorate it with @Tx.prim_func"
        )
    if isinstance(kernel, str):
        hint = "import the file and give its kernel; `tirx compile FILE` compiles files"
    elif isinstance(kernel, list | tuple):
        hint = "compile one after the other, or put them into one module: IRModule({name: kernel, ...})"
    elif isinstance(kernel, ModuleType):
        hint = "give one of its kernels"
    else:
        hint = "give a function that is decorated with @Tx.prim_func"
    return ScriptError(f"{an(type(kernel).__name__)} is no kernel", hint=hint)


def _entry(kernel: Kernel) -> str | None:
    return kernel.name if isinstance(kernel, PrimFunc) else None


def _target(module: IRModule, target: Target | str | Mapping[str, Any] | None) -> Target:
    if target is None and Target.current() is None:
        own = next((func.attrs["target"] for func in module if "target" in func.attrs), None)
        return as_target(own)
    return as_target(target)


def call_function(func: PrimFunc, args: Sequence[Any]) -> Any:
    """`func(*args)`: inside a kernel a call of it, outside compile for the current target and run."""
    if active_builder() is not None:
        from .script.builder import call_prim_func  # the language is only needed while a kernel is built

        return call_prim_func(func, args)
    memo = func._memo.setdefault("compiled", {})
    target = _target(as_module(func), None)
    if target not in memo:
        memo[target] = compile(func, target)
    return memo[target](*args)
