"""Plugins add rows; they do not change core. What one replaces in core while it loads is put back, and the plugin fails."""

from __future__ import annotations

import sys
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

__all__ = ["remember", "restore"]

_CORE = "tirx"
_KINDS = (FunctionType, property, classmethod, staticmethod, type)


_known: set[str] = set()  # the modules that were taken in
_held: list[tuple[Any, str]] = []  # each holder of names, a module or a class of one, and what it is called
_live: list[Mapping[str, Any]] = []  # the names of each as they are now,
_before: list[dict[str, Any]] = []  # and as they were when it was taken in


def remember() -> None:
    """Take in core's functions and classes as they are now; what was seen before stays as it was then.

    Done when core's own rows are collected, before any plugin, and again before each load for modules that came since:
    comparing is quick, taking in is not.
    """
    for name, module in list(sys.modules.items()):
        if name in _known or not (name == _CORE or name.startswith(f"{_CORE}.")):
            continue
        if hasattr(module, "__dict__"):  # None blocks an import
            _known.add(name)
            for holder, where in _holders(name, module):
                _held.append((holder, where))
                _live.append(vars(holder))
                _before.append(dict(vars(holder)))


def restore() -> list[str]:
    """Put back what was replaced, take away methods that were added; the names of all that."""
    return [f"{where}.{key}" for (holder, where), before in _differing() for key in _undo(holder, before)]


def _differing() -> list[tuple[tuple[Any, str], dict[str, Any]]]:
    """The holders whose names differ from what they were. Hundreds are compared at each load, in a third of a millisecond."""
    known = zip(_held, _live, _before, strict=True)
    try:
        return [(held, before) for held, now, before in known if now != before]
    except Exception:  # noqa: BLE001 - whatever the `__eq__` of a replacement raises
        return list(zip(_held, _before, strict=True))


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
