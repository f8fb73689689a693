"""Loading what is installed, for commands that show all of it; who cannot be loaded is named on standard error.

A plugin that ends its process, or never comes back, would take the command with it. So each is first loaded in a process of its own, all at
once; the few tenths of a second are paid by commands that are about everything that is installed, and by no other.
"""

from __future__ import annotations

from collections.abc import Iterable

import click

from ..backend import available, default_host, load
from ..support.errors import BackendError

__all__ = ["TIME_LIMIT", "deadly", "load_all"]

TIME_LIMIT = 10.0
"""Seconds that a plugin may take to load."""


def load_all() -> None:
    """Load every backend that can be."""
    names = available()
    fatal = deadly(names)
    for name in names:
        if name in fatal:
            click.echo(f"left out: {fatal[name].message}\n  help: {fatal[name].hint}", err=True)
        else:
            _load(name)


def deadly(names: Iterable[str]) -> dict[str, BackendError]:
    """Those whose loading a process does not survive, and why."""
    waiting = [name for name in names if not default_host().is_loaded(name)]
    if not waiting:
        return {}
    from concurrent.futures import ThreadPoolExecutor  # processes are started: not for `--help`

    from ..backend.probe import probe  # only for who starts them

    with ThreadPoolExecutor(len(waiting)) as pool:
        results = list(pool.map(lambda name: probe(name, TIME_LIMIT), waiting))
    return {item.name: _refusal(item.name, item.cause) for item in results if not item.answered}


def _refusal(name: str, cause: str) -> BackendError:
    owner = default_host().info(name)
    what = f"backend `{name}` ({owner.distribution} {owner.version}, {owner.entry_point})"
    hint = f"repair or upgrade {owner.distribution}, or work without it: TIRX_BACKENDS=-{name}"
    return BackendError(f"{what} cannot be used: {cause}", hint=hint)


def _load(name: str) -> None:
    try:
        load(name)
    except BackendError as error:
        click.echo(f"left out: {error}", err=True)
