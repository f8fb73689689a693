"""`tirx backends [list|lock|verify]`."""

from __future__ import annotations

import click

from ..backend import default_host
from ..backend.lock import DEFAULT_FILE, make_lock, verify_lock, write_lock
from ..backend.report import backends_data, backends_text, probe_all
from .completion import files
from .output import json_option, print_json

__all__ = ["command"]


@click.command("backends")
@click.argument("action", type=click.Choice(["list", "lock", "verify"]), default="list")
@click.argument("file", default=DEFAULT_FILE, shell_complete=files)
@click.option("--probe", is_flag=True, help="Import each backend in a process of its own and say what happened.")
@click.option(
    "--timeout",
    default=10.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time that a probed backend may take.",
)
@click.option("--no-editables", is_flag=True, help="Refuse to lock distributions that are installed in editable mode.")
@json_option
def command(action: str, file: str, probe: bool, timeout: float, no_editables: bool, as_json: bool) -> None:
    """List installed backends and their states; imports none of them (unless probed, and then elsewhere).

    `lock` writes what is installed into FILE (tirx-backends.lock): distributions, versions, digests of their files. `verify` says
    what differs from it. While TIRX_BACKENDS_LOCK names such a file, nothing is imported that differs.

    \b
    tirx backends --probe
    tirx backends lock deployed.lock
    tirx backends verify deployed.lock
    """  # noqa: D301 - click reads the backspace
    if action == "lock":
        _lock(file, not no_editables, as_json)
    elif action == "verify":
        _verify(file, as_json)
    else:
        probes = probe_all(timeout) if probe else None
        print_json(backends_data(probes)) if as_json else click.echo(backends_text(probes))


def _lock(file: str, editables: bool, as_json: bool) -> None:
    lock = make_lock(default_host(), editables=editables)
    write_lock(lock, file)
    if as_json:
        print_json({"file": file, **lock})
        return
    for item in lock["distributions"]:
        mode = ", editable: its tree as it is now" if item["editable"] else ""
        click.echo(f"{item['distribution']} {item['version']} ({', '.join(item['backends'])}){mode}")
    click.echo(f"locked in {file}")


def _verify(file: str, as_json: bool) -> None:
    problems = verify_lock(default_host(), file)
    if as_json:
        print_json({"file": file, "verdict": "error" if problems else "ok", "problems": problems})
    elif not problems:
        click.echo(f"all is as {file} has it")
    for item in () if as_json else problems:
        click.echo(f"{item['distribution']}: {item['problem']}")
    if problems:
        raise click.exceptions.Exit(1)
