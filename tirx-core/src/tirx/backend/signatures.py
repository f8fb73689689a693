"""pluggy, used for what it does best: it validates the signatures of hook implementations against specifications.

The specifications are made from the row kinds, so that hooks, checks and documentation cannot disagree. Nothing else
of pluggy is used, and nothing of it is promised to plugins: hooks are called directly, each once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

import pluggy

from tirx.support.errors import BackendError

from .rows import RowKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Signatures", "specifications"]

_PROJECT = "tirx"


def specifications(kinds: Iterable[RowKind]) -> ModuleType:
    """A module with one specification for each hook."""
    module = ModuleType("tirx.backend.hookspecs", "One function for each hook that a plugin may implement.")
    for kind in kinds:
        setattr(module, kind.hook, pluggy.HookspecMarker(_PROJECT)(_specification(kind)))
    return module


def _specification(kind: RowKind) -> Callable[[], Iterable[Any]]:
    def specification() -> Iterable[Any]:
        return ()

    specification.__name__ = specification.__qualname__ = kind.hook
    specification.__doc__ = kind.doc
    return specification


class Signatures:
    """The plugins that were registered, by name, each with its implementations validated."""

    def __init__(self, kinds: Iterable[RowKind]) -> None:
        self._manager = pluggy.PluginManager(_PROJECT)
        self._unspecified = {kind.hook: kind for kind in kinds}

    def register(self, name: str, functions: Mapping[str, Callable[[], Iterable[Any]]]) -> None:
        """Validate and register the hook functions of one plugin, all or nothing."""
        self.unregister(name)
        self._specify(functions)
        holder = ModuleType(name)  # pluggy looks at every name of what it registers: a module of its own has few
        vars(holder).update(functions)
        try:
            self._manager.register(holder, name)
        except pluggy.PluginValidationError as error:
            raise BackendError(_reason(error), hint="hooks take no arguments and return their rows") from error

    def _specify(self, hooks: Iterable[str]) -> None:
        """Add the specifications that are needed now: all of them take longer than loading a small backend."""
        new = [self._unspecified.pop(hook) for hook in hooks if hook in self._unspecified]
        if new:
            self._manager.add_hookspecs(specifications(new))

    def unregister(self, name: str) -> None:
        """Forget a plugin, registered or not."""
        if self._manager.has_plugin(name):
            self._manager.unregister(name=name)


def _reason(error: pluggy.PluginValidationError) -> str:
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    return " ".join(line for line in lines if not line.startswith("Plugin "))
