"""Figures of the NeuronCore generations that rules and checks read.

Sources: AWS Neuron documentation, "Trainium/Inferentia2, Trainium2 and Trainium3 architecture guides"; usable SBUF bytes from the
constants that AWS publishes with nkipy.
"""

from __future__ import annotations

__all__ = [
    "BANK_BYTES", "CHIP", "ENGINES", "GENERATIONS", "HBM", "PARTITIONS", "PSUM", "PSUM_BANKS", "SBUF", "STATIONARY_MAX", "Generation",
]  # fmt: skip

SBUF, PSUM, HBM = "trn.sbuf", "trn.psum", "global"  # storage scopes
CHIP = (SBUF, PSUM)

ENGINES = ("tensor", "vector", "scalar", "gpsimd")
PARTITIONS = 128
BANK_BYTES = 2048  # one PSUM bank of one partition
PSUM_BANKS = 8
STATIONARY_MAX = 128  # free size of the stationary operand of a matmul


class Generation:
    """One NeuronCore generation.

    * `sbuf_bytes`: usable SBUF bytes of a partition; `moving_max`: the widest moving operand of a matmul (float32 sums);
      `constant_bias`: whether the scalar engine takes a number as bias
    * `clocks`: GHz of each engine
    * `lanes`: elements that the vector and scalar engines work on in a cycle; the vector engine's for 2-byte floats apart
    * `dma_gbps`: GB/s that the sixteen DMA queues of a core sustain together
    """

    __slots__ = ("clocks", "constant_bias", "dma_gbps", "lanes", "moving_max", "name", "platform", "sbuf_bytes")

    def __init__(
        self,
        name: str,
        platform: str,
        *,
        sbuf_bytes: int,
        moving_max: int,
        constant_bias: bool,
        clocks: tuple[float, float, float, float],
        lanes: tuple[int, int, int],
        dma_gbps: float,
    ) -> None:
        self.name = name
        self.platform = platform
        self.sbuf_bytes = sbuf_bytes
        self.moving_max = moving_max
        self.constant_bias = constant_bias
        self.clocks = dict(zip(ENGINES, clocks, strict=True))
        self.lanes = dict(zip(("vector_2_bytes", "vector", "scalar"), lanes, strict=True))
        self.dma_gbps = dma_gbps


# Clocks and lanes: the architecture guides' "NeuronCore" chapters. DMA: "NKI DMA bandwidth guide" (17, 23, 33 B/ns a queue, 16 queues).
GENERATIONS = {
    row.name: row
    for row in (
        Generation(
            "v2", "trn1", sbuf_bytes=180_224, moving_max=512, constant_bias=False, clocks=(2.8, 1.12, 1.4, 1.4), lanes=(128, 128, 128),
            dma_gbps=272,
        ),
        Generation(
            "v3", "trn2", sbuf_bytes=212_984, moving_max=512, constant_bias=True, clocks=(2.4, 0.96, 1.2, 1.2), lanes=(512, 256, 128),
            dma_gbps=368,
        ),
        Generation(
            "v4", "trn3", sbuf_bytes=245_752, moving_max=4096, constant_bias=True, clocks=(2.4, 1.2, 1.2, 1.2), lanes=(512, 256, 256),
            dma_gbps=528,
        ),
    )
}  # fmt: skip
