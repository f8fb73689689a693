"""What to tell somebody who asked for a name that nobody loaded has."""

from __future__ import annotations

import os

from tirx.support.errors import BackendError
from tirx.support.suggest import did_you_mean

from .spelling import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .candidates import Candidate
    from .host import Host

__all__ = ["hint_for", "owner_of", "resolve", "unknown_backend", "well_known"]


def hint_for(host: Host, kind: str, key: Any, *, alike: bool = True) -> str | None:
    """The best hint for a missing row: who offers it but cannot be used, what to install, or (`alike`) what is spelled alike."""
    for promise in host.registry().kind(kind).promised(key):
        for item in host.providers(promise):
            if not item.usable:
                return f"{item.distribution} offers it, but is {item.state}: {item.cause}; {item.todo}"
        distribution = well_known().get(promise)
        if distribution is not None:
            return _how_to_get(host, distribution)
    return did_you_mean(str(key), host.names(kind)) if alike else None


def _how_to_get(host: Host, distribution: str) -> str:
    """Install the distribution; or that the one which is installed does not have it."""
    for item in host.candidates():
        if normalise(item.distribution.name) == distribution:
            return f"{item.distribution} is installed and does not have it; another version may"
    return f"pip install {distribution}"


def unknown_backend(host: Host, name: str) -> BackendError:
    """The error for a backend that no installed distribution has."""
    installed = [item.name for item in host.candidates()]
    distribution = well_known().get(f"backend.{name}")
    hint = f"pip install {distribution}" if distribution else did_you_mean(name, installed)
    return BackendError(
        f"there is no backend `{name}`",
        hint=hint or f"installed: {', '.join(sorted(set(installed))) or 'none'}",
        notes=[_lies_about(item, name) for item in _not_searched(host, name)],
    )


def owner_of(host: Host, kind: str, key: Any) -> str:
    """The backend that gave the row, acting or not."""
    make = host.kinds[kind].key
    for item in host.snapshot().contributions:
        if any(make(row) == key for row in item.rows.get(kind, ())):
            return item.owner.backend
    raise BackendError(f"{key!r} is not among the {kind} of any loaded backend", hint="load its backend first")


def resolve(host: Host, owner: str, kind: str, key: Any) -> Any:
    """The row of this owner, kind and key; several rows with one key that it owns come as a tuple."""
    if owner != "core":
        host.load(owner)
    rows = [row for row, whose in host.snapshot().enabling([owner]).entries(kind) if whose.backend == owner]
    make = host.kinds[kind].key
    found = [row for row in rows if make(row) == key]
    if not found:
        raise BackendError(
            f"`{owner}` has no {key!r} among its {kind}",
            hint="it was stored with another version of that backend",
        )
    return tuple(found) if host.kinds[kind].multi else found[0]


def _not_searched(host: Host, name: str) -> list[Candidate]:
    from .candidates import gather  # only when a name is unknown

    return [item for found in host.discovery.not_searched() for item in gather(found) if item.name == name]


def _lies_about(item: Candidate, name: str) -> str:
    place = item.distribution.location
    return (
        f"{item.distribution} in {place} has `{name}`, but the working directory and the script's are not searched; "
        f"to use it: TIRX_PLUGIN_PATH={place}"
    )


def well_known() -> dict[str, str]:
    """Promise -> the distribution known to keep it: a reviewed list, used for hints and nothing else."""
    known = {}
    with open(os.path.join(os.path.dirname(__file__), "well_known.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                distribution, *promises = line.split()
                known.update(dict.fromkeys(promises, distribution))
    return known
