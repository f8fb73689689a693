"""An instruction while it is checked: the table's entry, and what the author gave for it."""

from __future__ import annotations

from typing import Any

from .operands import Tile
from .table import Field, Instruction

__all__ = ["Written"]


class Written:
    """Tiles and opcodes by the name of their field; `args` in the order of the row; all `options`."""

    __slots__ = ("args", "item", "opcodes", "options", "spelled", "tiles")

    def __init__(self, item: Instruction, spelled: str = "") -> None:
        self.item = item
        self.spelled = spelled or item.name
        self.tiles: dict[str, Tile] = {}
        self.opcodes: dict[str, str] = {}
        self.args: list[Any] = []
        self.options: dict[str, Any] = {}

    def label(self, field: Field) -> str:
        """What the author calls an operand: by NKI's name where the instruction was."""
        return field.nki if self.spelled != self.item.name else field.name

    @property
    def reference(self) -> Tile:
        """The tile that others are compared with: the first of those that have the instruction's shape."""
        same = [field.name for field in self.item.fields if field.shape == "same" and field.name in self.tiles]
        return self.tiles[same[0]] if same else next(iter(self.tiles.values()))

    def operand(self, name: str) -> Any:
        """The converted operand of a field that has one value."""
        return self.args[[field.name for field in self.item.fields].index(name)]

    def rest(self, name: str) -> tuple[Any, ...]:
        """The values of the last field, of which there may be any number."""
        return tuple(self.args[[field.name for field in self.item.fields].index(name) :])
