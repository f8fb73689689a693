"""Names in printed text: what the author chose, made unique among what is visible at that place."""

from __future__ import annotations

import keyword

from ...ir import Buffer, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["NameTable", "identifier"]

RESERVED = frozenset({"T", "Tx", "I", "Axis", "range", *keyword.kwlist, *keyword.softkwlist})


def identifier(name: str, fallback: str = "v") -> str:
    """`name` as a Python identifier."""
    if not name.isascii():
        from unicodedata import normalize  # as Python reads identifiers

        name = normalize("NFKC", name)
    text = "".join(c if f"a{c}".isidentifier() else "_" for c in name)
    if not text or text == "_":
        return fallback
    return text if text.isidentifier() and not keyword.iskeyword(text) else f"_{text}"


class NameTable:
    """Objects to names. Blocks nest: names of a closed block are free again."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.keep: list[Any] = []  # identities stay taken
        self.used: set[str] = set(RESERVED)
        self.blocks: list[list[tuple[str, int]]] = [[]]

    def enter(self) -> None:
        """Open a block."""
        self.blocks.append([])

    def leave(self) -> None:
        """Close it; its names are free again, and what they stood for has none."""
        for name, item in self.blocks.pop():
            self.used.discard(name)
            if self.names.get(item) == name:
                del self.names[item]

    def define(self, item: Var | Buffer, hint: str | None = None) -> str:
        """The name of `item` from here on."""
        base = identifier(hint or item.name, "buffer" if isinstance(item, Buffer) else "v")
        name, number = base, 0
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self.used.add(name)
        self.blocks[-1].append((name, id(item)))
        self.names[id(item)] = name
        self.keep.append(item)
        return name

    def find(self, item: Any) -> str | None:
        """The name of `item`, None when it has none here."""
        return self.names.get(id(item))
