"""Modules in text: `from tirx.script import ir as I`."""

from __future__ import annotations

import sys

from .decorators import ir_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["ir_module", "module_attrs"]


def module_attrs(attrs: Mapping[str, Any]) -> None:
    """In the body of a module's class: its attributes."""
    sys._getframe(1).f_locals["__tirx_attrs__"] = dict(attrs)
