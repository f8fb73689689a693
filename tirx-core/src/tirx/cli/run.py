"""`tirx run FILE[:NAME]`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ..driver import compile as compile_kernel
from ..driver import simulate
from ..ir import Buffer, IRModule, PrimFunc
from ..runtime.bind import written_buffers
from ..support.errors import ArgumentError
from .arguments import arg_option, make_arguments
from .kernels import kernel_argument, limit_option, load_kernel, set_option, target_option, under_time_limit
from .output import json_option, print_json, working

__all__ = ["command"]


@click.command("run")
@kernel_argument
@arg_option
@target_option
@click.option(
    "--on",
    "place",
    type=click.Choice(["simulator", "device"]),
    default="simulator",
    show_default=True,
    help="Where it runs.",
)
@click.option(
    "--checks", default="all", show_default=True, help="Which checks: all, none, or names separated by commas."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of random arrays.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the arrays that were written here, as .npy.",
)
@set_option
@limit_option
@json_option
def command(
    kernel: str,
    specs: tuple[str, ...],
    target: str | None,
    place: str,
    checks: str,
    seed: int,
    output: Path | None,
    constants: tuple[str, ...],
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Run a kernel on arrays, simulated or on the device.

    \b
    tirx run scale.py --arg x=in.npy --arg y=empty --arg a=2.5
    tirx run matmul.py --arg random:512x512 --arg random:512x512 --arg zeros -t generic
    """  # noqa: D301 - click reads the backspace
    under_time_limit(time_limit)
    chosen = load_kernel(kernel, constants)
    func, wanted_target = _single(chosen.kernel), chosen.target(target)
    values = make_arguments(func, specs, seed)
    if place == "device":
        compile_kernel(func, wanted_target)(*values)
        report = None
    else:
        wanted = checks if checks in ("all", "none") else checks.split(",")
        with working("simulating"):
            report = simulate(func, *values, target=wanted_target, checks=wanted)
    results = _written(func, values)
    if output is not None:
        _save(results, output)
    if as_json:
        print_json(
            {"report": report.to_json() if report else None, "written": {n: _figures(a) for n, a in results.items()}}
        )
    else:
        _show(report, results)
    if report is not None and report.verdict == "error":
        raise click.exceptions.Exit(1)


def _single(kernel: PrimFunc | IRModule) -> PrimFunc:
    if isinstance(kernel, PrimFunc):
        return kernel
    if len(kernel) != 1:
        raise ArgumentError(
            f"the module has several functions: {', '.join(kernel.functions)}", hint="name one in a file of its own"
        )
    return next(iter(kernel))


def _written(func: PrimFunc, values: list[Any]) -> dict[str, Any]:
    written = written_buffers(func)
    params = zip(func.params, func.names, values, strict=True)
    return {name: value for param, name, value in params if isinstance(param, Buffer) and id(param.data) in written}


def _save(results: dict[str, Any], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in results.items():
            np.save(folder / f"{name}.npy", array)
    except OSError as error:
        raise ArgumentError(
            f"cannot write to {folder}: {error.strerror}", hint="choose another folder with -o"
        ) from None


def _figures(array: Any) -> dict[str, Any]:
    plain = array.astype(np.float64)
    return {
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "mean": float(plain.mean()),
        "min": float(plain.min()),
        "max": float(plain.max()),
    }


def _show(report: Any, results: dict[str, Any]) -> None:
    if report is not None:
        click.echo(str(report))
    for name, array in results.items():
        found = _figures(array)
        click.echo(
            f"{name}: {found['dtype']} {tuple(found['shape'])}, mean {found['mean']:g}, from {found['min']:g} to {found['max']:g}"
        )
