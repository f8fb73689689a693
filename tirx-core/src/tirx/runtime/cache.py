"""The persistent cache of compiled binaries: an optimisation that may never get in the way.

One file per entry: a line of JSON, the bytes, and a digest over both. Written beside its final place and renamed, so that readers
see a whole entry or none, whoever else writes or dies meanwhile; whatever goes wrong (read-only or full directory, another version)
is a miss, and a damaged file is dropped. An entry that is read counts as new: over the limit, those unused for longest go first.

`TIRX_CACHE` names another directory, `TIRX_CACHE=0` turns the cache off; `TIRX_CACHE_LIMIT` is its size in MiB.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

__all__ = ["DEFAULT_LIMIT", "BinaryCache", "CacheInfo"]

DEFAULT_LIMIT = 1024
"""MiB that entries may take where `TIRX_CACHE_LIMIT` says nothing."""

_MAGIC = b"tirx-binary-1\n"
_SUFFIX = ".tirx"  # only files that end in it are ours to evict and clear: the directory may hold others
_DRAFT = ".new-"
_ABANDONED = 3600.0  # seconds after which nobody is still writing a draft
_ROOM = 0.8  # evicting makes some room, so that not every compilation evicts


class CacheInfo(NamedTuple):
    """What a cache holds; times are seconds since the epoch, None without entries."""

    directory: str | None
    entries: int
    bytes: int
    limit: int
    oldest: float | None
    newest: float | None


class BinaryCache:
    """Entries below `directory` (None: caching is off), of `limit` bytes together."""

    __slots__ = ("directory", "limit")

    def __init__(self, directory: Path | None, limit: int = DEFAULT_LIMIT << 20) -> None:
        self.directory = directory
        self.limit = limit

    @classmethod
    def from_environment(cls) -> BinaryCache:
        """The cache that the environment asks for."""
        setting = os.environ.get("TIRX_CACHE", "")
        if setting == "0":
            return cls(None)
        size = os.environ.get("TIRX_CACHE_LIMIT", "")
        limit = int(size) if size.isdecimal() else DEFAULT_LIMIT
        return cls(Path(setting) if setting else Path(platformdirs.user_cache_dir("tirx")) / "binaries", limit << 20)

    @staticmethod
    def key(parts: Mapping[str, Any]) -> str:
        """The name of an entry: a digest of everything that decides its content."""
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()

    def path(self, key: str) -> Path | None:
        """Where an entry lies, or would."""
        return None if self.directory is None else self.directory / f"{key}{_SUFFIX}"

    def get(self, key: str) -> tuple[Mapping[str, Any], bytes] | None:
        """Header and bytes of an entry, or None; a damaged one is dropped."""
        path = self.path(key)
        if path is None:
            return None
        try:
            content = path.read_bytes()
        except OSError:
            return None
        with contextlib.suppress(OSError):  # read-only directories are fine to read from
            os.utime(path)
        try:
            return _read(content)
        except ValueError:
            self.drop(key)
            return None

    def put(self, key: str, header: Mapping[str, Any], data: bytes) -> bool:
        """Store an entry; False when that was not possible."""
        path = self.path(key)
        if path is None:
            return False
        body = _MAGIC + json.dumps(header).encode() + b"\n" + data
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, body + hashlib.sha256(body).digest())
        except OSError:
            return False
        self.evict(keep=path)
        return True

    def drop(self, key: str) -> None:
        """Forget one entry."""
        path = self.path(key)
        if path is not None:
            _remove([path])

    def evict(self, keep: Path | None = None) -> int:
        """Remove what was unused for longest until the rest fits, and drafts that their writers left; the number removed."""
        drafts = [file.path for file in self._files(drafts=True) if time.time() - file.used > _ABANDONED]
        files = sorted(self._files(), key=lambda file: (file.path == keep, file.used))
        total = sum(file.size for file in files)
        if total <= self.limit:
            return _remove(drafts)
        gone: list[Path] = []
        for file in files:
            if total <= self.limit * _ROOM or file.path == keep:
                break
            gone.append(file.path)
            total -= file.size
        return _remove([*drafts, *gone])

    def clear(self) -> int:
        """Remove all entries and drafts; the number removed."""
        return _remove([file.path for drafts in (False, True) for file in self._files(drafts=drafts)])

    def info(self) -> CacheInfo:
        """How much there is, and of what age."""
        files = list(self._files())
        used = [file.used for file in files]
        place = None if self.directory is None else str(self.directory)
        size = sum(file.size for file in files)
        return CacheInfo(place, len(files), size, self.limit, min(used, default=None), max(used, default=None))

    def _files(self, *, drafts: bool = False) -> Iterator[_File]:
        """Entries, or drafts of entries; others may remove them at any moment."""
        try:
            paths = list(self.directory.iterdir()) if self.directory is not None else []
        except OSError:
            return
        for path in paths:
            if path.suffix == _SUFFIX and path.name.startswith(_DRAFT) == drafts:
                with contextlib.suppress(OSError):
                    found = path.stat()
                    yield _File(path, found.st_size, found.st_mtime)


class _File(NamedTuple):
    path: Path
    size: int
    used: float


def _read(content: bytes) -> tuple[Mapping[str, Any], bytes]:
    body, digest = content[:-32], content[-32:]
    if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != digest:
        raise ValueError("damaged entry")
    header, _, data = body[len(_MAGIC) :].partition(b"\n")
    found: Mapping[str, Any] = json.loads(header)
    return found, data


def _write(path: Path, content: bytes) -> None:
    """All of it under this name, or nothing."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=_DRAFT, suffix=_SUFFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(draft, path)
    except BaseException:  # Ctrl-C leaves no draft either
        _remove([Path(draft)])
        raise


def _remove(paths: Iterable[Path]) -> int:
    count = 0
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()
            count += 1
    return count
