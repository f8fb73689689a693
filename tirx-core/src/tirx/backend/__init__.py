"""The plugin system: finding, loading and inspecting backends.

    tirx.backend.available()          the backends that can be used here
    tirx.backend.load("acme")         load one; kernels and targets do this by themselves
    tirx.backend.acme                 its package, loaded on first access
    tirx.backend.info("acme").state   OK, NOT LOADED, DISABLED, SHADOWED, INCOMPATIBLE, FAILED, UNAVAILABLE

Reading this module costs next to nothing: what finds and loads plugins is imported when it is needed, and core's own
rows are collected at the first need of a registry, from the module that `wire` named.
"""

from __future__ import annotations

import sys

from tirx.support.errors import BackendError

from .default import default_host, wire, wiring
from .rows import Owner, RowKind
from .spelling import API_VERSION, API_VERSIONS, MODULES
from .unavailable import UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from .record import BackendInfo
    from .snapshot import Registry

    Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = [
    "API_VERSION",
    "API_VERSIONS",
    "BackendError",
    "Owner",
    "RowKind",
    "UnavailableError",
    "available",
    "default_host",
    "find",
    "hint_for",
    "hookimpl",
    "info",
    "is_loaded",
    "load",
    "load_provider",
    "names",
    "provides",
    "refresh",
    "register",
    "registry",
    "resolve_row",
    "row_reference",
    "unload",
    "why",
    "wire",
]


def hookimpl(function: Function) -> Function:
    """Mark a function of a plugin as the implementation of the hook that it is named after."""
    function.tirx_impl = {}  # type: ignore[attr-defined]  # what pluggy looks for; a plugin need not import pluggy
    return function


def load(name: str) -> Any:
    """Load a backend (`acme`) or an extension (`acme.fast`) and return its package; an error says why it cannot be."""
    from .importing import package_of  # not needed before something is loaded

    return package_of(default_host().load(name))


def unload(name: str) -> None:
    """Take away the rows of a backend and of its extensions. Its modules stay imported."""
    default_host().unload(name)


def refresh() -> None:
    """Look for installed distributions again and forget failures; what is loaded stays loaded."""
    default_host().refresh()


def is_loaded(name: str) -> bool:
    """Whether the rows of a backend are in the registry."""
    return default_host().is_loaded(name)


def available() -> tuple[str, ...]:
    """The backends that are loaded or can be, as far as that is known without importing them."""
    return default_host().available()


def info(name: str) -> BackendInfo:
    """State, entry point, distribution, version, cause and what to do about one backend; imports nothing."""
    return default_host().info(name)


def registry(extensions: Iterable[str] = ()) -> Registry:
    """The current snapshot of all rows. `extensions` act in addition to those that the settings enable."""
    return default_host().registry(extensions)


def find(kind: str, key: Any) -> Any:
    """The row of this kind and key, or None; loads the backend that promises it when none that is loaded has it."""
    return default_host().find(kind, key)


def names(kind: str) -> list[str]:
    """All names of a kind that are loaded or promised, for hints; loads nothing."""
    return default_host().names(kind)


def hint_for(kind: str, key: Any, *, alike: bool = True) -> str | None:
    """What to tell somebody who asked for a row that `find` did not find; with `alike=False` only who has exactly that one."""
    from .missing import hint_for as hint  # only when something is missing

    return hint(default_host(), kind, key, alike=alike)


def provides(prefix: str, name: str) -> tuple[str, ...]:
    """The backends and extensions whose manifests promise `prefix.name`, usable or not; loads nothing."""
    return tuple(item.name for item in default_host().providers(f"{prefix}.{name}"))


def load_provider(prefix: str, name: str) -> bool:
    """Load whoever promises `prefix.name`; False when nobody usable does, an error when that one is broken."""
    return default_host().load_provider(prefix, name)


def why(name: str) -> str:
    """In words: what is known of a name, and which rule decided about it; imports nothing."""
    from .report import why as explain  # only for who asks

    return explain(name)


def register(
    name: str,
    plugin: Any,
    *,
    distribution: str = "",
    version: str = "0",
    provides: Iterable[str] = (),
    apis: Iterable[int] = (1,),
) -> None:
    """Make a plugin known that has no installed metadata, for frozen applications and tests.

    `plugin` is an object with hooks, or `package.module[:object]` to be imported when it is needed; `provides` holds
    what a manifest's group `tirx.provides` would: `("kind.acme", "namespace.acme")`.
    """
    default_host().register(name, plugin, distribution=distribution, version=version, provides=provides, apis=apis)


def row_reference(kind: str, key: Any) -> tuple[Callable[..., Any], tuple[str, str, Any]]:
    """What `__reduce__` of a row returns: the row pickles as (owner, kind, key), never by value."""
    from .missing import owner_of  # only when rows are pickled

    return resolve_row, (owner_of(default_host(), kind, key), kind, key)


def resolve_row(owner: str, kind: str, key: Any) -> Any:
    """The row that a pickled reference means; loads its owner."""
    from .missing import resolve  # only when rows are unpickled

    return resolve(default_host(), owner, kind, key)


def __getattr__(name: str) -> Any:
    """`tirx.backend.<name>`: the package of the backend of that name, loaded on first access."""
    if name.startswith("_") or name in MODULES or not wiring():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not any(item.name == name for item in default_host().candidates()):
        error = default_host().unknown(name)
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}\n{error}", name=name, obj=sys.modules[__name__]
        )
    return load(name)


def __dir__() -> list[str]:
    return sorted(__all__)
