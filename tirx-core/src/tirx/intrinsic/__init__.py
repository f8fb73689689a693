"""Intrinsics: rows, calls, emissions, and what their meanings may ask of the simulator."""

from __future__ import annotations

from .call import call, enter, guard_calls
from .emission import Emission, check_emission
from .requirement import Requirement
from .row import Barrier, Effect, Intrinsic, Operand, check_intrinsic, effect_of
from .simcontext import SimContext, SimRegion

__all__ = [
    "Barrier", "Effect", "Emission", "Intrinsic", "Operand", "Requirement", "SimContext", "SimRegion", "call", "check_emission",
    "check_intrinsic", "effect_of", "enter", "guard_calls",
]  # fmt: skip
