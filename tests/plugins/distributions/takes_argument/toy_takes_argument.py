"""Has a hook with an argument that no hook has."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.script.row import Namespace


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.takes_argument`."""
    return [Namespace("takes_argument", "toy_takes_argument:answer", doc="a number")]


def answer() -> int:
    """What `Tx.takes_argument` is."""
    return 42


@hookimpl
def tirx_target_tags(target: object) -> Iterable[object]:
    """Hooks take none."""
    return [target]
