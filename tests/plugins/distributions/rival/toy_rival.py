"""Gives a name that another distribution gives too."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.plain`."""
    return [Namespace("plain", "toy_rival:answer", doc="a number")]


def answer() -> int:
    """What `Tx.plain` is."""
    return 42
