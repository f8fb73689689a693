"""What the installed metadata says, before anything is imported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ...backend import default_host, registry
from ...backend.spelling import API_VERSIONS, normalise
from .check import ConformanceCheck
from .subject import Subject

__all__ = ["CHECKS"]


def _found(subject: Subject) -> Iterator[str]:
    item = subject.candidate
    if not item.usable and set(item.apis) & set(API_VERSIONS):  # another API is a check of its own
        yield f"`{item.name}` of {item.distribution} is {item.state}: {item.cause}; {item.todo}"


def _api_window(subject: Subject) -> Iterator[str]:
    item = subject.candidate
    if not set(item.apis) & set(API_VERSIONS):
        yield f"it speaks plugin API {sorted(item.apis)}, this core speaks {list(API_VERSIONS)}"


def _requires_core(subject: Subject) -> Iterator[str]:
    requirements = _requirements(subject)
    if requirements is None:
        return
    plain = [item.partition(";")[0] for item in requirements if "extra ==" not in item]
    core = [item for item in plain if _named(item) in _hosts(subject)]
    if not core:
        yield f"{subject.candidate.distribution.name} does not depend on {' or '.join(_hosts(subject))}"
    yield from (f"it depends on one version of core: {item}" for item in core if "==" in item and "*" not in item)


def _hosts(subject: Subject) -> list[str]:
    """The distributions that it adds to: core, and for an extension its host's."""
    found = [item.distribution.name for item in default_host().candidates() if item.name == subject.host]
    return ["tirx-core", *(map(normalise, found) if subject.extensions else ())]


def _named(requirement: str) -> str:
    """The distribution that a requirement names."""
    for mark in "[(<>=!~; ":
        requirement = requirement.partition(mark)[0]
    return normalise(requirement)


def _requirements(subject: Subject) -> list[str] | None:
    """What the metadata requires; None for a backend without a folder of metadata."""
    folder = Path(subject.candidate.distribution.metadata or os.devnull)
    for file in (folder / "METADATA", folder / "PKG-INFO"):
        if file.is_file():
            head = file.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
            return [line.partition(":")[2].strip() for line in head.splitlines() if line.startswith("Requires-Dist:")]
    return None


def _promises(subject: Subject) -> Iterator[str]:
    promised = set(subject.candidate.promises)
    for kind in registry().kinds.values():
        for row in subject.rows(kind.name):
            names = kind.promised(kind.key(row))
            if names and not promised & set(names):
                yield f"{kind.hook} gives {kind.key(row)!r}, which the manifest does not promise ({' or '.join(names)})"


CHECKS = (
    ConformanceCheck(
        "manifest.found",
        _found,
        "core finds the backend and may load it",
        "follow what is said behind the cause; `tirx why NAME` tells the rule",
        after=(),
    ),
    ConformanceCheck(
        "manifest.api_window",
        _api_window,
        "the backend speaks a plugin API of this core",
        "name the entry-point group after an API of the window: tirx.api.v1",
        after=(),
    ),
    ConformanceCheck(
        "manifest.requires_core",
        _requires_core,
        "the distribution depends on tirx-core, and on a range of versions",
        'write dependencies = ["tirx-core>=0.1,<0.2"]: an equality makes every release of core break the backend',
        after=(),
    ),
    ConformanceCheck(
        "manifest.promises",
        _promises,
        "everything that is asked for by name is promised, so that it is found before the load",
        "add the missing names to the group tirx.provides of pyproject.toml and install again",
    ),
)
