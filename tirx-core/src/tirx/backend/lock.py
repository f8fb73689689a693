"""The lock: which distributions a deployment was tested with, and what lies in the files that it really imports.

`tirx backends lock` writes it, `tirx backends verify` holds an installation against it, and while `TIRX_BACKENDS_LOCK` names it, no
plugin is imported that differs. The digest covers the trees that Python would import now (an editable's checkout, a copy that shadows
another), not what an installer once recorded. Compiled caches (`__pycache__`) are left out: they differ between machines.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from importlib.machinery import PathFinder

from tirx.support.errors import BackendError

from .spelling import normalise, split_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from .candidates import Candidate
    from .host import Host

__all__ = ["DEFAULT_FILE", "SETTING", "check_locked", "make_lock", "read_lock", "verify_lock", "write_lock"]

DEFAULT_FILE = "tirx-backends.lock"
SETTING = "TIRX_BACKENDS_LOCK"

_FORMAT = 1
_CODE = (".py", ".so", ".pyd")
_LEFT_OUT = (".pyc", ".pyo")


def make_lock(host: Host, *, editables: bool = True) -> dict[str, Any]:
    """The lock of what this process could import: core, and every distribution with a usable backend or extension."""
    entries = [_core_entry(host), *(_entry(items) for items in _by_distribution(host).values())]
    edited = [item["distribution"] for item in entries if item["editable"]]
    if edited and not editables:
        raise BackendError(
            f"installed in editable mode, so that its files may change: {', '.join(edited)}",
            hint="install wheels, or lock the trees as they are now (without --no-editables)",
        )
    return {"format": _FORMAT, "distributions": entries}


def write_lock(lock: Mapping[str, Any], file: str) -> None:
    """Write a lock; readers see the old file or the new."""
    draft = f"{file}.{os.getpid()}"
    try:
        with open(draft, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(lock, indent=2) + "\n")
        os.replace(draft, file)
    except OSError as error:
        raise BackendError(f"cannot write {file}: {error.strerror}", hint="choose another file") from None


def read_lock(file: str) -> dict[str, dict[str, Any]]:
    """The entries of a lock by normalised distribution. What cannot be understood locks nothing, so it is an error."""
    again = f"write it again: tirx backends lock {file}"
    try:
        with open(file, encoding="utf-8") as stream:
            found = json.load(stream)
    except OSError as error:
        raise BackendError(f"the lock {file} cannot be read: {error.strerror}", hint=again) from None
    except ValueError as error:
        raise BackendError(f"the lock {file} is damaged: {error}", hint=again) from None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise BackendError(f"the lock {file} is not of format {_FORMAT}", hint=again)
    try:
        return {normalise(item["distribution"]): {**item, "digest": item["digest"]} for item in found["distributions"]}
    except (AttributeError, KeyError, TypeError):
        raise BackendError(f"the lock {file} is damaged: entries lack their fields", hint=again) from None


def verify_lock(host: Host, file: str) -> list[dict[str, str]]:
    """What differs between an installation and a lock: distribution, what is wrong, what to do."""
    locked = read_lock(file)
    found = {normalise(item["distribution"]): item for item in make_lock(host)["distributions"]}
    problems = [(item["distribution"], _difference(item, locked.get(name))) for name, item in found.items()]
    problems += [
        (item["distribution"], f"{item['version']} is locked, and not installed or not usable")
        for name, item in locked.items()
        if name not in found
    ]
    return [{"distribution": name, "problem": problem} for name, problem in problems if problem]


def check_locked(host: Host, candidate: Candidate) -> None:
    """Refuse a plugin that the lock of the settings does not have just so; what the program registers is its own affair."""
    file = host.environ.get(SETTING)
    if not file or not candidate.distribution.metadata:
        return
    entry = read_lock(file).get(normalise(candidate.distribution.name))
    problem = _difference(_entry([candidate]), entry)
    if problem:
        raise BackendError(
            f"{candidate.distribution.name} is not as {file} ({SETTING}) has it: {problem}",
            hint=f"install what was tested, or test this and lock it: tirx backends lock {file}",
        )


def _difference(item: Mapping[str, Any], locked: Mapping[str, Any] | None) -> str:
    if locked is None:
        return f"{item['version']} is installed, and not locked"
    if item["version"] != locked.get("version"):
        return f"{item['version']} is installed, {locked.get('version')} is locked"
    if item["digest"] != locked["digest"]:
        return f"the files of {item['version']} are not those that were locked"
    return ""


# ---- one distribution ---------------------------------------------------------------------------------------------


def _by_distribution(host: Host) -> dict[str, list[Candidate]]:
    found: dict[str, list[Candidate]] = {}
    for item in host.candidates():
        if item.usable and item.distribution.metadata:
            found.setdefault(normalise(item.distribution.name), []).append(item)
    return dict(sorted(found.items()))


def _entry(candidates: list[Candidate]) -> dict[str, Any]:
    home = candidates[0].distribution
    modules = {split_value(value)[0] for group, _, value in home.entries if group.startswith("tirx.")}
    tops = {module.partition(".")[0] for module in modules} | set(_recorded(home.metadata))
    roots = {root for top in tops for root in _roots(top, modules, home.location)}
    return {
        "distribution": home.name,
        "version": home.version,
        "backends": sorted(item.name for item in candidates),
        "editable": any(not _is_below(root, home.location) for root in roots),
        "digest": _digest(sorted(roots)),
    }


def _core_entry(host: Host) -> dict[str, Any]:
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = any(
        name.startswith("tirx_core-") and name.endswith(".dist-info") for name in _names(os.path.dirname(root))
    )
    return {
        "distribution": host.core_owner.distribution,
        "version": host.core_owner.version,
        "backends": ["core"],
        "editable": not installed,
        "digest": _digest([root]),
    }


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _recorded(metadata: str) -> Iterator[str]:
    """Top-level modules among the files that an installer recorded."""
    try:
        with open(os.path.join(metadata, "RECORD"), encoding="utf-8") as file:
            paths = [line.rpartition(",")[0].rpartition(",")[0].strip('"') for line in file]
    except OSError:
        return
    for path in paths:
        top = path.partition("/")[0].partition(".")[0]
        if path.endswith(_CODE) and top.isidentifier() and not top.startswith("__editable__"):
            yield top


def _roots(top: str, modules: Iterable[str], location: str) -> list[str]:
    """The folders and files that `import top` would read; below a namespace package, those of the plugin's own module."""
    spec = _spec(top, location)
    if spec is None:
        return []
    if spec.origin is not None:
        return list(spec.submodule_search_locations or [spec.origin])
    found = []
    for module in modules:
        step, parts = spec, module.split(".")
        for name in parts[1:] if parts[0] == top else ():
            step = PathFinder.find_spec(name, list(step.submodule_search_locations or ()))
            if step is None or step.origin is not None:
                break
        if step is not None and step.origin is not None:
            found += list(step.submodule_search_locations or [step.origin])
    return found


