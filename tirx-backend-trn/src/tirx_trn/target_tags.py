"""Named targets: instances and chips, with where their figures stand."""

from __future__ import annotations

from typing import Any

from tirx.target.kind import TargetTag

__all__ = ["TAGS"]

_TRN1 = "AWS Neuron documentation, Trainium architecture; Amazon EC2 Trn1 instances"
_INF2 = "AWS Neuron documentation, Inferentia2 architecture; Amazon EC2 Inf2 instances"
_TRN2 = "AWS Neuron documentation, Trainium2 architecture; Amazon EC2 Trn2 instances"
_TRN3 = "AWS Neuron documentation, Trainium3 architecture"

# name, generation, NeuronCores, source. The first two names are those of published TIRx.
_ROWS = (
    ("aws/trn1/trn1.2xlarge", "v2", 2, _TRN1),
    ("aws/trn1/trn1.32xlarge", "v2", 32, _TRN1),
    ("aws/trn1/trn1n.32xlarge", "v2", 32, _TRN1),
    ("aws/inf2/inf2.xlarge", "v2", 2, _INF2),
    ("aws/inf2/inf2.8xlarge", "v2", 2, _INF2),
    ("aws/inf2/inf2.24xlarge", "v2", 12, _INF2),
    ("aws/inf2/inf2.48xlarge", "v2", 24, _INF2),
    ("aws/trn2/trn2.48xlarge", "v3", 128, _TRN2),
    ("aws/trn2/trn2u.48xlarge", "v3", 128, _TRN2),
    ("aws/trainium", "v2", 2, _TRN1),
    ("aws/inferentia2", "v2", 2, _INF2),
    ("aws/trainium2", "v3", 8, _TRN2),
    ("aws/trainium3", "v4", 8, _TRN3),
)


def _tag(name: str, generation: str, cores: int, source: str) -> TargetTag:
    attributes: dict[str, Any] = {"generation": generation, "num_cores": cores}
    return TargetTag(name, "trn", attributes, source=source, doc=f"{cores} NeuronCores of generation {generation}")


TAGS = tuple(_tag(*row) for row in _ROWS)
