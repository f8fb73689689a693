"""`tirx why NAME`."""

from __future__ import annotations

import click

from ..backend.report import why, why_data
from .completion import backend_names
from .output import json_option, print_json

__all__ = ["command"]


@click.command("why")
@click.argument("name", shell_complete=backend_names)
@json_option
def command(name: str, as_json: bool) -> None:
    """Explain what is known of a backend, target or namespace, and which rule decided about it.

    \b
    tirx why acme
    """  # noqa: D301 - click reads the backspace
    if as_json:
        print_json(why_data(name))
    else:
        click.echo(why(name))