def _spec(top: str, location: str) -> Any:
    loaded = getattr(sys.modules.get(top), "__spec__", None)
    if loaded is not None:
        return loaded
    finders = [finder.find_spec for finder in sys.meta_path if hasattr(finder, "find_spec")]
    found = (
        find(top, place) for find, place in [*((find, None) for find in finders), (PathFinder.find_spec, [location])]
    )
    return next((spec for spec in found if spec is not None), None)


# ---- files --------------------------------------------------------------------------------------------------------


def _is_below(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)


def _digest(roots: Iterable[str]) -> str:
    """A digest of names and contents of all files below these roots, wherever the roots lie."""
    lines = sorted(f"{name}\0{_content(path)}\n" for root in roots for name, path in _files(root))
    return f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"


def _files(root: str) -> Iterator[tuple[str, str]]:
    """(name below the root's parent, path) of every file; what lies in an archive is the archive."""
    base = os.path.dirname(root)
    if not os.path.isdir(root):
        while root and not os.path.isfile(root) and os.path.dirname(root) != root:
            root = os.path.dirname(root)
        if os.path.isfile(root):
            yield os.path.basename(root), root
        return
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name != "__pycache__"]
        for name in names:
            if not name.endswith(_LEFT_OUT):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, base).replace(os.sep, "/"), path


def _content(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
