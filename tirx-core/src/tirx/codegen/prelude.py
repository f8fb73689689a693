"""What stands above the functions: only the headers and definitions that something asked for."""

from __future__ import annotations

import re

from .dialect import CDialect

__all__ = ["Prelude"]

_NAME = re.compile(r"\(.*", re.DOTALL)  # what follows the name in a key


class Prelude:
    """Collects headers, helper definitions and pasted source; each once, in an order that compiles."""

    def __init__(self, dialect: CDialect) -> None:
        self._dialect = dialect
        self._headers: set[str] = set()
        self._definitions: dict[str, str] = {}
        self._foreign: set[str] = set()

    def include(self, header: str) -> None:
        """A header by its name in angle brackets; an empty name is nothing."""
        if header:
            self._headers.add(header)

    def helper(self, name: str) -> None:
        """A helper of the dialect, after those that it builds on; an empty name is nothing."""
        if not name or name in self._definitions:
            return
        found = self._dialect.helpers[name]
        for header in found.includes:
            self.include(header)
        for other in found.needs:
            self.helper(other)
        self._definitions[name] = found.text

    def define(self, key: str, text: str) -> None:
        """A definition that was made or given for this module; the same key means the same text."""
        known = self._definitions.setdefault(key, text)
        assert known == text, f"two definitions of {key}"

    def definition(self, key: str) -> str | None:
        """The definition under `key`, if there is one."""
        return self._definitions.get(key)

    def mention(self, name: str) -> None:
        """A function that is defined elsewhere."""
        self._foreign.add(name)

    def names(self) -> set[str]:
        """Functions and types that must stay visible: those of the definitions (keys begin with them), and foreign ones."""
        return self._foreign | {_NAME.sub("", key.removeprefix("function ")) for key in self._definitions}

    def sections(self) -> list[str]:
        """The texts in order: all `#include` lines together, then the definitions."""
        includes = "\n".join(f"#include <{header}>" for header in sorted(self._headers))
        return [text.strip("\n") for text in (includes, *self._definitions.values()) if text]
