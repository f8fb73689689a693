"""Rows of what backends add to the language's names."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any


__all__ = ["Namespace", "check_namespace"]


class Namespace:
    """A row of hook `tirx_namespaces`: `Tx.<name>` is the object at `load` (`"module:attribute"` or a module).

    It is a namespace with members, or a single name (a class such as a pool).
    """

    __slots__ = ("doc", "load", "name")

    def __init__(self, name: str, load: str, *, doc: str) -> None:
        self.name = name
        self.load = load
        self.doc = doc


def check_namespace(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Namespace):
        raise ValueError(f"expected a Namespace, got {type(row).__name__}")
    if not row.name.isidentifier():
        raise ValueError(f"namespace {row.name!r} is not an identifier")
