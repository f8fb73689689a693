"""Rows of named layout builders."""

from __future__ import annotations

from typing import Any

__all__ = ["LayoutConstructor", "check_constructor"]


class LayoutConstructor:
    """A row of hook `tirx_layout_constructors`: the function at `load` (`"module:function"`) makes a layout.

    It is found as `tirx.layout.<name>` and as `TileLayout.<name>`.
    With `method`, it takes a layout first and is also an operation of layouts: `layout.<name>(...)`.
    With `scope`, the function also reads the layout strings of buffers in that storage scope (`layout="PF"`):
    `(text, shape) -> Layout`.
    """

    __slots__ = ("doc", "load", "method", "name", "scope")

    def __init__(self, name: str, load: str, *, doc: str, method: bool = False, scope: str | None = None) -> None:
        self.name = name
        self.load = load
        self.doc = doc
        self.method = method
        self.scope = scope


def check_constructor(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, LayoutConstructor):
        raise ValueError(f"expected a LayoutConstructor, got {type(row).__name__}")
    if ":" not in row.load:
        raise ValueError(f"layout constructor {row.name}: {row.load!r} is not 'module:function'")
