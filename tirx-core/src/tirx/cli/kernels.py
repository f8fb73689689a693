"""Kernel files: finding the kernels in them, and running them where they can do no harm to us."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from ..ir import IRModule, PrimFunc
from ..support.errors import ScriptError, TirxError
from ..support.span import Span
from ..support.suggest import did_you_mean

__all__ = ["kernel_argument", "kernels_of", "load_file", "load_kernel", "limit_option", "set_option", "under_time_limit"]

_CHILD = "TIRX_CHILD"  # set in the child that runs a kernel file under a time limit

kernel_argument = click.argument("kernel", metavar="FILE[:NAME]")
set_option = click.option(
    "--set", "constants", multiple=True, metavar="NAME=VALUE", help="Value of a constexpr parameter (repeatable)."
)
limit_option = click.option(
    "--time-limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Run in a child that is ended after this time."
)


def under_time_limit(seconds: float | None) -> None:
    """With a limit, run this very command line in a child and exit with its code; 124 when it took too long."""
    if seconds is None or os.environ.get(_CHILD):
        return
    command = [sys.executable, "-m", "tirx.cli", *sys.argv[1:]]
    try:
        done = subprocess.run(command, env={**os.environ, _CHILD: "1"}, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        click.echo(f"error: not done after {seconds:g} s (--time-limit); the kernel file loops, or the limit is too short", err=True)
        sys.exit(124)
    sys.exit(done.returncode)


def load_file(path: str) -> ModuleType:
    """The module of a kernel file; `ScriptError` when it is missing, not Python, or raises."""
    file = Path(path)
    if not file.is_file():
        raise ScriptError(f"there is no file {path}", hint="give the path of a Python file with kernels")
    spec = importlib.util.spec_from_file_location(f"tirx_kernels_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ScriptError(f"{path} is not a Python file", hint="kernel files end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(file.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except TirxError:
        raise
    except SyntaxError as error:
        column = max((error.offset or 1) - 1, 0)
        span = Span(error.filename or path, error.lineno or 1, column, error.lineno, column + 1)
        raise ScriptError(f"{file.name} is not valid Python: {error.msg}", span=span) from None
    except (UnicodeDecodeError, ValueError) as error:
        raise ScriptError(f"{path} is not a Python file: {error}") from None
    except Exception as error:  # noqa: BLE001 - whatever a user's file raises is reported with its own frames
        raise ScriptError(f"{file.name} raised {type(error).__name__}: {error}", notes=_frames(error, file)) from None
    finally:
        sys.path.remove(str(file.resolve().parent))
    return module


def _frames(error: BaseException, file: Path) -> list[str]:
    own = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == file or f.filename == str(file.resolve())]
    return [f"at {frame.filename}:{frame.lineno}: {frame.line}" for frame in own]


def kernels_of(module: ModuleType) -> dict[str, Any]:
    """Functions, modules of functions, and functions still to be specialised, by their names in the file."""
    return {name: value for name, value in vars(module).items() if _is_kernel(value) and not name.startswith("_")}


def _is_kernel(value: Any) -> bool:
    return isinstance(value, PrimFunc | IRModule) or callable(getattr(value, "specialize", None))


def load_kernel(text: str, constants: tuple[str, ...] = ()) -> tuple[ModuleType, PrimFunc | IRModule]:
    """The kernel that `FILE[:NAME]` names, specialised with `constants`."""
    path, _, name = text.rpartition(":") if ":" in text and not text.endswith(".py") else (text, "", "")
    module = load_file(path)
    found = kernels_of(module)
    if not found:
        raise ScriptError(f"{path} has no kernels", hint="a kernel is a function decorated with @Tx.prim_func or @Tx.jit")
    if not name and len(found) > 1:
        raise ScriptError(f"{path} has several kernels: {', '.join(found)}", hint=f"choose one: {path}:{next(iter(found))}")
    name = name or next(iter(found))
    if name not in found:
        raise ScriptError(f"{path} has no kernel `{name}`", hint=did_you_mean(name, found) or f"it has {', '.join(found)}")
    return module, _specialised(found[name], constants)


def _specialised(kernel: Any, constants: tuple[str, ...]) -> PrimFunc | IRModule:
    values = dict(_constant(item) for item in constants)
    if isinstance(kernel, PrimFunc | IRModule):
        if values:
            raise ScriptError(f"{next(iter(values))} is no constexpr parameter", hint="only @Tx.jit kernels have them")
        return kernel
    made: PrimFunc = kernel.specialize(**values)
    return made


def _constant(item: str) -> tuple[str, Any]:
    from ast import literal_eval

    name, equals, text = item.partition("=")
    if not equals:
        raise click.BadParameter(f"{item!r} is not NAME=VALUE", param_hint="--set")
    try:
        return name, literal_eval(text)
    except (ValueError, SyntaxError):
        return name, text
