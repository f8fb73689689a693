"""Which extensions a person or a project has enabled."""

from __future__ import annotations

import os
from importlib import import_module

from tirx.support.errors import BackendError

from .metadata import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .metadata import Stamp

__all__ = ["EnabledExtensions"]

_FILE = "pyproject.toml"


class EnabledExtensions:
    """Extensions named in `TIRX_EXTENSIONS`, or else in the project's file, read again when either changes.

    The project's file is the nearest `pyproject.toml` at or above the working directory:

        [tool.tirx]
        extensions = ["acme.fast"]
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._files: dict[str, str] = {}
        self._seen: tuple[str | None, str, Stamp] | None = None
        self._names: frozenset[str] = frozenset()

    def names(self) -> frozenset[str]:
        """The enabled extensions."""
        setting = self._environ.get("TIRX_EXTENSIONS")
        file = self._project_file() if setting is None else ""
        state = (setting, file, stamp(file) if file else ())
        if state != self._seen:
            self._names = _of_setting(setting) if setting is not None else _of_file(file)
            self._seen = state
        return self._names

    def forget(self) -> None:
        """Look for the project's file again."""
        self._files.clear()
        self._seen = None

    def _project_file(self) -> str:
        try:
            here = os.getcwd()
        except OSError:  # it was deleted
            return ""
        if here not in self._files:
            self._files[here] = _nearest(here)
        return self._files[here]


def _nearest(folder: str) -> str:
    while True:
        file = os.path.join(folder, _FILE)
        if os.path.isfile(file):
            return file
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def _of_setting(setting: str) -> frozenset[str]:
    return frozenset(part.strip() for part in setting.split(",") if part.strip())


def _of_file(file: str) -> frozenset[str]:
    table = _read(file).get("tool", {}).get("tirx", {}) if file else {}
    names = table.get("extensions", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BackendError(
            f"`extensions` in [tool.tirx] of {file} is {names!r}",
            hint='write a list of names: extensions = ["acme.fast"]',
        )
    return frozenset(names)


def _read(file: str) -> dict[str, Any]:
    with open(file, "rb") as stream:
        text = stream.read().decode(errors="replace")
    if "tool.tirx" not in text:  # most projects; the parser takes longer to import than all else here
        return {}
    toml = _toml()
    try:
        found: dict[str, Any] = toml.loads(text)
    except toml.TOMLDecodeError as error:
        raise BackendError(f"{file} cannot be read: {error}", hint="TIRX_EXTENSIONS overrides it") from None
    return found


def _toml() -> Any:
    try:
        return import_module("tomllib")
    except ImportError:  # Python 3.10
        return import_module("tomli")
