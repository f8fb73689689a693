"""Services that a lower layer asks an upper one for, by name. The composition root (`tirx/__init__.py`) says where they live."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 4 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["late", "late_bind", "load_object"]

_places: dict[str, str] = {}
_found: dict[str, Any] = {}


def late_bind(name: str, location: str) -> None:
    """Service `name` is at `location` (`"module:attribute"`); called by the composition root only."""
    _places[name] = location
    _found.pop(name, None)


def late(name: str) -> Any:
    """The service `name` (`"print"`: node -> text), imported at first use."""
    if name not in _found:
        _found[name] = load_object(_places[name])
    return _found[name]


def load_object(location: str) -> Any:
    """The object at `"module:attribute"`, or the module when no attribute is given."""
    from importlib import import_module

    module, _, attribute = location.partition(":")
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # it needs something that is not installed
        raise _gone(location) from None
    for part in attribute.split(".") if attribute else ():
        found = getattr(found, part)
    return found


def _gone(location: str) -> Exception:
    from .errors import BackendError  # only when something went wrong

    return BackendError(
        f"`{location}` is not there, although a row names it",
        hint="if its distribution was removed or replaced while this process runs, start Python again; else report it to its authors",
    )
