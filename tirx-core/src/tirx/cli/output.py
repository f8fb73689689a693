"""Output of commands: text for people, JSON for machines, colour and progress only on terminals."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

__all__ = ["json_option", "print_json", "progress", "working"]

T = TypeVar("T")

json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON for machines.")


def print_json(value: Any) -> None:
    """`value` as indented JSON on standard output; numbers that JSON does not have are strings ("nan", "inf")."""
    click.echo(json.dumps(_finite(value), indent=2, default=str, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def progress(items: Sequence[T], label: str) -> Iterator[T]:
    """`items`, with a progress bar on standard error when that is a terminal and the work is long enough to watch."""
    if len(items) < 2 or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=len(items))
        for item in items:
            yield item
            bar.advance(task)


@contextmanager
def working(label: str) -> Iterator[None]:
    """A spinner on standard error while something takes long, on terminals only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(label):
        yield
