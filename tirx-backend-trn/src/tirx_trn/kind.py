"""The target kind `trn` and its two on-chip memories."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tirx.target import Attribute, Capabilities, ScopeModel, StorageScope, Target, TargetKind

from .dtypes import NKI_DTYPES
from .hardware import BANK_BYTES, ENGINES, GENERATIONS, PARTITIONS, PSUM_BANKS, Generation
from .nki_api import RELEASES

__all__ = ["KIND", "SCOPES", "generation_of"]

_NO_LEVELS = ScopeModel()  # one instruction stream per engine; nothing that a kernel could number


def generation_of(target: Target) -> Generation:
    """The figures of the NeuronCore that `target` names."""
    return GENERATIONS[target.attrs["generation"]]


def _one_of(names: Collection[str]) -> Any:
    return lambda value: None if value in names else f"it is one of {', '.join(names)}"


def _positive(value: int) -> str | None:
    return None if value > 0 else "it is a positive number"


def _complete(attrs: dict[str, Any]) -> dict[str, Any]:
    """Sizes follow the generation unless they are given."""
    figures = GENERATIONS[attrs["generation"]]
    sizes = {
        "partition_size": PARTITIONS,
        "max_sbuf_size_per_partition": figures.sbuf_bytes,
        "max_psum_size_per_partition": PSUM_BANKS * BANK_BYTES,
        **{f"{engine}_mhz": round(1000 * clock) for engine, clock in figures.clocks.items()},
    }
    given = {name: value for name, value in attrs.items() if value is not None}
    return {**sizes, **given}


def _limits(target: Target) -> dict[str, int]:
    return {
        "partitions": target.attrs["partition_size"],
        "sbuf_bytes_per_partition": target.attrs["max_sbuf_size_per_partition"],
        "psum_bytes_per_partition": target.attrs["max_psum_size_per_partition"],
        "matmul_moving_size": generation_of(target).moving_max,
    }


KIND = TargetKind(
    "trn",
    doc="AWS Trainium and Inferentia2: one NeuronCore, NKI source",
    attributes={
        "generation": Attribute(
            str, "v3", "NeuronCore generation: v2 (Trn1, Inf2), v3 (Trn2), v4 (Trn3)", _one_of(GENERATIONS)
        ),
        "nki": Attribute(
            str, RELEASES[-1], f"NKI release that source is written for: {', '.join(RELEASES)}", _one_of(RELEASES)
        ),
        "allocation": Attribute(
            str,
            "compiler",
            "who places tiles: compiler (NKI's), explicit (addresses in the source)",
            _one_of(("compiler", "explicit")),
        ),
        "partition_size": Attribute(int, None, "partitions of SBUF and PSUM", _positive),
        "max_sbuf_size_per_partition": Attribute(int, None, "usable bytes of one SBUF partition", _positive),
        "max_psum_size_per_partition": Attribute(int, None, "bytes of one PSUM partition, all banks", _positive),
        **{
            f"{engine}_mhz": Attribute(int, None, f"clock of the {engine} engine in MHz", _positive)
            for engine in ENGINES
        },
        "num_cores": Attribute(int, 1, "NeuronCores of the machine", _positive),
        "hbm_gib": Attribute(int, None, "device memory of the machine in GiB", _positive),
        "hbm_gbps_per_core": Attribute(int, None, "bandwidth of device memory for one NeuronCore in GB/s", _positive),
    },
    scope_model=lambda target, attrs: _NO_LEVELS,
    capabilities=lambda target: Capabilities(
        tuple(NKI_DTYPES), ("async_copy",), scopes=("global", "trn.sbuf", "trn.psum")
    ),
    limits=_limits,
    complete=_complete,
)

SCOPES = (
    StorageScope(
        "trn.sbuf",
        doc="the state buffer: 128 partitions that the engines compute on",
        allocator="compiler",
        capacity=lambda target: int(target.attrs["max_sbuf_size_per_partition"]),
        unit="bytes per partition",
        address=("byte",),
        pointers=False,
        dtypes=tuple(NKI_DTYPES),
    ),
    StorageScope(
        "trn.psum",
        doc="the partial-sum buffer: 8 banks of 2 KiB in each partition, where matmuls accumulate",
        allocator="compiler",
        capacity=lambda target: int(target.attrs["max_psum_size_per_partition"]),
        unit="bytes per partition",
        address=("bank", "byte"),
        pointers=False,
        dtypes=tuple(NKI_DTYPES),
    ),
)
