"""Prints while it is imported and in its hook."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.prints`."""
    return [Namespace("prints", "toy_prints:answer", doc="a number")]


def answer() -> int:
    """What `Tx.prints` is."""
    return 42


print("chatter from Python")
os.write(1, b"chatter past Python\n")
