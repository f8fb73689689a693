"""`tirx conform NAME`."""

from __future__ import annotations

from importlib.util import find_spec

import click

from ..support.errors import BackendError
from .output import json_option, print_json

__all__ = ["command"]


@click.command("conform")
@click.argument("name", required=False, default="")
@click.option(
    "--samples",
    "samples",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A Python file with a kernel of the backend's own: KERNEL, arguments(rng), expected(*arrays), and gaps that are known: "
    "GAPS (repeatable).",
)
@click.option(
    "--only", multiple=True, metavar="CHECK", help="Only this check, or this topic (repeatable): load, codegen.names."
)
@click.option("--list", "listed", is_flag=True, help="List the checks and what each proves.")
@json_option
def command(name: str, samples: tuple[str, ...], only: tuple[str, ...], listed: bool, as_json: bool) -> None:
    """Check that an installed backend keeps what core and other backends count on.

    Manifest, imports, rows, targets, passes, source, dispatch, and kernels that are simulated and, where there is a device, run.
    What a target kind declares must work, what it does not declare must be refused. Exit code 1 where a check fails.

    \b
    tirx conform acme
    tirx conform acme --samples kernels.py --only dispatch --json
    """  # noqa: D301 - click reads the backspace
    from ..testing.conformance import ALL  # needs NumPy and half of core, which `--help` does not

    if listed:
        _list([(check.name, check.proves) for check in ALL], as_json)
        return
    if not name:
        raise click.UsageError("name a backend; `tirx backends` lists those that are installed")
    _check_names(only, [check.name for check in ALL])
    if find_spec("pytest") is None:
        raise BackendError(
            "`tirx conform` runs on pytest, which is not installed", hint='pip install "tirx-core[testing]"'
        )
    from ..testing.conformance.session import conform  # needs pytest

    report = conform(name, samples, only)
    if as_json:
        print_json(report.as_dict())
    else:
        click.echo(str(report))
    if not report.ok:
        raise click.exceptions.Exit(1)


def _check_names(only: tuple[str, ...], known: list[str]) -> None:
    topics = {name.partition(".")[0] for name in known}
    for name in only:
        if name not in known and name not in topics:
            raise click.UsageError(f"there is no check or topic {name!r}; `tirx conform --list` lists them")


def _list(checks: list[tuple[str, str]], as_json: bool) -> None:
    if as_json:
        print_json([{"name": name, "proves": proves} for name, proves in checks])
    else:
        from ..support.table import table  # only here

        click.echo(table(["check", "holds when"], checks))
