"""Which installed distributions have entry points of ours, found without importing any of them.

Each folder of the path is scanned once and remembered under its stamp, in memory and in the cache on disk. A fresh
process reads a few small files; asking again takes a few `stat` calls. What is not a plain folder (zip files) goes
through importlib-metadata; a metadata finder that nobody knows sends everything there.
"""

from __future__ import annotations

import os
import sys
import time

from .cache import cache_folder, drop, read, write
from .metadata import Distribution, Folder, Stamp, parse_entry_points, scan_folder, stamp
from .spelling import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

__all__ = ["Discovery", "Found"]

# Finders of metadata that only see what lies on the path. importlib-metadata is often vendored, so the end counts.
_KNOWN_FINDERS = (("_frozen_importlib_external", "PathFinder"), ("importlib_metadata", "MetadataPathFinder"))


class Found:
    """A distribution of ours, and the place of another with the same name that comes earlier on the path, if any."""

    __slots__ = ("distribution", "shadowed_by")

    def __init__(self, distribution: Distribution, shadowed_by: str = "") -> None:
        self.distribution = distribution
        self.shadowed_by = shadowed_by


class Discovery:
    """Finds distributions along a path; asking again returns the same tuple as long as nothing changed."""

    def __init__(
        self, path: Callable[[], Sequence[str]] | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self._path = path or (lambda: sys.path)
        self._environ = os.environ if environ is None else environ
        self._folders: dict[str, tuple[Stamp, Folder]] = {}
        self._last: tuple[Any, tuple[Found, ...]] = (None, ())  # one reference, so that threads see both or neither
        self._start = _working_directory()

    def find(self) -> tuple[Found, ...]:
        """All distributions of ours, in the order of the path."""
        if not all(map(_is_known, sys.meta_path)):
            return self._find_with_finders()
        state = self._state()
        seen, found = self._last
        if state != seen:
            found = _shadow([self._folder(path, key) for path, key, _ in state])
            self._last = (self._state(), found)  # asked again: reading the folders renewed what is watched
        return found

    def forget(self) -> None:
        """Scan everything again at the next question, whatever memory and disk remember."""
        folder = cache_folder(self._environ)
        if folder is not None:
            for path, _ in self._search_path():
                drop(folder, path)
        self._folders.clear()
        self._last = (None, ())

    def not_searched(self) -> tuple[Distribution, ...]:
        """Distributions in the working directory or the script's own, which are never used unless they are named."""
        searched = {path for path, _ in self._search_path()}
        skipped = [path for path in _own_folders(self._start) if path and path not in searched and os.path.isdir(path)]
        return tuple(item for path in dict.fromkeys(skipped) for item in scan_folder(path).distributions)

    def named_folders(self) -> list[str]:
        """The folders of `TIRX_PLUGIN_PATH`."""
        setting = self._environ.get("TIRX_PLUGIN_PATH", "")
        return [os.path.abspath(part) for part in setting.split(os.pathsep) if part]

    def _search_path(self) -> list[tuple[str, Stamp]]:
        """(folder, stamp) to search, each once, even if it is on the path under two names."""
        skipped = [stamp(path) for path in _own_folders(self._start)]
        found: dict[Stamp | str, tuple[str, Stamp]] = {}
        for path in self._path():
            identity, key = _identity_and_key(path) if path else ("", ())
            if key and (key not in skipped or path in _site_folders()):
                found.setdefault(identity, (path, key))
        for path in self.named_folders():
            identity, key = _identity_and_key(path)
            if key:
                found.setdefault(identity, (path, key))
        return list(found.values())

    def _state(self) -> tuple[tuple[str, Stamp, bool], ...]:
        return tuple((path, key, self._is_current(path)) for path, key in self._search_path())

    def _is_current(self, path: str) -> bool:
        known = self._folders.get(path)
        return known is not None and known[1].is_current()

    def _folder(self, path: str, key: Stamp) -> Folder:
        known = self._folders.get(path)
        if known is not None and known[0] == key and self._is_current(path):
            return known[1]
        folder = self._read(path, key)
        self._folders[path] = (key, folder)
        return folder

    def _read(self, path: str, key: Stamp) -> Folder:
        place = cache_folder(self._environ)
        folder = None if place is None else read(place, path, key)
        if folder is not None:
            return folder
        folder = scan_folder(path) if os.path.isdir(path) else _scan_other(path)
        if place is not None:
            write(place, folder, key, time.time_ns())
        return folder

    def _find_with_finders(self) -> tuple[Found, ...]:
        """Ask everybody who may know of distributions; nothing is remembered, since their answers carry no stamp."""
        path = [folder for folder, _ in self._search_path()]
        return _shadow([_read_slowly(_metadata().distributions(path=path))])


def _identity_and_key(path: str) -> tuple[Stamp | str, Stamp]:
    """(equal for two names of one folder, the stamp); a place inside a zip file has the zip file's stamp."""
    key = stamp(path)
    if key:
        return key[:2], key
    parent = _zip_parent(path)
    return path, stamp(parent) if parent else ()


def _shadow(folders: Iterable[Folder]) -> tuple[Found, ...]:
    """The same distribution twice: the first on the path is the one that Python imports."""
    earlier: list[Folder] = []
    found = []
    for folder in folders:
        here: dict[str, str] = {}
        for item in folder.distributions:
            name = normalise(item.name)
            shadow = next((other.path for other in earlier if other.has(name)), here.get(name, ""))
            here[name] = item.metadata
            found.append(Found(item, shadow))
        earlier.append(folder)
    return tuple(found)


def _own_folders(start: str) -> list[str]:
    """The working directory, now and at the start, and the folder of the script that runs."""
    main = sys.modules.get("__main__")
    script = getattr(main, "__file__", None)
    folders = [_working_directory()]
    if start != folders[0]:
        folders.append(start)
    if isinstance(script, str) and getattr(main, "__spec__", None) is None:
        folders.append(os.path.dirname(os.path.abspath(script)))
    return folders


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return ""


def _site_folders() -> list[str]:
    """Where installers put distributions; these are searched even by somebody who works inside."""
    import site  # nearly always loaded already

    return [*site.getsitepackages(), site.getusersitepackages()]


def _is_known(finder: Any) -> bool:
    """Whether a finder finds no distributions of its own beyond what lies on the path."""
    if not hasattr(finder, "find_distributions"):
        return True
    kind = finder if isinstance(finder, type) else type(finder)
    return any(kind.__module__.endswith(module) and kind.__qualname__ == name for module, name in _KNOWN_FINDERS)


def _zip_parent(path: str) -> str:
    """The file that `path` lies in, when it is a place inside a zip file."""
    parent = os.path.dirname(path)
    while parent and not os.path.exists(parent):
        parent = os.path.dirname(parent)
    return parent if os.path.isfile(parent) else ""


def _scan_other(path: str) -> Folder:
    """A zip file or a place inside one."""
    metadata = _metadata()
    context = metadata.DistributionFinder.Context(path=[path])
    folder = _read_slowly(metadata.MetadataPathFinder.find_distributions(context))
    return Folder(path, folder.names, folder.distributions)


def _read_slowly(distributions: Iterable[Any]) -> Folder:
    names = set()
    found = []
    for item in distributions:
        name = item.metadata["Name"]
        if not name:
            continue
        seen_before = normalise(name) in names
        names.add(normalise(name))
        entries = [] if seen_before else parse_entry_points(item.read_text("entry_points.txt") or "")
        if entries:
            location = str(item.locate_file(""))
            found.append(Distribution(name, item.version or "0", location, location, entries))
    return Folder("", frozenset(names), found)


def _metadata() -> Any:
    """importlib-metadata, which behaves alike under all Pythons; the standard library's where it is missing."""
    try:
        import importlib_metadata as metadata
    except ImportError:
        from importlib import metadata  # type: ignore[no-redef]
    return metadata
