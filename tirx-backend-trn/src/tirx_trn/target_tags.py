"""Named targets: instances and chips, with where their figures stand.

Sources: AWS Neuron documentation, "Trainium Architecture", "Inferentia2 Architecture", "Trainium2 Architecture", "Trainium3 Architecture"
(cores of a chip, HBM and its bandwidth) and "Amazon EC2 Trn1/Inf2/Trn2 Architecture" (chips of an instance). Clocks and on-chip
sizes follow the NeuronCore generation: `hardware.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tirx.target.kind import TargetTag

__all__ = ["CHIPS", "TAGS", "Chip"]


class Chip:
    """One chip: NeuronCore generation, cores, HBM in GiB, its bandwidth in GB/s, and where these figures stand."""

    __slots__ = ("cores", "generation", "hbm_gbps", "hbm_gib", "source")

    def __init__(self, generation: str, cores: int, hbm_gib: int, hbm_gbps: int, source: str) -> None:
        self.generation = generation
        self.cores = cores
        self.hbm_gib = hbm_gib
        self.hbm_gbps = hbm_gbps
        self.source = f"AWS Neuron documentation, {source}"


CHIPS = {
    "trainium": Chip("v2", 2, 32, 820, "Trainium Architecture"),
    "inferentia2": Chip("v2", 2, 32, 820, "Inferentia2 Architecture"),
    "trainium2": Chip("v3", 8, 96, 2900, "Trainium2 Architecture"),
    "trainium3": Chip("v4", 8, 144, 4900, "Trainium3 Architecture"),
}

# name, chip, chips of the instance, where the number of chips stands. The first two names are those of published TIRx.
_INSTANCES = (
    ("aws/trn1/trn1.2xlarge", "trainium", 1, "Amazon EC2 Trn1 Architecture"),
    ("aws/trn1/trn1.32xlarge", "trainium", 16, "Amazon EC2 Trn1 Architecture"),
    ("aws/trn1/trn1n.32xlarge", "trainium", 16, "Amazon EC2 Trn1 Architecture"),
    ("aws/inf2/inf2.xlarge", "inferentia2", 1, "Amazon EC2 Inf2 Architecture"),
    ("aws/inf2/inf2.8xlarge", "inferentia2", 1, "Amazon EC2 Inf2 Architecture"),
    ("aws/inf2/inf2.24xlarge", "inferentia2", 6, "Amazon EC2 Inf2 Architecture"),
    ("aws/inf2/inf2.48xlarge", "inferentia2", 12, "Amazon EC2 Inf2 Architecture"),
    ("aws/trn2/trn2.48xlarge", "trainium2", 16, "Amazon EC2 Trn2 Architecture"),
    ("aws/trn2/trn2u.48xlarge", "trainium2", 16, "Amazon EC2 Trn2 Architecture"),
    (
        "aws/trn3/ultraserver-gen1",
        "trainium3",
        64,
        "Trainium3 Architecture (UltraServer Gen1, instances have no names there)",
    ),
    (
        "aws/trn3/ultraserver-gen2",
        "trainium3",
        144,
        "Trainium3 Architecture (UltraServer Gen2, instances have no names there)",
    ),
)


_GUIDES = {
    "v2": "Trainium/Inferentia2 architecture guide for NKI",
    "v3": "Trainium2 architecture guide for NKI",
    "v4": "Trainium3 architecture guide for NKI",
}


def _tag(name: str, kind: str, chips: int, source: str) -> TargetTag:
    chip = CHIPS[kind]
    attributes: dict[str, Any] = {
        "generation": chip.generation,
        "num_cores": chips * chip.cores,
        "hbm_gib": chips * chip.hbm_gib,
        "hbm_gbps_per_core": chip.hbm_gbps // chip.cores,
    }
    what = f"{chips} chip{'s' if chips != 1 else ''}, {chips * chip.cores} NeuronCores-{chip.generation}, {chips * chip.hbm_gib} GiB of HBM"
    return TargetTag(name, "trn", attributes, source="; ".join(_sources(chip, source)), doc=what)


def _sources(chip: Chip, instance: str) -> Iterator[str]:
    """Where each figure stands."""
    yield f"cores of a chip, HBM and its bandwidth: {chip.source}"
    if instance:
        yield f"chips: AWS Neuron documentation, {instance}"
    yield f"clocks of the engines, partitions, PSUM: AWS Neuron documentation, {_GUIDES[chip.generation]}"
    yield "usable bytes of SBUF: the constants that AWS publishes with nkipy"


TAGS = (
    *(_tag(*row) for row in _INSTANCES),
    *(_tag(f"aws/{name}", name, 1, "") for name in CHIPS),
)
