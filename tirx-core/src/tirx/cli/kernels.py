"""Kernel files: finding the kernels in them, and running them where they can do no harm to us."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
import traceback
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import click

from ..ir import IRModule, PrimFunc
from ..support.errors import ScriptError, TargetError, TirxError
from ..support.span import Span
from ..support.suggest import did_you_mean
from ..target import Target
from .app import COMMAND_LINE, EXIT_CODES
from .completion import files, target_names

__all__ = [
    "Chosen",
    "chosen_kernels",
    "kernel_argument",
    "kernels_of",
    "limit_option",
    "load_file",
    "load_kernel",
    "set_option",
    "some_target",
    "split_kernel",
    "target_option",
    "under_time_limit",
]

_MOST_FRAMES = 10
_CHILD = "TIRX_CHILD"  # set in the child that runs a kernel file under a time limit
# The working directory is no place to import our own dependencies from, so it goes from the child's path first.
_START = "import sys; sys.path[:] = filter(None, sys.path); from tirx.cli import main; main()"


def some_target(_context: click.Context, _option: click.Parameter, value: Any) -> Any:
    """What `--target` was given; empty text is a mistake (of a variable of the shell), not the default."""
    if any(not text.strip() for text in ((value,) if isinstance(value, str) else value or ())):
        raise click.BadParameter("the target is empty")
    return value


def _seconds(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not value < threading.TIMEOUT_MAX:
        raise click.BadParameter(f"{value:g} is no time to wait")
    return value


kernel_argument = click.argument("kernel", metavar="FILE[:NAME]", shell_complete=files)
target_option = click.option(
    "--target",
    "-t",
    metavar="TARGET",
    shell_complete=target_names,
    callback=some_target,
    help="A kind, a tag, or a kind with -attribute=value words (default: the kernel's own, or TARGET in its file).",
)
set_option = click.option(
    "--set", "constants", multiple=True, metavar="NAME=VALUE", help="Value of a constexpr parameter (repeatable)."
)
limit_option = click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    callback=_seconds,
    help="Run in a child that is ended after this time.",
)


class Chosen(NamedTuple):
    """A kernel of a file (also one still to be specialised), and the file's module."""

    kernel: Any
    module: ModuleType

    def default_target(self) -> Any:
        """What the kernel's attributes or its file name as the target, or None."""
        funcs = list(self.kernel) if isinstance(self.kernel, IRModule) else [self.kernel]
        own = next((func.attrs["target"] for func in funcs if "target" in func.attrs), None)
        return own or getattr(self.module, "TARGET", None)

    def target(self, given: Any = None) -> Target:
        """The target that is given, or the default one."""
        wanted = given or self.default_target()
        if wanted is None:
            raise TargetError(
                "no target is given", hint="add --target KIND, or TARGET = ... to the file; `tirx targets` lists them"
            )
        return wanted if isinstance(wanted, Target) else Target(wanted)


