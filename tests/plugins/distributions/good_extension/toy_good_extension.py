"""An extension that adds a name to another's backend."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.addition`."""
    return [Namespace("addition", "toy_good_extension:answer", doc="a number")]


def answer() -> int:
    """What `Tx.addition` is."""
    return 42
