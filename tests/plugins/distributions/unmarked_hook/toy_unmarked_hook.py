"""Forgets to mark a hook."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.unmarked_hook`."""
    return [Namespace("unmarked_hook", "toy_unmarked_hook:answer", doc="a number")]


def answer() -> int:
    """What `Tx.unmarked_hook` is."""
    return 42


def tirx_target_kinds() -> Iterable[object]:
    """Not marked."""
    return []
