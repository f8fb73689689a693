"""`tirx explain FILE`."""

from __future__ import annotations

from typing import Any

import click

from ..driver import estimate, explain
from ..ir import IRModule, PrimFunc
from ..support.errors import ScriptError
from .kernels import (
    Chosen,
    chosen_kernels,
    kernel_argument,
    limit_option,
    load_kernel,
    set_option,
    split_kernel,
    target_option,
    under_time_limit,
)
from .output import json_option, print_json

__all__ = ["command"]


@click.command("explain")
@kernel_argument
@target_option
@click.option("--function", "-f", metavar="NAME", help="Only this kernel of the file (default: all of them).")
@set_option
@click.option("--cost", is_flag=True, help="What each kernel costs by its target's documented figures, instead.")
@click.option(
    "--size", "sizes", metavar="NAME=N", multiple=True, help="With --cost: a symbolic dimension (repeatable)."
)
@limit_option
@json_option
def command(
    kernel: str,
    target: str | None,
    function: str | None,
    constants: tuple[str, ...],
    cost: bool,
    sizes: tuple[str, ...],
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Say which variant each tile operation gets, and why no other: nearest miss first.

    \b
    tirx explain gemm.py --target TARGET
    tirx explain gemm.py:main
    tirx explain gemm.py -f main --set tile=64 --json
    tirx explain gemm.py --cost --size n=4096
    """  # noqa: D301 - click reads the backspace
    given = dict(map(_size, sizes))
    if given and not cost:
        raise click.UsageError("--size goes with --cost")
    under_time_limit(time_limit)
    if cost:
        _show_costs(_chosen(kernel, function, constants), target, given, as_json)
        return
    found = [
        (name, explain(chosen.kernel, chosen.target(target or chosen.default_target() or "generic")))
        for name, chosen in _chosen(kernel, function, constants)
    ]
    if as_json:
        print_json([{"kernel": name, **item.to_json()} for name, item in found])
    else:
        for name, item in found:
            _show(name, str(item.target), str(item), item.error)
    if any(item.error is not None for _, item in found):
        raise click.exceptions.Exit(1)


def _size(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not name.isidentifier() or not value.isdigit():
        raise click.BadParameter(f"{text!r} is not NAME=N", param_hint="--size")
    return name, int(value)


def _show_costs(kernels: list[tuple[str, Chosen]], target: str | None, sizes: dict[str, int], as_json: bool) -> None:
    found = [
        (name, estimate(chosen.kernel, chosen.target(target or chosen.default_target() or "generic"), sizes=sizes))
        for name, chosen in kernels
    ]
    if as_json:
        print_json([{"kernel": name, **item.plain()} for name, item in found])
    else:
        click.echo("\n\n".join(str(item) for _, item in found))


def _chosen(text: str, function: str | None, constants: tuple[str, ...]) -> list[tuple[str, Chosen]]:
    file, named = split_kernel(text)
    if named and function:
        raise click.UsageError(f"the kernel is named twice: `{named}` and -f {function}")
    name = function or named
    if name or constants:
        chosen = load_kernel(f"{file}:{name}" if name else file, constants)
        return [(name or str(getattr(chosen.kernel, "name", file)), chosen)]
    module, kernels = chosen_kernels(file)
    ready = [(name, Chosen(item, module)) for name, item in kernels.items() if isinstance(item, PrimFunc | IRModule)]
    if kernels and not ready:
        raise ScriptError(
            f"the kernels of {file} have constexpr parameters", hint="give their values: --set NAME=VALUE (repeatable)"
        )
    return ready


def _show(name: str, target: str, text: str, error: Any) -> None:
    click.echo(f"{name}  {target}" + (f"  {click.style('error', fg='red')}" if error is not None else ""))
    click.echo("\n".join(f"  {line}" for line in (text or str(error)).splitlines()))
