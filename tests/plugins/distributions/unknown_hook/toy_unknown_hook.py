"""Marks a function that is no hook."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.unknown_hook`."""
    return [Namespace("unknown_hook", "toy_unknown_hook:answer", doc="a number")]


def answer() -> int:
    """What `Tx.unknown_hook` is."""
    return 42


@hookimpl
def tirx_target_kind() -> Iterable[object]:
    """One letter short."""
    return []
