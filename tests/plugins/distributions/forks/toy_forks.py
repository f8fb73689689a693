"""Forks a process while it is imported."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.forks`."""
    return [Namespace("forks", "toy_forks:answer", doc="a number")]


def answer() -> int:
    """What `Tx.forks` is."""
    return 42


os.fork()
