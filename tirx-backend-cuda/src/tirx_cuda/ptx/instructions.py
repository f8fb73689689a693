"""`ptx`, the instructions of PTX; `instructions.pyi` lists them with their words for editors and type checkers."""

from __future__ import annotations

from .chain import Chain as Instruction
from .chain import Ptx, ptx

__all__ = ["Instruction", "Ptx", "ptx"]
