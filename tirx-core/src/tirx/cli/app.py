"""The group of subcommands, and what all of them share: errors without tracebacks, exit codes, Ctrl-C.

Exit codes: 0 all is well, 1 the kernel (or what was asked for) has a fault, 2 wrong usage, 124 out of time, 130 interrupted.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from .. import __version__
from ..support.errors import TirxError

__all__ = ["main"]

_COMMANDS = {
    "compile": "lower a kernel, write its source, build its binary",
    "run": "run a kernel on arrays, simulated or on the device",
    "check": "parse, verify and lower every kernel of a file",
    "targets": "list target kinds and named targets",
    "backends": "list installed backends and their states",
    "why": "explain what is known of a name, and which rule decided about it",
    "doctor": "what is installed, what is missing, what to install",
}


class _Lazy(click.Group):
    """Loads a subcommand's module when it is called, so that `tirx backends` imports nothing it does not need."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f".{cmd_name}", __package__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tirx")
def app() -> None:
    """TIRx: kernels in Python, checked, simulated, and compiled for real devices."""


def main(args: list[str] | None = None) -> Any:
    """Run the command line; a user's mistake is a message and an exit code, never a traceback into TIRx."""
    try:
        return app(args, prog_name="tirx", standalone_mode=True)
    except TirxError as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(130)
