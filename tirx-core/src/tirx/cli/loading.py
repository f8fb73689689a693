"""Loading what is installed, for commands that show all of it; who cannot be loaded is named on standard error."""

from __future__ import annotations

import click

from ..backend import available, load
from ..support.errors import BackendError

__all__ = ["load_all"]


def load_all() -> None:
    """Load every backend that can be."""
    for name in available():
        _load(name)


def _load(name: str) -> None:
    try:
        load(name)
    except BackendError as error:
        click.echo(f"left out: {error}", err=True)
