"""Names of what a kernel makes: from the variable that the author assigns it to, or invented and unique."""

from __future__ import annotations

from ...ir import Buffer, Scalar, Var
from .bytecode import assigned_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Names"]


class Names:
    """The names that are visible in a function, and the objects whose name nobody chose yet.

    Names made in a block are free again when it is closed.
    """

    __slots__ = ("blocks", "fresh_vars", "invented", "used")

    def __init__(self) -> None:
        self.used: dict[str, int] = {}  # name -> number of the last one made from it
        self.blocks: list[list[str]] = [[]]
        self.fresh_vars: dict[int, Var] = {}
        self.invented: dict[int, tuple[Any, bool]] = {}

    def enter(self) -> None:
        """A block is opened."""
        self.blocks.append([])

    def leave(self, count: int = 1) -> None:
        """The innermost `count` blocks are closed."""
        for _ in range(min(count, len(self.blocks) - 1)):
            for name in self.blocks.pop():
                self.used.pop(name, None)

    def fresh(self, hint: str) -> str:
        """`hint`, or `hint_1`, `hint_2`, ... when that is taken."""
        base = hint or "v"
        name, number = base, self.used.get(base, 0)
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self.used[base] = number
        self.used.setdefault(name, 0)
        self.blocks[-1].append(name)
        return name

    def claim(self, item: Var | Buffer, hint: str, *, unique: bool = True) -> None:
        """`item` may be renamed once; until then it has a name near `hint`. Loop variables may share names."""
        rename(item, self.fresh(hint) if unique else hint)
        self.invented[id(item)] = (item, unique)

    def give(self, value: Any, name: str) -> None:
        """Rename `value` (or the items of a list) unless somebody chose its name before."""
        if isinstance(value, tuple | list):
            for number, item in enumerate(value):
                self.give(item, f"{name}_{number}")
            return
        item = value.buffer if isinstance(value, Scalar) else value
        _, unique = self.invented.pop(id(item), (None, None))
        if unique is None or item.name == name:
            return
        if unique:
            self.used.pop(item.name, None)  # the invented name is free again
        rename(item, self.fresh(name) if unique else name)

    def give_assigned(self, values: tuple[Any, ...]) -> None:
        """Rename `values` after the variables that the author's running line assigns them to, where that can be seen."""
        names = assigned_names(len(values))
        for value, name in zip(values, names, strict=False):
            self.give(value, name)


def rename(item: Var | Buffer, name: str) -> None:
    """Change the name of an object that is not shared yet; a buffer's own pointer follows."""
    if isinstance(item, Buffer) and item.data.name == item.name:
        item.data.name = name
    item.name = name
