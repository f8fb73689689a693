"""What a wave does together, as rows."""

from __future__ import annotations

from tirx.intrinsic import Effect, Emission, Intrinsic, Operand

__all__ = ["EMISSIONS", "SUM"]

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
    *(Emission(f"tvm_warp_shuffle{how}", "wavefront", f"wave_shuffle{how}({{1}}, {{2}})") for how in ("", "_up", "_down", "_xor")),
]

