"""A wiring module for hosts in other processes."""

from __future__ import annotations

from tests.core.backend.toy import KINDS, Core

ROW_KINDS = KINDS
CORE = Core()
CORE_VERSION = "0.1"
