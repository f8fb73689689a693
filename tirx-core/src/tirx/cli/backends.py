"""`tirx backends`."""

from __future__ import annotations

import click

from ..backend.report import backends_data, backends_text, probe_all
from .output import json_option, print_json

__all__ = ["command"]


@click.command("backends")
@click.option("--probe", is_flag=True, help="Import each backend in a process of its own and say what happened.")
@click.option(
    "--timeout",
    default=10.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time that a probed backend may take.",
)
@json_option
def command(probe: bool, timeout: float, as_json: bool) -> None:
    """List installed backends and their states; imports none of them (unless probed, and then elsewhere).

    \b
    tirx backends --probe
    """  # noqa: D301 - click reads the backspace
    probes = probe_all(timeout) if probe else None
    if as_json:
        print_json(backends_data(probes))
    else:
        click.echo(backends_text(probes))
