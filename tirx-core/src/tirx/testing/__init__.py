"""The public test kit: round trips, random programs, comparisons. `tirx.testing.strategies` needs hypothesis."""

from __future__ import annotations

from .compare import first_difference
from .roundtrip import assert_round_trip

__all__ = ["assert_round_trip", "first_difference"]
