"""The group of subcommands, and what all of them share: errors without tracebacks, exit codes, Ctrl-C, closed pipes."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from .. import __version__
from ..support.errors import TirxError
from ..support.suggest import did_you_mean

__all__ = ["COMMAND_LINE", "EXIT_CODES", "app", "main"]

COMMAND_LINE = "tirx.command_line"  # where the context keeps the words of the command line, for a child to repeat

EXIT_CODES = {
    0: "all is well",
    1: "the kernel, or what was asked for, has a fault",
    2: "wrong usage",
    124: "not done within --time-limit",
    130: "interrupted",
    141: "the reader of the output went away",
}

_COMMANDS = {
    "compile": "lower a kernel, write its source, build its binary",
    "run": "run a kernel on arrays, simulated or on the device",
    "check": "parse, verify and lower every kernel of a file",
    "explain": "which variant each tile operation gets, and why no other",
    "layout": "draw a layout: which thread, register or bank holds what",
    "targets": "list target kinds and named targets",
    "backends": "list installed backends and their states",
    "conform": "check that an installed backend keeps what plugins promise",
    "new-backend": "write a distribution with a backend to start from",
    "why": "explain what is known of a name, and which rule decided about it",
    "doctor": "what is installed, what is missing, what to install",
    "stubs": "write typing stubs of all that is installed, for editors",
    "cache": "what the cache of compiled binaries holds; clear it",
    "completion": "the script that makes a shell complete this command",
}


class _Lazy(click.Group):
    """Loads a subcommand's module when it is called, so that `tirx backends` imports nothing it does not need."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            hint = did_you_mean(cmd_name, _COMMANDS)
            if hint is None or ctx.resilient_parsing:
                return None
            ctx.fail(f"No such command {cmd_name!r}; {hint}")
        command: click.Command = import_module(f".{cmd_name.replace('-', '_')}", __package__).command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands with their lines of help, from the table: importing them all takes longer than anybody waits for a word."""
        found = [CompletionItem(name, help=text) for name, text in _COMMANDS.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), text) for code, text in EXIT_CODES.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[COMMAND_LINE] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TirxError as error:
            raise _Fault(error) from None
        except BrokenPipeError:
            _leave_quietly()
        except OSError as error:
            if error.filename is None:
                raise
            raise _Fault(TirxError(f"{error.filename}: {error.strerror}")) from None


class _Fault(click.ClickException):
    """An error of TIRx as the command line shows it."""

    def __init__(self, error: TirxError) -> None:
        super().__init__(str(error) if error.span else f"error: {error}")

    def show(self, file: Any = None) -> None:
        click.echo(self.message, file=file, err=file is None)


def _leave_quietly() -> NoReturn:
    """Whoever read our output (`head`) has enough."""
    _drop_output()
    sys.exit(141)


def _drop_output() -> None:
    """What is still buffered goes nowhere: Python would try again on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _open_streams() -> None:
    """Streams that the caller closed (`>&-`) lead nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open till the process ends


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tirx")
@click.pass_context
def app(ctx: click.Context) -> None:
    """TIRx: kernels in Python, checked, simulated, and compiled for real devices.

    \b
    tirx check scale.py
    tirx run scale.py --arg x=random:1000 --arg y=empty --arg a=2.5
    tirx compile scale.py --target TARGET
    """  # noqa: D301 - click reads the backspace
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; a user's mistake is a message and an exit code, never a traceback into TIRx."""
    _open_streams()
    try:
        status = app.main(args, prog_name="tirx", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        status = 130
    except BrokenPipeError:
        _leave_quietly()
    except OSError as error:  # of a file it has been said already: this is our output, on a full disk for example
        _drop_output()
        click.echo(f"error: the output cannot be written: {error.strerror or error}", err=True)
        status = 1
    sys.exit(status if isinstance(status, int) else 0)
