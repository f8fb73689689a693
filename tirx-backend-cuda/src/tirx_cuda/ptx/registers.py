"""Special registers as values: `Tx.ptx.sreg("laneid")`. PTX ISA, chapter 10."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from tirx.intrinsic import Effect, Intrinsic, enter
from tirx.ir import Call, DType, current_span
from tirx.support.errors import ScriptError
from tirx.support.suggest import did_you_mean

from .target_sets import requirement

__all__ = ["REGISTERS", "Register", "register_of", "sreg"]

_MEANING = "tirx_cuda.sim.ptx.registers:read"


class _Row(NamedTuple):
    """A register: its type, the first architecture and version of PTX, whether reading it twice may differ, whether it is modelled."""

    dtype: str
    arch: str
    version: tuple[int, int]
    changes: bool
    modelled: bool


def _rows() -> dict[str, _Row]:
    made: dict[str, _Row] = {}
    for axis in "xyz":
        for name in ("tid", "ntid", "ctaid", "nctaid"):
            made[f"{name}.{axis}"] = _Row("uint32", "20", (1, 0), False, True)
        for name in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"):
            made[f"{name}.{axis}"] = _Row("uint32", "90", (7, 8), False, name.startswith("cluster_"))
    for name in ("laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"):
        made[name] = _Row("uint32", "20", (2, 0), False, True)
    for name in ("cluster_ctarank", "cluster_nctarank"):
        made[name] = _Row("uint32", "90", (7, 8), False, True)
    made["warpid"] = _Row("uint32", "20", (1, 3), True, True)
    for name in ("nwarpid", "smid", "nsmid"):
        made[name] = _Row("uint32", "20", (2, 0), True, False)
    for name, dtype, arch, version in (
        ("clock", "uint32", "20", (1, 0)), ("clock_hi", "uint32", "20", (5, 0)), ("clock64", "uint64", "20", (2, 0)),
        ("globaltimer", "uint64", "30", (3, 1)), ("globaltimer_lo", "uint32", "30", (3, 1)), ("globaltimer_hi", "uint32", "30", (3, 1)),
    ):  # fmt: skip
        made[name] = _Row(dtype, arch, version, True, False)
    made["gridid"] = _Row("uint64", "20", (3, 0), False, False)
    made["total_smem_size"] = _Row("uint32", "20", (4, 1), False, False)
    made["dynamic_smem_size"] = _Row("uint32", "20", (4, 1), False, False)
    made["aggr_smem_size"] = _Row("uint32", "90", (8, 1), False, False)
    made["current_graph_exec"] = _Row("uint64", "50", (8, 0), False, False)
    made.update({f"envreg{number}": _Row("uint32", "20", (2, 1), False, False) for number in range(32)})
    made.update({f"pm{number}": _Row("uint32", "20", (1, 3), True, False) for number in range(8)})
    return made


REGISTERS = _rows()


class Register(Intrinsic):
    """The reading of one special register."""

    __slots__ = ("register",)

    def __init__(self, name: str) -> None:
        row = REGISTERS[name]
        super().__init__(
            "ptx.sreg",
            (),
            row.dtype,
            Effect("opaque" if row.changes else "pure"),
            doc=f"special register %{name}",
            attrs={"register": name},
            meaning=_MEANING if row.modelled else None,
            source="PTX ISA, 10",
            requires=requirement((row.arch,), row.version),
        )
        self.register = name

    def title(self, node: Call) -> str:
        """The register."""
        return f"%{self.register}"

    def printed(self, node: Call, texts: Sequence[str]) -> str:
        """As the author writes it."""
        return f'T.ptx.sreg("{self.register}")'

    def __reduce__(self) -> tuple[Any, ...]:
        return register_of, (self.register,)


@cache
def register_of(name: str) -> Register:
    """The row of a register."""
    return Register(name)


def sreg(name: str) -> Call:
    """The value of a special register, by the name that PTX gives it (`"laneid"`, `"tid.x"`), in its own type."""
    plain = str(name).removeprefix("%")
    if plain not in REGISTERS:
        hint = did_you_mean(plain, REGISTERS) or "such as laneid, warpid, tid.x, smid, clock64"
        raise ScriptError(f"PTX has no special register `%{plain}`", span=current_span(), hint=hint)
    row = register_of(plain)
    return enter(Call(DType(REGISTERS[plain].dtype), row, (), (("register", plain),), span=current_span()))
