"""`tirx compile FILE[:NAME]`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from ..driver import as_module, pass_names
from ..driver import compile as compile_kernel
from ..runtime import Executable
from ..support.errors import TargetError, ToolchainError
from ..support.suggest import did_you_mean
from ..target import Target
from ..transform.instruments import PrintAfter
from .kernels import kernel_argument, limit_option, load_kernel, set_option, target_option, under_time_limit
from .output import json_option, print_json, working

__all__ = ["command"]

FORMS = ("ir", "lowered", "source", "binary", "launch")


@click.command("compile")
@kernel_argument
@target_option
@click.option(
    "--emit", "forms", multiple=True, type=click.Choice(FORMS), help="What to write (default: source; repeatable)."
)
@click.option("--print-after", "after", multiple=True, metavar="PASS", help="Print the IR after a pass (repeatable).")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Write files into this folder.")
@set_option
@limit_option
@json_option
def command(
    kernel: str,
    target: str | None,
    forms: tuple[str, ...],
    after: tuple[str, ...],
    output: Path | None,
    constants: tuple[str, ...],
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Lower a kernel, write its source, build its binary.

    \b
    tirx compile softmax.py --target TARGET
    tirx compile softmax.py:rows --emit source --emit binary -o build/
    """  # noqa: D301 - click reads the backspace
    under_time_limit(time_limit)
    chosen = load_kernel(kernel, constants)
    wanted_target = chosen.target(target)
    printers = [_printer(after, wanted_target, as_json)] if after else []
    with working("compiling"):
        executable = compile_kernel(chosen.kernel, wanted_target, instruments=printers)
        if after:
            _ = executable.prepared  # the passes of the way to source run too, whatever is emitted
        made = {form: _form(executable, form) for form in forms or _default_forms(output)}
    if output is not None:
        _write(executable, made, output)
    if as_json:
        print_json(_as_data(executable, made, output))
    elif output is None:
        _show(made)


def _default_forms(output: Path | None) -> tuple[str, ...]:
    return ("source",) if output is None else ("source", "launch")


def _printer(names: tuple[str, ...], target: Target, as_json: bool) -> PrintAfter:
    """Prints after the named passes; on standard error where standard output is for a machine."""
    passes = pass_names(target)
    for name in names:
        if name not in passes:
            nearest = did_you_mean(name, passes)
            hint = f"{nearest} " * bool(nearest) + f"the passes are {', '.join(passes)}"
            raise TargetError(f"target kind `{target.kind.name}` has no pass `{name}`", hint=hint)
    return PrintAfter(*names, write=lambda text: click.echo(text, nl=False, err=as_json))


def _form(executable: Executable, form: str) -> Any:
    match form:
        case "ir":
            return as_module(executable.module).script()
        case "lowered":
            return executable.lowered.script()
        case "source":
            return executable.source.text
        case "launch":
            return executable.launch_plan
        case _:
            return executable.binary


def _show(made: dict[str, Any]) -> None:
    for form, value in made.items():
        if form == "binary":
            _summary(value)
        else:
            click.echo(str(value).rstrip("\n"))


def _summary(binary: Any) -> None:
    click.echo(f"{binary.format}, {len(binary.data)} bytes, by {binary.toolchain}; give -o FOLDER to write it")
    for name, used in binary.resources.items():
        click.echo(
            f"  {name}: {used.registers} registers, {used.spill_bytes} bytes spilled, "
            f"{used.shared_bytes} bytes shared, {used.stack_bytes} bytes stack"
        )


def _write(executable: Executable, made: dict[str, Any], folder: Path) -> None:
    stem = re.sub(r"\W", "_", executable.functions()[0])  # whatever a kernel is called, it stays in this folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for form, value in made.items():
            path = folder / _file_name(executable, stem, form)
            if form == "binary":
                path.write_bytes(value.data)
            elif form == "launch":
                path.write_text(json.dumps(value.to_json(), indent=2) + "\n", encoding="utf-8")
            else:
                path.write_text(str(value), encoding="utf-8")
            click.echo(f"wrote {path}", err=True)
    except OSError as error:
        raise ToolchainError(
            f"cannot write to {folder}: {error.strerror}", hint="choose another folder with -o"
        ) from None


def _file_name(executable: Executable, stem: str, form: str) -> str:
    suffix = {"ir": ".ir.py", "lowered": ".lowered.py", "launch": ".launch.json"}.get(form)
    if suffix is None:
        suffix = executable.source.suffix if form == "source" else f".{executable.binary.format}"
    return stem + suffix


def _as_data(executable: Executable, made: dict[str, Any], output: Path | None) -> dict[str, Any]:
    found: dict[str, Any] = {"target": str(executable.target), "functions": list(executable.functions())}
    for form, value in made.items():
        if form == "binary":
            used = {n: {s: getattr(r, s) for s in r.__slots__} for n, r in value.resources.items()}
            found[form] = {
                "format": value.format,
                "bytes": len(value.data),
                "toolchain": value.toolchain,
                "resources": used,
            }
        else:
            found[form] = value.to_json() if form == "launch" else value
    if output is not None:
        found["output"] = str(output)
    return found
