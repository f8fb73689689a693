"""What rewritten functions call while they run: one `Scope` a call, with the names, blocks and operators of that call."""

from __future__ import annotations

from .scope import Scope

__all__ = ["Scope"]
