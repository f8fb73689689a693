"""`tirx check FILE`."""

from __future__ import annotations

from typing import Any

import click

from ..driver import compile as compile_kernel
from ..ir import IRModule, PrimFunc
from ..support.errors import TirxError
from .completion import target_names
from .kernels import Chosen, chosen_kernels, kernel_argument, limit_option, some_target, under_time_limit
from .output import json_option, print_json, progress

__all__ = ["command"]


@click.command("check")
@kernel_argument
@click.option(
    "--target",
    "-t",
    "targets",
    multiple=True,
    metavar="TARGET",
    shell_complete=target_names,
    callback=some_target,
    help="Check for this target (repeatable; default: the kernel's own, or TARGET in the file, or generic).",
)
@limit_option
@json_option
def command(kernel: str, targets: tuple[str, ...], time_limit: float | None, as_json: bool) -> None:
    """Parse, verify and lower every kernel of a file, or one.

    \b
    tirx check kernels.py -t generic -t "generic -width=64"
    tirx check kernels.py:scale
    """  # noqa: D301 - click reads the backspace
    under_time_limit(time_limit)
    results = _results(kernel, targets, as_json)
    if as_json:
        print_json(results)
    else:
        for item in results:
            _show(item)
    if any(item["verdict"] == "error" for item in results):
        raise click.exceptions.Exit(1)


def _results(text: str, targets: tuple[str, ...], as_json: bool) -> list[dict[str, Any]]:
    try:
        module, found = chosen_kernels(text)
    except TirxError as error:
        if not as_json:
            raise
        return [{"kernel": None, "target": None, "verdict": "error", "message": str(error)}]
    jobs = [(name, Chosen(kernel, module), target) for name, kernel in found.items() for target in (targets or (None,))]
    return [_checked(*job) for job in progress(jobs, "checking")]


def _checked(name: str, chosen: Chosen, target: str | None) -> dict[str, Any]:
    item: dict[str, Any] = {"kernel": name, "target": target}
    if not isinstance(chosen.kernel, PrimFunc | IRModule):
        return {**item, "verdict": "skipped", "message": "has constexpr parameters; check its specialisations"}
    try:
        wanted = chosen.target(target or chosen.default_target() or "generic")
        item["target"] = str(wanted)
        compile_kernel(chosen.kernel, wanted)
    except TirxError as error:
        return {**item, "verdict": "error", "message": str(error)}
    return {**item, "verdict": "ok", "message": ""}


def _show(item: dict[str, Any]) -> None:
    colours = {"ok": "green", "error": "red", "skipped": "yellow"}
    verdict = click.style(item["verdict"], fg=colours[item["verdict"]])
    click.echo(f"{item['kernel']}  {item['target'] or ''}  {verdict}".rstrip())
    if item["message"]:
        click.echo("\n".join(f"  {line}" for line in item["message"].splitlines()))
