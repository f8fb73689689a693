"""Imports what is not installed."""

from __future__ import annotations

from collections.abc import Iterable

import a_library_that_is_not_installed  # noqa: F401
from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.missing_dependency`."""
    return [Namespace("missing_dependency", "toy_missing_dependency:answer", doc="a number")]


def answer() -> int:
    """What `Tx.missing_dependency` is."""
    return 42
