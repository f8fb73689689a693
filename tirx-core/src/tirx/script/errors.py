"""Errors for names that the language does not have."""

from __future__ import annotations

from ..ir import current_span
from ..support.errors import BackendError
from ..support.span import here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["UnknownImportError", "UnknownNameError"]


class UnknownImportError(BackendError, ImportError):
    """`from tirx.script import <name>`: there is no such name."""


class UnknownNameError(BackendError, AttributeError):
    """`Tx.<name>` does not exist; the message says what comes near, or what to install."""

    def __init__(self, message: str, *, name: str, obj: Any, hint: str | None) -> None:
        BackendError.__init__(self, message, span=current_span() or here(2), hint=hint)
        self.name = name
        self.obj = obj
