"""`tirx stubs [-o DIR]`."""

from __future__ import annotations

from pathlib import Path

import click

from ..support.errors import BackendError
from .loading import load_all
from .output import json_option, print_json

__all__ = ["command"]


@click.command("stubs")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("typings"),
    show_default=True,
    help="The typings folder; files of an earlier run are replaced.",
)
@json_option
def command(output: Path, as_json: bool) -> None:
    """Write typing stubs of `Tx` and of every installed backend's names, for editors and type checkers.

    \b
    tirx stubs
    tirx stubs -o build/typings
    """  # noqa: D301 - click reads the backspace
    load_all()
    from .stub_text import stub_files  # reads the whole language

    written = [_write(output / name, text) for name, text in stub_files().items()]
    if as_json:
        print_json({"folder": str(output), "files": [str(path) for path in written]})
    else:
        click.echo(f"{len(written)} files written to {output}; mypy finds them through mypy_path, pyright by itself")


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BackendError(f"cannot write to {path}: {error.strerror}", hint="choose another folder with -o") from None
    return path
