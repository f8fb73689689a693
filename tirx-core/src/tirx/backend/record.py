"""What can be said of each backend and extension, without importing any: behind `tirx backends` and `info()`."""

from __future__ import annotations

from .candidates import State
from .importing import missing_module, reinstall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .candidates import Candidate
    from .host import Host

__all__ = ["BackendInfo", "records"]

_FIELDS = (
    "name", "kind", "state", "entry_point", "distribution", "version", "location", "cause", "todo", "promises", "rows",
    "extensions", "place", "traceback",
)  # fmt: skip


class BackendInfo:
    """One backend or extension.

    name, kind       `acme`, `backend`; `acme.fast`, `extension`
    state            OK, NOT LOADED, DISABLED, SHADOWED, INCOMPATIBLE, FAILED or UNAVAILABLE
    entry_point      the line of its manifest
    distribution, version, location   where it comes from
    cause, todo      why it is in this state, and what to do about it
    promises         what its manifest offers by name
    rows             how many rows of each kind it gave (when loaded)
    extensions       extensions of it that are installed
    place, traceback where it failed
    """

    __slots__ = _FIELDS

    def __init__(self, candidate: Candidate, state: str, cause: str = "", todo: str = "") -> None:
        self.name = candidate.name
        self.kind = "extension" if candidate.is_extension else "backend"
        self.state = state
        self.entry_point = candidate.entry_point
        self.distribution = candidate.distribution.name
        self.version = candidate.distribution.version
        self.location = candidate.distribution.location
        self.cause = cause
        self.todo = todo
        self.promises = candidate.promises
        self.rows: dict[str, int] = {}
        self.extensions: tuple[str, ...] = ()
        self.place = ""
        self.traceback = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data = {field: getattr(self, field) for field in _FIELDS}
        return {field: list(value) if isinstance(value, tuple) else value for field, value in data.items()}

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}: {self.state}, {self.distribution} {self.version}>"


def records(host: Host) -> list[BackendInfo]:
    """One record for each, sorted by name; what is loaded but no longer installed included."""
    candidates = host.candidates()
    installed = {item.identity for item in candidates}
    gone = [item for item in host.loaded().values() if item.identity not in installed]
    found = [_record(host, item) for item in candidates] + [_loaded(host, item, _GONE) for item in gone]
    for record in found:
        record.extensions = tuple(dict.fromkeys(item.name for item in candidates if item.host == record.name))
    return sorted(found, key=lambda record: record.name)


_GONE = "it is loaded, but no longer installed"


def _record(host: Host, candidate: Candidate) -> BackendInfo:
    loaded = host.loaded().get(candidate.name)
    fault = host.fault_of(candidate)
    if loaded is not None and loaded.identity == candidate.identity:
        return _loaded(host, candidate)
    if not candidate.usable:
        return BackendInfo(candidate, candidate.state, candidate.cause, candidate.todo)
    if loaded is not None:
        cause = f"{loaded.distribution} is loaded in this process"
        return BackendInfo(candidate, State.NOT_LOADED, cause, "start Python again to use this one")
    if fault is not None:
        record = BackendInfo(candidate, fault.state, f"{fault.stage}: {fault.cause}", fault.todo)
        record.place, record.traceback = fault.place, fault.traceback
        return record
    missing = missing_module(candidate)
    if missing:
        return BackendInfo(candidate, State.UNAVAILABLE, missing, reinstall(candidate))
    return BackendInfo(candidate, State.NOT_LOADED)


def _loaded(host: Host, candidate: Candidate, cause: str = "") -> BackendInfo:
    record = BackendInfo(candidate, State.OK, cause)
    given = (item.counts() for item in host.snapshot().contributions if item.owner.backend == candidate.name)
    record.rows = next(given, {})
    return record
