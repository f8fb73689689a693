"""Variants of tile operations that OpenCL has beyond core's neutral ones, which apply because the kind's parent is `generic`."""

from __future__ import annotations

from .copy import VARIANTS

__all__ = ["VARIANTS"]
