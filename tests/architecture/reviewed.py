"""Exceptions to the rules, each with its reason; a test fails when one is no longer needed."""

from __future__ import annotations

# The two places in core that may name vendors, both for hints: well-known names -> the distribution to install, and what people
# write who come from other kernel languages -> what it is here.
VENDOR_DATA = frozenset({"tirx-core/src/tirx/backend/well_known.txt", "tirx-core/src/tirx/support/elsewhere.txt"})

# Names of the published language that hold a vendor's word. They are syntax: kernels in the wild say them.
PUBLISHED_NAMES = ("launch_bounds_min_blocks_per_sm",)

# Files over the size limit: tables that read best in one piece.
LONG_FILES: dict[str, str] = {}

# Functions over the size limit, "path:function".
LONG_FUNCTIONS: dict[str, str] = {}
