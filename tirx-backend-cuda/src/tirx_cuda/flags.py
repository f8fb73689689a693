"""What a function may ask of its launch by name (attribute `tirx.kernel_launch_params`)."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.support.errors import TargetError
from tirx.support.suggest import did_you_mean

__all__ = ["COOPERATIVE", "FLAGS", "PROGRAMMATIC", "asked_for"]

COOPERATIVE, PROGRAMMATIC = "cooperative", "programmatic"

FLAGS = {
    "cooperative": COOPERATIVE,
    "tirx.use_cooperative_launch": COOPERATIVE,
    "programmatic_stream_serialization": PROGRAMMATIC,
    "tirx.use_programmatic_dependent_launch": PROGRAMMATIC,
    "tirx.use_programtic_dependent_launch": PROGRAMMATIC,  # as the published language spells it
}
_IMPLIED = frozenset({"tirx.use_dyn_shared_memory"})  # what the launch knows anyway
_AXES = frozenset({"blockIdx", "threadIdx", "clusterCtaIdx", "preferredClusterCtaIdx"})


def asked_for(flags: Iterable[str]) -> set[str]:
    """What the flags mean; `TargetError` for one that CUDA does not have. Names of launch axes ask for nothing."""
    return {_meaning(name) for name in flags if name not in _IMPLIED and name.partition(".")[0] not in _AXES}


def _meaning(name: str) -> str:
    found = FLAGS.get(name)
    if found is None:
        raise TargetError(
            f"CUDA has no launch flag `{name}`",
            hint=did_you_mean(name, FLAGS) or f"the flags are {', '.join(sorted(FLAGS))}",
        )
    return found
