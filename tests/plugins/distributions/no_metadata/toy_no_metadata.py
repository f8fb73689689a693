"""A plugin in a frozen application: nothing but this file."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.no_metadata`."""
    return [Namespace("no_metadata", "toy_no_metadata:answer", doc="a number")]


def answer() -> int:
    """What `Tx.no_metadata` is."""
    return 42
