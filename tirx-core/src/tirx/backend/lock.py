"""The lock: which distributions a deployment was tested with, and what lies in the files that it really imports.

`tirx backends lock` writes it, `tirx backends verify` holds an installation against it, and while `TIRX_BACKENDS_LOCK` names it, no
plugin is imported that differs, nor beside a core that differs. The digest covers the entry points, and the trees that Python would import
now (an editable's checkout, a copy that shadows another, what a link points to), not what an installer once recorded. Compiled caches
(`__pycache__`) are left out: they differ between machines. It holds for the Python that it was made with.
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
_CODE = (".py", ".so", ".pyd", ".pyc")
_PYTHON = sys.implementation.cache_tag


def make_lock(host: Host, *, editables: bool = True) -> dict[str, Any]:
    """The lock of what this process could import: core, and every distribution with a usable backend or extension."""
    entries = [_core_entry(host), *(_entry(items) for items in _by_distribution(host).values())]
    edited = [item["distribution"] for item in entries if item["editable"]]
    if edited and not editables:
        raise BackendError(
            f"installed in editable mode, so that its files may change: {', '.join(edited)}",
            hint="install wheels, or lock the trees as they are now (without --no-editables)",
        )
    return {"format": _FORMAT, "python": _PYTHON, "distributions": entries}


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
    """The entries of a lock by normalised distribution. What cannot be understood locks nothing, so it is an error.

    So is a lock that was made with another Python: what that imports was not looked at.
    """
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
    if found.get("python") != _PYTHON:
        raise BackendError(f"the lock {file} was made with {found.get('python')}, and this is {_PYTHON}", hint=again)
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
    locked = read_lock(file)
    for item in (_core_as_imported(host), _entry([candidate])):
        problem = _difference(item, locked.get(normalise(item["distribution"])))
        if problem:
            raise BackendError(
                f"{item['distribution']} is not as {file} ({SETTING}) has it: {problem}",
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
    points = [entry for entry in home.entries if entry[0].startswith("tirx.")]
    modules = {split_value(value)[0] for _, _, value in points} | set(_recorded(home.metadata))
    tops = {module.partition(".")[0] for module in modules}
    roots = {root for top in tops for root in _roots(top, modules, home.location)}
    roots |= set(_started(home.metadata))
    return {
        "distribution": home.name,
        "version": home.version,
        "backends": sorted(item.name for item in candidates),
        "editable": any(not _is_below(root, home.location) for root in roots),
        "digest": _digest(sorted(roots), points),
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


_imported: dict[str, Any] = {}


def _core_as_imported(host: Host) -> dict[str, Any]:
    """The entry of the core that runs, found once: its files are read already."""
    if not _imported:
        _imported.update(_core_entry(host))
    return _imported


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _paths(metadata: str) -> list[str]:
    """The files that an installer recorded, as paths below the folder that the metadata lies in."""
    try:
        with open(os.path.join(metadata, "RECORD"), encoding="utf-8") as file:
            return [line.rpartition(",")[0].rpartition(",")[0].strip('"') for line in file]
    except OSError:
        return []


def _recorded(metadata: str) -> Iterator[str]:
    """Modules among the files that an installer recorded, by their dotted names."""
    for path in _paths(metadata):
        *folders, name = path.split("/")
        parts = [*folders, name.partition(".")[0]]
        known = all(part.isidentifier() for part in parts) and "__pycache__" not in folders
        if path.endswith(_CODE) and known and not parts[0].startswith("__editable__"):
            yield ".".join(parts[:-1] if parts[-1] == "__init__" and folders else parts)


def _started(metadata: str) -> Iterator[str]:
    """Files that Python runs when it starts, because the distribution put them there. An editable's say only where its tree is."""
    for path in _paths(metadata):
        if path.endswith(".pth") and "/" not in path and "editable" not in path:
            yield os.path.join(os.path.dirname(metadata), path)


def _roots(top: str, modules: Iterable[str], location: str) -> list[str]:
    """The folders and files that `import top` would read; below a namespace package, those of the distribution's own modules."""
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


def _digest(roots: Iterable[str], points: Iterable[tuple[str, str, str]] = ()) -> str:
    """A digest of entry points, and of names and contents of all files below these roots, wherever the roots lie."""
    lines = sorted("\0".join(point) + "\n" for point in points)
    lines += sorted(f"{name}\0{_content(path)}\n" for root in roots for name, path in _files(root))
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
    walked: set[str] = set()
    for folder, below, names in os.walk(root, followlinks=True):  # Python imports through links
        real = os.path.realpath(folder)
        below[:] = [] if real in walked else [name for name in below if name != "__pycache__"]
        walked.add(real)
        for name in names:
            path = os.path.join(folder, name)
            yield os.path.relpath(path, base).replace(os.sep, "/"), path


def _content(path: str) -> str:
    """The digest of a file; what cannot be read cannot be imported either."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        return error.strerror or "unreadable"
