"""Raises in one of its hooks."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.raises_in_hook`."""
    return [Namespace("raises_in_hook", "toy_raises_in_hook:answer", doc="a number")]


def answer() -> int:
    """What `Tx.raises_in_hook` is."""
    return 42


@hookimpl
def tirx_target_tags() -> Iterable[object]:
    """Not this time."""
    raise ZeroDivisionError("in the hook")
