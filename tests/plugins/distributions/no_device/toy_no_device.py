"""Says that it cannot work on this machine."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import UnavailableError, hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.no_device`."""
    return [Namespace("no_device", "toy_no_device:answer", doc="a number")]


def answer() -> int:
    """What `Tx.no_device` is."""
    return 42


raise UnavailableError("there is no such device here", hint="buy one")
