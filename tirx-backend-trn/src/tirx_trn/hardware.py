"""Figures of the NeuronCore generations that rules and checks read.

Sources: AWS Neuron documentation, "Trainium/Inferentia2, Trainium2 and Trainium3 architecture guides"; usable SBUF bytes from the
constants that AWS publishes with nkipy.
"""

from __future__ import annotations

__all__ = [
    "BANK_BYTES", "CHIP", "GENERATIONS", "HBM", "PARTITIONS", "PSUM", "PSUM_BANKS", "SBUF", "STATIONARY_MAX", "Generation",
]  # fmt: skip

SBUF, PSUM, HBM = "trn.sbuf", "trn.psum", "global"  # storage scopes
CHIP = (SBUF, PSUM)

PARTITIONS = 128
BANK_BYTES = 2048  # one PSUM bank of one partition
PSUM_BANKS = 8
STATIONARY_MAX = 128  # free size of the stationary operand of a matmul


class Generation:
    """One NeuronCore generation.

    Usable SBUF bytes of a partition, the widest moving operand of a matmul, whether the scalar engine takes a number as bias.
    """

    __slots__ = ("constant_bias", "moving_max", "name", "platform", "sbuf_bytes")

    def __init__(self, name: str, platform: str, *, sbuf_bytes: int, moving_max: int, constant_bias: bool) -> None:
        self.name = name
        self.platform = platform
        self.sbuf_bytes = sbuf_bytes
        self.moving_max = moving_max
        self.constant_bias = constant_bias


GENERATIONS = {
    row.name: row
    for row in (
        Generation("v2", "trn1", sbuf_bytes=180_224, moving_max=512, constant_bias=False),
        Generation("v3", "trn2", sbuf_bytes=212_984, moving_max=512, constant_bias=True),
        Generation("v4", "trn3", sbuf_bytes=245_752, moving_max=4096, constant_bias=True),
    )
}
