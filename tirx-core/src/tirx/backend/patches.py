"""Plugins add rows; they do not change core. What one replaces in core while it loads is put back, and the plugin fails."""

from __future__ import annotations

import sys
from operator import is_
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["remember", "restore"]

_CORE = "tirx"
_KINDS = (FunctionType, property, classmethod, staticmethod, type)


_known: dict[str, list[tuple[Any, str, dict[str, Any]]]] = {}  # module -> it and its classes, as they were first seen


def remember() -> None:
    """Take in core's functions and classes as they are now; what was seen before stays as it was then.

    Done when core's own rows are collected, before any plugin, and again before each load for modules that came since:
    comparing is quick, taking in is not.
    """
    for name, module in list(sys.modules.items()):
        if name in _known or not (name == _CORE or name.startswith(f"{_CORE}.")):
            continue
        if hasattr(module, "__dict__"):  # None blocks an import
            _known[name] = [(holder, where, dict(vars(holder))) for holder, where in _holders(name, module)]


def restore() -> list[str]:
    """Put back what was replaced, take away methods that were added; the names of all that."""
    return [
        f"{where}.{key}"
        for held in list(_known.values())
        for holder, where, before in held
        for key in _undo(holder, before)
    ]


def _holders(name: str, module: Any) -> Iterator[tuple[Any, str]]:
    """A module of core's, and the classes that it defines, each with its name."""
    yield module, name
    for key, value in list(vars(module).items()):
        if isinstance(value, type) and value.__module__ == name:
            yield value, f"{name}.{key}"


def _is_core(value: Any) -> bool:
    """Whether core made it: nodes compile some of their methods at the first need of them."""
    return str(getattr(value, "__module__", None)).partition(".")[0] == _CORE


def _undo(holder: Any, before: dict[str, Any]) -> list[str]:
    now = vars(holder)
    if len(now) == len(before) and all(map(is_, now.values(), before.values())):
        return []
    changed = [
        name
        for name, old in before.items()
        if isinstance(old, _KINDS) and now.get(name) is not old and not _is_core(now.get(name))
    ]
    added = []
    if isinstance(holder, type):  # modules get names by imports; classes get none
        added = [
            name
            for name in list(now)
            if name not in before and isinstance(now[name], _KINDS) and not _is_core(now[name])
        ]
    for name in changed:
        setattr(holder, name, before[name])
    for name in added:
        delattr(holder, name)
    if not changed and not added:  # imports and memos: the new normal
        before.clear()
        before.update(now)
    return changed + added
