"""Variants of tile operations that OpenCL has beyond core's neutral ones, which apply because the kind's parent is `generic`."""

from __future__ import annotations

from . import copy, vectors

__all__ = ["VARIANTS"]

VARIANTS = (*copy.VARIANTS, *vectors.VARIANTS)
