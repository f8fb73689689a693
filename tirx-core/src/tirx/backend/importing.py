"""Finding and importing the object that an entry point names."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder

from tirx.support.errors import BackendError
from tirx.support.span import add_internal_root
from tirx.support.suggest import did_you_mean

from .spelling import split_value
from .unavailable import UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .candidates import Candidate

__all__ = ["ensure_on_path", "import_plugin", "missing_module", "package_of", "reinstall"]


def import_plugin(candidate: Candidate) -> Any:
    """Import the plugin object; a module that is not there at all makes the backend unavailable rather than broken."""
    module_name, attribute = split_value(candidate.value)
    missing = missing_module(candidate)
    if missing:
        raise UnavailableError(missing, hint=reinstall(candidate))
    plugin: Any = import_module(module_name)
    for name in attribute.split(".") if attribute else ():
        if not hasattr(plugin, name):
            near = did_you_mean(name, dir(plugin))
            raise BackendError(f"`{module_name}` has no `{attribute}`, which the entry point names", hint=near)
        plugin = getattr(plugin, name)
    _mark_internal(package_of(candidate))
    return plugin


def missing_module(candidate: Candidate) -> str:
    """What is missing of the module that the entry point names, found without importing it; empty when it is there."""
    if candidate.plugin is not None:
        return ""
    module = split_value(candidate.value)[0]
    top, _, rest = module.partition(".")
    if module in sys.modules:
        return ""
    locations = _locations(top, candidate.distribution.location)
    if locations is None:
        return f"its module `{top}` is not there: the distribution is a remnant, or a moved editable install"
    for name in rest.split(".") if rest else ():
        spec = PathFinder.find_spec(name, locations) if locations else None
        if spec is None:
            # zip imports, frozen modules and import hooks of editables may know more than a path shows
            return f"its module `{module}` is not there" if _plain_folders(locations) else ""
        locations = list(spec.submodule_search_locations or ())
    return ""


def _locations(top: str, location: str) -> list[str] | None:
    """Where the submodules of a top-level package lie; None when there is no such module."""
    loaded = sys.modules.get(top)
    if loaded is not None:
        return list(getattr(loaded, "__path__", ()))
    finders = [finder.find_spec for finder in sys.meta_path if hasattr(finder, "find_spec")]
    for find, place in [*((find, None) for find in finders), (PathFinder.find_spec, [location])]:
        spec = find(top, place)
        if spec is not None:
            return list(spec.submodule_search_locations or ())
    return None


def _plain_folders(locations: list[str]) -> bool:
    return bool(locations) and all(os.path.isdir(place) for place in locations)


def reinstall(candidate: Candidate) -> str:
    """What to do about a distribution whose module is gone."""
    name = candidate.distribution.name
    return f"reinstall it (pip install --force-reinstall {name}) or remove it (pip uninstall {name})"


def package_of(candidate: Candidate) -> Any:
    """The package of a backend: the one that its plugin module lies in, or the object that was registered."""
    if candidate.plugin is not None:
        return candidate.plugin
    module = split_value(candidate.value)[0]
    return sys.modules[module.rpartition(".")[0] or module]


def _mark_internal(package: Any) -> None:
    """Errors in kernels point at their authors' lines, not at a backend's."""
    for place in getattr(package, "__path__", ()):
        add_internal_root(place)


def ensure_on_path(folders: list[str], candidate: Candidate) -> None:
    """A backend found through `TIRX_PLUGIN_PATH` must be importable from there."""
    place = candidate.distribution.location
    if place in folders and place not in sys.path:
        sys.path.append(place)
