"""What each architecture has: one table of figures, one of features. Predicates, limits and messages read these, nothing else.

Figures: CUDA Programming Guide, "Compute Capabilities", tables of technical specifications (editions 8 to 13 for what later ones
dropped); for 10.7 `cuda_occupancy.h` of CUDA 13.5. Features: PTX ISA, "Target ISA notes" of the instruction that is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from tirx.intrinsic import Requirement

__all__ = ["ARCHITECTURES", "FEATURES", "Arch", "Feature", "at_least", "has", "having", "needs"]

KIB = 1024


class Arch(NamedTuple):
    """Figures of one compute capability.

    `shared_bytes` of a cta at most (opt-in), `multiprocessor_shared` of all its ctas together, `registers` of a cta and
    `registers_per_thread` (32 bits each), `threads` and `ctas` that a multiprocessor keeps (None: not published), `cluster` of ctas
    at most (0: no clusters), `tmem_columns` of tensor memory, the suffixes that name its own (`a`) or its family's (`f`)
    instructions, what tensor cores multiply, and what it is called.
    """

    number: int
    shared_bytes: int
    multiprocessor_shared: int
    registers: int
    registers_per_thread: int
    threads: int | None
    ctas: int
    cluster: int
    tmem_columns: int
    suffixes: str
    tensor: tuple[str, ...]
    family: str

    @property
    def name(self) -> str:
        """Such as `sm_90`."""
        return f"sm_{self.number}"

    @property
    def names(self) -> tuple[str, ...]:
        """Such as `sm_90` and `sm_90a`."""
        return (self.name, *(f"{self.name}{letter}" for letter in self.suffixes))


_VOLTA = "float16"
_TURING = "float16 int8 int4 int1"
_AMPERE = "float16 bfloat16 tf32 float64 int8 int4 int1"
_ADA = f"{_AMPERE} float8"
_HOPPER = "float16 bfloat16 tf32 float64 int8 int1 float8"
_BLACKWELL = "float16 bfloat16 tf32 float64 int8 float8 float6 float4"

# number, KiB of shared memory of a cta and of a multiprocessor, Ki registers of a cta, registers of a thread, threads and ctas of a
# multiprocessor, ctas of a cluster, columns of tensor memory, suffixes, tensor cores, name
_ROWS: tuple[tuple[int, int, int, int, int, int | None, int, int, int, str, str, str], ...] = (
    (20, 48, 48, 32, 63, 1536, 8, 0, 0, "", "", "Fermi"),
    (21, 48, 48, 32, 63, 1536, 8, 0, 0, "", "", "Fermi"),
    (30, 48, 48, 64, 63, 2048, 16, 0, 0, "", "", "Kepler"),
    (35, 48, 48, 64, 255, 2048, 16, 0, 0, "", "", "Kepler"),
    (37, 48, 112, 64, 255, 2048, 16, 0, 0, "", "", "Kepler"),
    (50, 48, 64, 64, 255, 2048, 32, 0, 0, "", "", "Maxwell"),
    (52, 48, 96, 64, 255, 2048, 32, 0, 0, "", "", "Maxwell"),
    (53, 48, 64, 32, 255, 2048, 32, 0, 0, "", "", "Maxwell, Jetson"),
    (60, 48, 64, 64, 255, 2048, 32, 0, 0, "", "", "Pascal"),
    (61, 48, 96, 64, 255, 2048, 32, 0, 0, "", "", "Pascal"),
    (62, 48, 64, 32, 255, 2048, 32, 0, 0, "", "", "Pascal, Jetson"),
    (70, 96, 96, 64, 255, 2048, 32, 0, 0, "", _VOLTA, "Volta"),
    (72, 96, 96, 64, 255, 2048, 32, 0, 0, "", f"{_VOLTA} int8", "Volta, Jetson"),
    (75, 64, 64, 64, 255, 1024, 16, 0, 0, "", _TURING, "Turing"),
    (80, 163, 164, 64, 255, 2048, 32, 0, 0, "", _AMPERE, "Ampere"),
    (86, 99, 100, 64, 255, 1536, 16, 0, 0, "", _AMPERE, "Ampere"),
    (87, 163, 164, 64, 255, 1536, 16, 0, 0, "", _AMPERE, "Ampere, Jetson"),
    (88, 99, 100, 64, 255, 1536, 16, 0, 0, "", _AMPERE, "Ampere, integrated"),
    (89, 99, 100, 64, 255, 1536, 24, 0, 0, "", _ADA, "Ada"),
    (90, 227, 228, 64, 255, 2048, 32, 16, 0, "a", _HOPPER, "Hopper"),
    (100, 227, 228, 64, 255, 2048, 32, 16, 512, "af", _BLACKWELL, "Blackwell"),
    (103, 227, 228, 64, 255, 2048, 32, 16, 512, "af", _BLACKWELL, "Blackwell Ultra"),
    (107, 327, 328, 64, 255, None, 16, 16, 512, "af", _BLACKWELL, "after Blackwell"),
    (110, 227, 228, 64, 255, 1536, 24, 16, 512, "af", _BLACKWELL, "Blackwell, Jetson"),
    (120, 99, 100, 64, 255, 1536, 24, 8, 0, "af", _BLACKWELL, "Blackwell, consumer and workstation"),
    (121, 99, 100, 64, 255, 1536, 24, 8, 0, "af", _BLACKWELL, "Blackwell, integrated"),
)  # fmt: skip


def _arch(row: tuple[Any, ...]) -> Arch:
    number, cta, multiprocessor, registers, per_thread, threads, ctas, cluster, columns, suffixes, tensor, family = row
    sizes = (cta * KIB, multiprocessor * KIB, registers * KIB, per_thread)
    return Arch(number, *sizes, threads, ctas, cluster, columns, suffixes, tuple(tensor.split()), family)


ARCHITECTURES: Mapping[int, Arch] = {row[0]: _arch(row) for row in _ROWS}


class Feature(NamedTuple):
    """Something that only some architectures have.

    `archs` are words: `90+` this one and newer; `90a` exactly that; `100f` its family: from this one on the same tens, named with
    `a` or `f`.
    """

    name: str
    archs: str
    doc: str
    section: str


FEATURES: Mapping[str, Feature] = {
    row.name: row
    for row in (
        Feature("warp_sync", "30+", "shuffles and votes that name their lanes", "shfl.sync, vote.sync"),
        Feature("ldg", "35+", "loads through the read-only cache", "ld.global.nc"),
        Feature("grid_sync", "60+", "cooperative launches", "CUDA Programming Guide, Cooperative Groups"),
        Feature("atomic_float64", "60+", "atomic sums of float64", "atom"),
        Feature("dp4a", "61+", "dot products of four bytes", "dp4a"),
        Feature("nanosleep", "70+", "threads that wait without spinning", "nanosleep"),
        Feature("memory_model", "70+", "acquiring and releasing accesses", "ld, st, fence"),
        Feature("match", "70+", "lanes that hold the same value", "match.sync"),
        Feature("mma_float16", "70+", "tensor cores on float16", "mma"),
        Feature("mma_int8", "75+", "tensor cores on bytes", "mma"),
        Feature("ldmatrix", "75+", "matrices from shared memory", "ldmatrix"),
        Feature("movmatrix", "75+", "matrices across a warp", "movmatrix"),
        Feature("mma_bfloat16", "80+", "tensor cores on bfloat16", "mma"),
        Feature("mma_tf32", "80+", "tensor cores on float32 cut to 19 bits", "mma"),
        Feature("mma_float64", "80+", "tensor cores on float64", "mma"),
        Feature("cp_async", "80+", "copies to shared memory that do not wait", "cp.async"),
        Feature("mbarrier", "80+", "barriers that are objects in shared memory", "mbarrier"),
        Feature("redux", "80+", "reductions of integers over a warp", "redux.sync"),
        Feature("mma_float8", "89+", "tensor cores on float8", "mma"),
        Feature("cluster", "90+", "ctas that see each other's shared memory", "barrier.cluster, mapa"),
        Feature("elect", "90+", "choosing one thread of a warp", "elect.sync"),
        Feature("mbarrier_wait", "90+", "waiting for a phase in hardware", "mbarrier.try_wait"),
        Feature("tma", "90+", "bulk and tensor copies", "cp.async.bulk.tensor"),
        Feature("stmatrix", "90+", "matrices to shared memory", "stmatrix"),
        Feature("launch_control", "90+", "kernels that start before the one ahead has ended", "griddepcontrol"),
        Feature("wgmma", "90a", "matrix products of a warpgroup", "wgmma.mma_async"),
        Feature("setmaxnreg", "90a 100f 110f 120f", "registers handed from one warpgroup to another", "setmaxnreg"),
        Feature("cluster_launch_control", "100+", "ctas that take over the work of others", "clusterlaunchcontrol"),
        Feature("float32x2", "100+", "two float32 in one instruction", "add, mul, fma (.f32x2)"),
        Feature("tcgen05", "100f 110f", "matrix products of tensor memory", "tcgen05"),
        Feature("narrow_convert", "100f 110f 120f", "conversions to float6 and float4", "cvt (.e2m1x2, .e3m2x2)"),
        Feature("redux_float32", "100f", "reductions of float32 over a warp", "redux.sync"),
        Feature("mma_block_scale", "120f", "tensor cores on scaled blocks, by a warp", "mma (.block_scale)"),
    )
}  # fmt: skip


@cache
def having(feature: str) -> tuple[str, ...]:
    """The architectures that have a feature, oldest first: `("sm_90a",)`."""
    words = FEATURES[feature].archs.split()
    return tuple(
        name for row in ARCHITECTURES.values() for name in row.names if any(_fits(row, name, w) for w in words)
    )


def _fits(row: Arch, name: str, word: str) -> bool:
    """Whether the architecture `name` of `row` has what `word` says."""
    number, suffix = int(word[:-1]), word[-1]
    if suffix == "+":
        return row.number >= number
    if suffix == "f":
        return row.number // 10 == number // 10 and row.number >= number and name != row.name
    return name == f"sm_{word}"


def has(arch: str, feature: str) -> bool:
    """Whether an architecture, such as `sm_90a`, has a feature."""
    return arch in having(feature)


@cache
def needs(feature: str) -> Requirement:
    """The requirement of a feature."""
    names = having(feature)
    word = FEATURES[feature].archs
    if word.endswith("+"):
        return at_least(int(word[:-1]))
    text = f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
    return Requirement(text, lambda target: target["arch"] in names, names)


@cache
def at_least(number: int) -> Requirement:
    """The requirement of an architecture or a newer one."""
    listed = tuple(row.name for row in ARCHITECTURES.values() if row.number >= number)
    names = frozenset(name for row in ARCHITECTURES.values() if row.number >= number for name in row.names)
    return Requirement(f"sm_{number} or newer", lambda target: target["arch"] in names, listed)
