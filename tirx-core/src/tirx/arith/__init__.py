"""Integer reasoning: bounds, divisibility, simplification and proofs about index expressions."""

from __future__ import annotations

from .analyzer import Analyzer, simplify
from .bounds import Interval
from .modular import Residue

__all__ = ["Analyzer", "Interval", "Residue", "simplify"]
