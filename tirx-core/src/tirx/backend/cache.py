"""The discovery cache: what was found in one folder of the path, kept in one small text file.

The cache is an optimisation and nothing else: whatever is wrong with it means that the folder is scanned again.
The format is lines of tab-separated fields, because importing `json` takes longer than reading this.
"""

from __future__ import annotations

import os
from binascii import crc32

from .metadata import Distribution, Folder, Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["cache_folder", "drop", "read", "write"]

_FIRST = "tirx discovery 1"
_LAST = "end"
_FRESH_NS = 2_000_000_000  # a folder changed this recently may change again without its time stamp moving


def cache_folder(environ: Mapping[str, str]) -> str | None:
    """Where the cache lies; None when `TIRX_PLUGIN_CACHE=0` or there is no home."""
    setting = environ.get("TIRX_PLUGIN_CACHE")
    if setting is not None:
        return None if setting.strip() in ("", "0") else os.path.abspath(setting)
    base = environ.get("XDG_CACHE_HOME") or environ.get("LOCALAPPDATA")
    if base is None:
        home = os.path.expanduser("~")
        if home == "~":
            return None
        base = os.path.join(home, ".cache")
    return os.path.join(base, "tirx", "plugins")


def read(cache: str, path: str, key: Stamp) -> Folder | None:
    """What the cache knows of the folder `path` as long as its stamp is `key` and no watched file changed."""
    try:
        with open(_file(cache, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        if lines[0] != "\t".join((_FIRST, path, _written(key))) or lines[-1] != _LAST:
            return None
        folder = _parse(path, lines)
    except (OSError, ValueError, IndexError):
        return None
    return folder if folder.is_current() else None


def write(cache: str, folder: Folder, key: Stamp, now_ns: int) -> None:
    """Keep a folder's contents under its stamp, unless it changed just now. Others see the old file or the new."""
    try:
        if now_ns - key[2] < _FRESH_NS:
            return
        lines = ["\t".join(fields) for fields in _fields(folder, key)]
        if any("\n" in line or line.count("\t") > 4 for line in lines):
            return
        os.makedirs(cache, exist_ok=True)
        target = _file(cache, folder.path)
        draft = f"{target}.{os.getpid()}"
        with open(draft, "w", encoding="utf-8", newline="") as file:
            file.write("\n".join([*lines, _LAST]))
        os.replace(draft, target)
    except (OSError, ValueError, IndexError):
        return


def drop(cache: str, path: str) -> None:
    """Forget what was found in a folder."""
    try:
        os.remove(_file(cache, path))
    except OSError:
        return


def _written(key: Stamp) -> str:
    return " ".join(map(str, key))


def _file(cache: str, path: str) -> str:
    return os.path.join(cache, f"{crc32(path.encode('utf-8', 'surrogateescape')):08x}.txt")


def _fields(folder: Folder, key: Stamp) -> Iterator[tuple[str, ...]]:
    yield (_FIRST, folder.path, _written(key))
    names = folder.names if isinstance(folder.names, str) else f" {' '.join(sorted(folder.names))} "
    yield ("names", names)
    for file, seen in folder.watched:
        yield ("watch", file, _written(seen))
    for item in folder.distributions:
        yield ("distribution", item.name, item.version, item.metadata)
        for entry in item.entries:
            yield ("entry", *entry)


def _parse(path: str, lines: list[str]) -> Folder:
    names = ""
    watched: list[tuple[str, Stamp]] = []
    heads: list[tuple[str, str, str]] = []
    entries: list[list[tuple[str, str, str]]] = []
    for line in lines[1:-1]:
        what, *rest = line.split("\t")
        if what == "names":
            (names,) = rest
        elif what == "watch":
            file, seen = rest
            watched.append((file, tuple(map(int, seen.split()))))
        elif what == "distribution":
            name, version, metadata = rest
            heads.append((name, version, metadata))
            entries.append([])
        elif what == "entry":
            group, entry, value = rest
            entries[-1].append((group, entry, value))
        else:
            raise ValueError(line)
    distributions = [
        Distribution(name, version, path, metadata, found)
        for (name, version, metadata), found in zip(heads, entries, strict=True)
    ]
    return Folder(path, names, distributions, watched)