def under_time_limit(seconds: float | None) -> None:
    """With a limit, run this very command line in a child and exit with its code; 124 when it took too long."""
    if os.environ.pop(_CHILD, None) or seconds is None:
        return
    words = click.get_current_context().find_root().meta[COMMAND_LINE]
    command = [sys.executable, "-c", _START, *words]
    try:
        done = subprocess.run(command, env={**os.environ, _CHILD: "1"}, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        click.echo(
            f"error: not done after {seconds:g} s (--time-limit); the kernel file loops, or the limit is too short",
            err=True,
        )
        sys.exit(124)
    if done.returncode < 0:
        click.echo(f"error: the process that ran the kernel file was ended by signal {-done.returncode}", err=True)
        sys.exit(128 - done.returncode)
    if done.returncode not in EXIT_CODES:
        click.echo(f"error: the kernel file ended the process with status {done.returncode}", err=True)
        sys.exit(1)
    sys.exit(done.returncode)


def load_file(path: str) -> ModuleType:
    """The module of a kernel file; `ScriptError` when it is missing, not Python, or raises.

    What it prints goes to standard error, so that output for machines stays whole.
    """
    file = Path(path)
    if not path or not file.exists():
        near = Path(f"{path}.py")
        hint = f"did you mean {near}?" if path and near.exists() else "give the path of a Python file with kernels"
        raise ScriptError(f"there is no file {path or repr(path)}", hint=hint)
    if file.is_dir():
        raise ScriptError(f"{path} is a folder", hint="give the path of a Python file with kernels")
    loader = SourceFileLoader(f"tirx_kernels_{file.stem}", str(file.absolute()))
    code = _code(loader, file)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None  # a loader of a source file always has one
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module
    sys.path.insert(0, str(file.absolute().parent))
    try:
        with _users_code(file):
            exec(code, module.__dict__)  # noqa: S102 - running the user's file is what was asked for
    finally:
        sys.path.remove(str(file.absolute().parent))
    return module


def _code(loader: SourceFileLoader, file: Path) -> Any:
    """The compiled file. Nothing is written beside it: kernel files are looked at, not installed."""
    try:
        return loader.source_to_code(loader.get_data(loader.path), loader.path)
    except OSError as error:
        raise ScriptError(f"cannot read {file}: {error.strerror}") from None
    except SyntaxError as error:
        raise _not_python(error, file) from None
    except ValueError as error:  # bytes that are no text, for some versions of Python
        raise ScriptError(f"{file} is not valid Python: {error}") from None


def _not_python(error: SyntaxError, file: Path) -> ScriptError:
    where = error.filename or str(file)
    column = max((error.offset or 1) - 1, 0)
    span = Span(where, error.lineno, column, error.lineno, column + 1) if error.lineno else None
    return ScriptError(f"{Path(where).name} is not valid Python: {error.msg}", span=span)


@contextmanager
def _users_code(file: Path) -> Iterator[None]:
    """Whatever a user's file raises becomes an error that shows the frames of that file, and none of ours."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (TirxError, KeyboardInterrupt):
        raise
    except SyntaxError as error:
        raise _not_python(error, file) from None
    except BaseException as error:  # noqa: BLE001 - `sys.exit` in a kernel file is a fault of that file too
        said = getattr(error, "__notes__", [])
        raise ScriptError(f"{file.name} raised {_described(error)}", notes=[*_frames(error, file), *said]) from None


def _described(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _frames(error: BaseException, file: Path) -> list[str]:
    path = str(file.absolute())
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    shown = [f"at {frame.filename}:{frame.lineno}: {frame.line}" for frame in own]
    if len(shown) <= _MOST_FRAMES:
        return shown
    half = _MOST_FRAMES // 2
    return [*shown[:half], f"... {len(shown) - 2 * half} more ...", *shown[-half:]]


def kernels_of(module: ModuleType) -> dict[str, Any]:
    """Functions, modules of functions, and functions still to be specialised, by their (first) names in the file."""
    found: dict[int, tuple[str, Any]] = {}
    for name, value in vars(module).items():
        if _is_kernel(value) and not name.startswith("_"):
            found.setdefault(id(value), (name, value))
    return dict(found.values())


def _is_kernel(value: Any) -> bool:
    return isinstance(value, PrimFunc | IRModule) or callable(getattr(value, "specialize", None))


def split_kernel(text: str) -> tuple[str, str]:
    """The file and the kernel of `FILE[:NAME]`; a file whose own name has a colon is one as it is."""
    path, colon, name = text.rpartition(":")
    return (path, name) if colon and not text.endswith(".py") and not Path(text).exists() else (text, "")


def chosen_kernels(text: str) -> tuple[ModuleType, dict[str, Any]]:
    """The module of `FILE[:NAME]`, and all of its kernels, or the one that is named."""
    path, name = split_kernel(text)
    module = load_file(path)
    found = kernels_of(module)
    if not found:
        raise ScriptError(
            f"{path} has no kernels", hint="a kernel is a function decorated with @Tx.prim_func or @Tx.jit"
        )
    if not name:
        return module, found
    kernel = vars(module).get(name)
    if not _is_kernel(kernel):
        hint = did_you_mean(name, found) or f"it has {', '.join(found)}"
        raise ScriptError(f"{path} has no kernel `{name}`", hint=hint)
    return module, {name: kernel}


def load_kernel(text: str, constants: tuple[str, ...] = ()) -> Chosen:
    """The kernel that `FILE[:NAME]` names, specialised with `constants`."""
    path, _ = split_kernel(text)
    module, found = chosen_kernels(text)
    if len(found) > 1:
        raise ScriptError(
            f"{path} has several kernels: {', '.join(found)}", hint=f"choose one: {path}:{next(iter(found))}"
        )
    (kernel,) = found.values()
    return Chosen(_specialised(kernel, dict(_constant(item) for item in constants), Path(path)), module)


def _specialised(kernel: Any, values: dict[str, Any], file: Path) -> PrimFunc | IRModule:
    if isinstance(kernel, PrimFunc | IRModule):
        if values:
            raise ScriptError(
                f"`{next(iter(values))}` is no constexpr parameter", hint="only @Tx.jit kernels have them"
            )
        return kernel
    try:
        with _users_code(file):
            made: PrimFunc = kernel.specialize(**values)
    except ScriptError as error:
        if error.span is None or not Path(error.span.path).is_relative_to(Path(click.__file__).parent):
            raise
        # The fault is in the call, which the words of the command line made.
        raise ScriptError(error.message, hint=f"{error.hint} (--set NAME=VALUE)") from None
    return made


def _constant(item: str) -> tuple[str, Any]:
    name, equals, text = item.partition("=")
    if not (equals and name.isidentifier()):
        raise click.BadParameter(f"{item!r} is not NAME=VALUE", param_hint="--set")
    try:
        return name, literal_eval(text)
    except (ValueError, SyntaxError):
        return name, text
