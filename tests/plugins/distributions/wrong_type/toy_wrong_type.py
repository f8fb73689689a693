"""Returns rows of a type that is not theirs."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.wrong_type`."""
    return [Namespace("wrong_type", "toy_wrong_type:answer", doc="a number"), "and a string"]


def answer() -> int:
    """What `Tx.wrong_type` is."""
    return 42
