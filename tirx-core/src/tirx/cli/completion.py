"""`tirx completion SHELL`, and what completes words that are neither commands nor options."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

from ..backend import available, names
from .app import app

__all__ = ["backend_names", "command", "files", "target_names"]

_VARIABLE = "_TIRX_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that makes a shell complete commands, options, targets and files.

    \b
    tirx completion bash > ~/.local/share/bash-completion/completions/tirx
    tirx completion zsh > "${fpath[1]}/_tirx"
    tirx completion fish > ~/.config/fish/completions/tirx.fish
    """  # noqa: D301 - click reads the backspace
    script = get_completion_class(shell)
    assert script is not None  # all three are click's own
    text = script(app, {}, "tirx", _VARIABLE).source()
    # click's script for fish cuts descriptions at their first comma
    click.echo(text.replace('(string split ","', '(string split -m 1 ","') if shell == "fish" else text)


def files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files: the shell knows them."""
    return [CompletionItem(incomplete, type="file")]


def target_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Target kinds, as far as they are known without importing a backend."""
    return [CompletionItem(name) for name in names("target_kinds") if name.startswith(incomplete)]


def backend_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Backends that can be used here."""
    return [CompletionItem(name) for name in available() if name.startswith(incomplete)]
