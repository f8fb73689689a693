"""The public test kit: round trips, random programs, comparisons. `tirx.testing.strategies` needs hypothesis."""

from __future__ import annotations

from .compare import first_difference
from .golden import GoldenCase, read_cases, write_output
from .roundtrip import assert_round_trip
from .rows import sample_call, sample_function
from .tiles import tile_meaning

__all__ = [
    "GoldenCase",
    "assert_round_trip",
    "first_difference",
    "read_cases",
    "sample_call",
    "sample_function",
    "tile_meaning",
    "write_output",
]
