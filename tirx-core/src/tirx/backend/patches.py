"""Plugins add rows; they do not change core. What one replaces in core while it loads is put back, and the plugin fails."""

from __future__ import annotations

import sys
from operator import is_
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["CoreNames"]

_CORE = "tirx"
_KINDS = (FunctionType, property, classmethod, staticmethod, type)


class CoreNames:
    """The functions and classes of core's modules, and the methods of its classes, as they are now."""

    def __init__(self) -> None:
        self._before = [(holder, name, dict(vars(holder))) for holder, name in _holders()]

    def restore(self) -> list[str]:
        """Put back what was replaced, take away methods that were added; the names of all that."""
        return [f"{where}.{name}" for holder, where, before in self._before for name in _undo(holder, before)]


def _holders() -> Iterator[tuple[Any, str]]:
    """Core's modules, and the classes that they define, each with its name."""
    for name, module in list(sys.modules.items()):
        if (name == _CORE or name.startswith(f"{_CORE}.")) and hasattr(module, "__dict__"):  # None blocks an import
            yield module, name
            for key, value in list(vars(module).items()):
                if isinstance(value, type) and value.__module__ == name:
                    yield value, f"{name}.{key}"


def _undo(holder: Any, before: dict[str, Any]) -> list[str]:
    now = vars(holder)
    if len(now) == len(before) and all(map(is_, now.values(), before.values())):
        return []
    changed = [name for name, old in before.items() if isinstance(old, _KINDS) and now.get(name) is not old]
    added = []
    if isinstance(holder, type):  # modules get names by imports; classes get none
        added = [name for name in list(now) if name not in before and isinstance(now[name], _KINDS)]
    for name in changed:
        setattr(holder, name, before[name])
    for name in added:
        delattr(holder, name)
    return changed + added
