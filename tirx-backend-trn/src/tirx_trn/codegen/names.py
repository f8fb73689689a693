"""Python names for the author's names: kept where Python and the file's imports allow it."""

from __future__ import annotations

import keyword
from collections.abc import Callable

from tirx.ir import Buffer, Var

__all__ = ["Names"]

# What the file imports and calls; other names of Python may be hidden.
_RESERVED = frozenset({"nki", "nl", "nisa", "math", "range", "min", "max", *keyword.kwlist, *keyword.softkwlist})


class Names:
    """Names of one function. What a block defines is forgotten at its end, so that its names are free again."""

    def __init__(self) -> None:
        self._by_id: dict[int, str] = {}
        self._taken: set[str] = set()
        self._blocks: list[list[str]] = [[]]
        self._holders: dict[str, Var | Buffer] = {}  # who has a name now
        self._used: set[int] = set()

    def enter(self) -> None:
        """A block begins."""
        self._blocks.append([])

    def leave(self) -> None:
        """The innermost block ends."""
        self._taken.difference_update(self._blocks.pop())

    def define(self, item: Var | Buffer, hint: str = "", done: Callable[[Var | Buffer], bool] | None = None) -> str:
        """A new name for a variable or buffer.

        The name of an earlier one of the same block is free again where `done` says that nobody needs that one any more.
        """
        base = _identifier(hint or item.name)
        name, number = base, 1
        while name in _RESERVED or (name in self._taken and not self._is_left(name, done)):
            name, number = f"{base}_{number}", number + 1
        if name not in self._taken:
            self._taken.add(name)
            self._blocks[-1].append(name)
        self._by_id[id(item)] = name
        self._holders[name] = item
        return name

    def _is_left(self, name: str, done: Callable[[Var | Buffer], bool] | None) -> bool:
        return done is not None and name in self._blocks[-1] and name in self._holders and done(self._holders[name])

    def alias(self, item: Var | Buffer, name: str) -> None:
        """`item` is written as the name of something else."""
        self._by_id[id(item)] = name

    def of(self, item: Var | Buffer) -> str:
        """The name that `define` gave."""
        self._used.add(id(item))
        return self._by_id[id(item)]

    def is_used(self, item: Var | Buffer) -> bool:
        """Whether anybody asked for the name of `item`."""
        return id(item) in self._used


def _identifier(text: str) -> str:
    """Plain ASCII letters, digits and underscores, not beginning with a digit."""
    made = "".join(letter if letter.isascii() and (letter.isalnum() or letter == "_") else "_" for letter in text)
    return made if made and not made[0].isdigit() else f"v{made}"
