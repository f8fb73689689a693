"""What a wave does together, as rows."""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import Effect, Emission, Intrinsic, Operand
from tirx.tile import Variant, decline

__all__ = ["COPY", "EMISSIONS", "SUM"]

SUM = Intrinsic(
    "wave.sum",
    [Operand("value", dtypes=("float32", "int32"))],
    "arg:value",
    Effect("sync"),
    doc="the sum of `value` over the wave, in every thread of it",
    meaning="toy_wavefront.sim:wave_sum",
    accuracy="ulp(64)",
)

EMISSIONS = [
    Emission("wave.sum", "wavefront", "wave_sum({0})", helpers=("wave_sum",)),
    Emission("tvm_storage_sync", "wavefront", "group_barrier()"),
]


def _copy(call: Any, context: Any) -> None:
    decline("nothing dispatches tile operations in these tests")


COPY = Variant("copy", "wavefront", "wave_copy", emit=_copy, priority=10)
