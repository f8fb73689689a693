"""Read-only answers about programs."""

from __future__ import annotations

from .extents import Extents, resolve_extents
from .launch_ids import Declaration, declarations

__all__ = ["Declaration", "Extents", "declarations", "resolve_extents"]
