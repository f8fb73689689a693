"""How Trainium runs tile operations: one agent, whose instructions cover up to 128 partitions each; a file per family.

digits      dimensions of tiles as numbers of one weight, which lie along partitions, free elements or banks
pieces      the instructions that an operation falls into
work        operands of one instruction, brought into a form that engines take
rules       what variants ask of a call
"""

from __future__ import annotations

from tirx.tile import Variant

from . import arithmetic, binary, casting, chain, copies, functions, fused, products, reduction, selecting, unary

__all__ = ["VARIANTS"]

VARIANTS: tuple[Variant, ...] = (
    *copies.VARIANTS,
    *casting.VARIANTS,
    *binary.VARIANTS,
    *unary.VARIANTS,
    *functions.VARIANTS,
    *arithmetic.VARIANTS,
    *reduction.VARIANTS,
    *products.VARIANTS,
    *selecting.VARIANTS,
    *chain.VARIANTS,
    *fused.VARIANTS,
)
