"""Variants of tile operations that OpenCL has beyond core's neutral ones (the kind's parent is `generic`)."""

from __future__ import annotations

VARIANTS = ()
