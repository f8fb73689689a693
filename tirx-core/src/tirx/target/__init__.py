"""Targets: kinds, tags, scope models, capabilities."""

from __future__ import annotations

from .kind import CONSTRUCTS, Attribute, Capabilities, DTypeRow, StorageScope, TargetKind, TargetTag
from .scope_model import ScopeLevel, ScopeModel
from .target import Target, as_target, current_scopes, no_target

__all__ = [
    "CONSTRUCTS", "Attribute", "Capabilities", "DTypeRow", "ScopeLevel", "ScopeModel", "StorageScope", "Target",
    "TargetKind", "TargetTag", "as_target", "current_scopes", "no_target",
]  # fmt: skip
