"""Errors of layouts, placed at the author's line: in a kernel, or in plain code around it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..support.errors import LayoutError
from ..support.span import here

__all__ = ["mistake", "numbers", "shown"]


def mistake(message: str, hint: str | None) -> LayoutError:
    """What is wrong and what to do about it, at the innermost line that is not ours."""
    return LayoutError(message, span=here(2), hint=hint)


def shown(value: Any) -> str:
    """A value as its author wrote it."""
    return f"`{value.script()}`" if hasattr(value, "script") else repr(value)


def numbers(values: Iterable[Any]) -> str:
    """Numbers and expressions between commas."""
    return ", ".join(value.script() if hasattr(value, "script") else str(value) for value in values)
