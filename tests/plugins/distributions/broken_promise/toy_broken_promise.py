"""Promises what it does not give."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.broken_promise`."""
    return [Namespace("broken_promise", "toy_broken_promise:answer", doc="a number")]


def answer() -> int:
    """What `Tx.broken_promise` is."""
    return 42
