"""The host of this process, made at the first need of it from the module that `wire` named."""

from __future__ import annotations

from _thread import RLock
from importlib import import_module

from tirx.support.errors import BackendError

from .rows import Owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .host import Host

__all__ = ["default_host", "wire", "wiring"]

_lock = RLock()
_wiring = ""
_host: Host | None = None


def wire(module: str) -> None:
    """Name the module that offers `ROW_KINDS`, `CORE` (an object with core's hooks) and `CORE_VERSION`."""
    global _wiring, _host
    with _lock:
        _wiring, _host = module, None


def wiring() -> str:
    """The module that `wire` named; empty when there is none."""
    return _wiring


def default_host() -> Host:
    """The host behind the functions of `tirx.backend`."""
    return _host or _make_host()


def _make_host() -> Host:
    global _host  # noqa: PLW0603  # the one piece of state of this module
    from .host import Host  # `import tirx` must not pay for what only lookups need

    with _lock:
        if _host is None:
            if not _wiring:
                raise BackendError("no row kinds are wired", hint="import tirx, or call tirx.backend.wire(module)")
            wired: Any = import_module(_wiring)
            owner = Owner("tirx-core", wired.CORE_VERSION, "core")
            _host = Host(wired.ROW_KINDS, wired.CORE, core_owner=owner)
        return _host
