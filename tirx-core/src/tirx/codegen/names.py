"""Identifiers of generated source: the author's names wherever they are legal and free."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

__all__ = ["Names", "identifier"]

_ILLEGAL = re.compile(r"\W", re.ASCII)


def identifier(name: str) -> str:
    """An ASCII identifier that resembles `name`: accents dropped, other characters by their code (`u03b1`)."""
    if name.isascii() and name.isidentifier():
        return name
    plain = (char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    text = "".join(char if char.isascii() else f"u{ord(char):04x}" for char in plain)
    text = _ILLEGAL.sub("_", text)
    return text if text and not text[0].isdigit() else f"_{text}"


class Names:
    """Hands out names that are unique in the scopes that are open, and remembers whose they are.

    `reserved` are the words of the target language. A name that is taken gets a number (`i_1`), a reserved one an
    underscore (`half_`). Leaving a scope frees its names, so that two loops one after the other may both count in `i`.
    """

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._reserved = frozenset(reserved)
        self._scopes: list[set[str]] = [set()]
        self._known: dict[int, tuple[object, str]] = {}
        self.ever: set[str] = set()  # all names that were handed out

    def take(self, hint: str) -> str:
        """A fresh name near `hint`."""
        base = identifier(hint)
        if base in self._reserved or base.startswith("__"):
            base = f"{base.lstrip('_')}_"
        name, number = base, 0
        while name in self._reserved or any(name in scope for scope in self._scopes):
            number += 1
            name = f"{base.rstrip('_')}_{number}"
        self._scopes[-1].add(name)
        self.ever.add(name)
        return name

    def of(self, owner: object, hint: str) -> str:
        """The name of `owner` (compared by identity), made from `hint` when it has none yet."""
        found = self._known.get(id(owner))
        if found is None:
            found = self._known[id(owner)] = (owner, self.take(hint))
        return found[1]

    def give(self, owner: object, name: str) -> None:
        """`owner` is called `name` from now on; `name` need not be fresh."""
        self._known[id(owner)] = (owner, name)

    def find(self, owner: object) -> str | None:
        """The name of `owner`, if it has one."""
        found = self._known.get(id(owner))
        return None if found is None else found[1]

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names taken inside are free again afterwards."""
        self._scopes.append(set())
        try:
            yield
        finally:
            self._scopes.pop()
