"""`tirx check FILE`."""

from __future__ import annotations

from typing import Any

import click

from ..driver import compile as compile_kernel
from ..ir import IRModule, PrimFunc
from ..support.errors import TirxError
from ..target import Target
from .kernels import kernels_of, limit_option, load_file, under_time_limit
from .output import json_option, print_json, progress

__all__ = ["command"]


@click.command("check")
@click.argument("file", metavar="FILE")
@click.option("--target", "-t", "targets", multiple=True, help="Check for this target (repeatable; default: the kernel's own, else generic).")
@limit_option
@json_option
def command(file: str, targets: tuple[str, ...], time_limit: float | None, as_json: bool) -> None:
    """Parse, verify and lower every kernel of a file.

    \b
    tirx check kernels.py -t cuda -t "generic -width=64"
    """
    under_time_limit(time_limit)
    found = kernels_of(load_file(file))
    if not found:
        raise click.ClickException(f"{file} has no kernels")
    jobs = [(name, kernel, target) for name, kernel in found.items() for target in (targets or (None,))]
    results = [_checked(name, kernel, target) for name, kernel, target in progress(jobs, "checking")]
    if as_json:
        print_json(results)
    else:
        for item in results:
            _show(item)
    if any(item["verdict"] == "error" for item in results):
        raise click.exceptions.Exit(1)


def _checked(name: str, kernel: Any, target: str | None) -> dict[str, Any]:
    item: dict[str, Any] = {"kernel": name, "target": target}
    if not isinstance(kernel, PrimFunc | IRModule):
        return {**item, "verdict": "skipped", "message": "has constexpr parameters; check its specialisations"}
    try:
        chosen = target or _own(kernel) or "generic"
        item["target"] = str(Target(chosen)) if isinstance(chosen, str) else str(chosen)
        compile_kernel(kernel, chosen)
    except TirxError as error:
        return {**item, "verdict": "error", "message": str(error)}
    return {**item, "verdict": "ok", "message": ""}


def _own(kernel: PrimFunc | IRModule) -> Any:
    funcs = [kernel] if isinstance(kernel, PrimFunc) else list(kernel)
    return next((func.attrs["target"] for func in funcs if "target" in func.attrs), None)


def _show(item: dict[str, Any]) -> None:
    colours = {"ok": "green", "error": "red", "skipped": "yellow"}
    verdict = click.style(item["verdict"], fg=colours[item["verdict"]])
    click.echo(f"{item['kernel']}  {item['target'] or ''}  {verdict}".rstrip())
    if item["message"]:
        click.echo("\n".join(f"  {line}" for line in item["message"].splitlines()))
