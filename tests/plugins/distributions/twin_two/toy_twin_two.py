"""The other of two distributions with a backend of the same name."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.twin`."""
    return [Namespace("twin", "toy_twin_two:answer", doc="a number")]


def answer() -> int:
    """What `Tx.twin` is."""
    return 42
