"""What can be said of one backend or extension: the record behind `tirx backends`, `info()` and error messages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .candidates import Candidate
    from .faults import Fault

__all__ = ["BackendInfo"]

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

    @classmethod
    def failed(cls, candidate: Candidate, fault: Fault) -> BackendInfo:
        """One whose loading went wrong."""
        info = cls(candidate, fault.state, f"{fault.stage}: {fault.cause}", fault.todo)
        info.place, info.traceback = fault.place, fault.traceback
        return info

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data = {field: getattr(self, field) for field in _FIELDS}
        return {field: list(value) if isinstance(value, tuple) else value for field, value in data.items()}

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}: {self.state}, {self.distribution} {self.version}>"
