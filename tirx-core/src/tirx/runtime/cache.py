"""The persistent cache of compiled binaries: an optimisation that may never get in the way.

One file per entry: a line of JSON, the bytes, and a digest over both. Written beside its final place and renamed, so that readers
see a whole entry or none; whatever goes wrong (read-only or full directory, a damaged file, another version) is a miss.
`TIRX_CACHE` names another directory; `TIRX_CACHE=0` turns it off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import platformdirs

__all__ = ["BinaryCache"]

_MAGIC = b"tirx-binary-1\n"


class BinaryCache:
    """Entries below `directory` (None: caching is off)."""

    __slots__ = ("directory",)

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory

    @classmethod
    def from_environment(cls) -> BinaryCache:
        """The cache that the environment asks for."""
        setting = os.environ.get("TIRX_CACHE", "")
        if setting == "0":
            return cls(None)
        return cls(Path(setting) if setting else Path(platformdirs.user_cache_dir("tirx")) / "binaries")

    @staticmethod
    def key(parts: Iterable[str]) -> str:
        """The name of an entry: a digest of everything that decides its content."""
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode()
            digest.update(f"{len(data)}:".encode() + data)
        return digest.hexdigest()

    def get(self, key: str) -> tuple[Mapping[str, Any], bytes] | None:
        """Header and bytes of an entry, or None."""
        if self.directory is None:
            return None
        try:
            return _read((self.directory / key).read_bytes())
        except (OSError, ValueError):
            return None

    def put(self, key: str, header: Mapping[str, Any], data: bytes) -> bool:
        """Store an entry; False when that was not possible."""
        if self.directory is None:
            return False
        body = _MAGIC + json.dumps(header).encode() + b"\n" + data
        name = ""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.directory, prefix=".new-")
            with os.fdopen(handle, "wb") as file:
                file.write(body + hashlib.sha256(body).digest())
            os.replace(name, self.directory / key)
        except OSError:
            if name:
                with contextlib.suppress(OSError):
                    os.unlink(name)
            return False
        return True


def _read(content: bytes) -> tuple[Mapping[str, Any], bytes]:
    body, digest = content[:-32], content[-32:]
    if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != digest:
        raise ValueError("damaged entry")
    header, _, data = body[len(_MAGIC) :].partition(b"\n")
    found: Mapping[str, Any] = json.loads(header)
    return found, data
