"""`gemm` by `mma.sync`: all four tiles in the registers of the warps, in the fragments that the instruction takes.

PTX ISA 9.7.14.5. The instruction with the largest k that divides is taken; each warp multiplies what its lanes hold.
"""

from __future__ import annotations

from typing import NamedTuple

from tirx import script as Tx
from tirx.ir import FloatImm, IntImm, TileCall
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import tile_of

from ..layout.mma import mma_fragment_layout
from ..ptx.chain import ptx
from .lanes import Fragments, Registers, fragments, lanes_of, parts

__all__ = ["MMA", "VARIANTS", "Mma"]


class Mma(NamedTuple):
    """A shape of `mma.sync`: element types as PTX says them, accumulator, and elements in a register of A and B."""

    m: int
    k: int
    inputs: tuple[str, ...]
    accumulators: tuple[str, ...]
    packed: int


# Largest k first. n is always 8.
MMA = (
    Mma(16, 16, ("float16",), ("float32", "float16"), 2),
    Mma(16, 8, ("float16",), ("float32", "float16"), 2),
    Mma(16, 16, ("bfloat16",), ("float32",), 2),
    Mma(16, 8, ("bfloat16",), ("float32",), 2),
    Mma(16, 8, ("float32",), ("float32",), 1),
    Mma(16, 4, ("float32",), ("float32",), 1),
    Mma(16, 32, ("float8_e4m3fn", "float8_e5m2"), ("float32", "float16"), 4),
    Mma(16, 16, ("float8_e4m3fn", "float8_e5m2"), ("float32", "float16"), 4),
    Mma(16, 32, ("int8", "uint8"), ("int32",), 4),
    Mma(16, 16, ("int8", "uint8"), ("int32",), 4),
    Mma(16, 16, ("float64",), ("float64",), 1),
    Mma(16, 8, ("float64",), ("float64",), 1),
    Mma(16, 4, ("float64",), ("float64",), 1),
    Mma(8, 4, ("float64",), ("float64",), 1),
)
_PTX = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "int8": "s8",
    "uint8": "u8", "int32": "s32", "float64": "f64",
}  # fmt: skip


class Plan:
    """One product: the instruction, and where the fragments of the four tiles lie."""

    def __init__(self, call: TileCall, context: DispatchContext) -> None:
        self.tiles = {name: tile_of(call, name, context) for name in ("D", "A", "B", "C")}
        self.transposed = {"A": bool(call.attr("transpose_A")), "B": bool(call.attr("transpose_B"))}
        self.accumulates = _beta(call) == 1
        self.mma = self._instruction(context)
        self._found: dict[str, Fragments] = {}

    def _instruction(self, context: DispatchContext) -> Mma:
        """The first row that the dtypes, the architecture and the depth allow."""
        a, b, d = (self.tiles[name].dtype.name for name in "ABD")
        known = [row for row in MMA if a in row.inputs and b in row.inputs and d in row.accumulators]
        if not known:
            decline("no mma.sync multiplies these types", A=a, B=b, D=d)
        arch = context.target["arch"]
        present = [row for row in known if arch in ptx[self._mnemonic(row)].archs]
        if not present:
            first = ptx[self._mnemonic(known[-1])].archs[0]
            decline("the architecture lacks this mma.sync", A=a, D=d, arch=arch, since=first)
        depth, rows = self._own_extent("A", 1), self._own_extent("D", 0)
        fitting = [row for row in present if depth % row.k == 0 and rows % row.m == 0]
        if not fitting:
            decline(
                "the tile is no whole number of instructions", rows=rows, depth=depth, m=present[-1].m, k=present[-1].k
            )
        return fitting[0]

    def _own_extent(self, name: str, dim: int) -> int:
        extents = lanes_of(self.tiles[name])[1]
        return extents[1 - dim if self.transposed.get(name) else dim]

    def _mnemonic(self, row: Mma) -> str:
        a, b, d = (_PTX[self.tiles[name].dtype.name] for name in "ABD")
        if a == "f32":
            a = b = "tf32"
        return f"mma.sync.aligned.m{row.m}n8k{row.k}.row.col.{d}.{a}.{b}.{d}"

    @property
    def mnemonic(self) -> str:
        """The instruction's name."""
        return self._mnemonic(self.mma)

    def fragments(self, name: str) -> Fragments:
        """Where the parts of one operand lie."""
        if name not in self._found:
            self._found[name] = self._fragments(name)
        return self._found[name]

    def _fragments(self, name: str) -> Fragments:
        """Transposed operands are looked at the other way round."""
        row, tile = self.mma, self.tiles[name]
        shape = {"A": (row.m, row.k), "B": (row.k, 8)}.get(name, (row.m, 8))
        atom = mma_fragment_layout(name, f"m{row.m}n8k{row.k}", tile.dtype.name)
        packed = row.packed if name in "AB" else max(1, 32 // tile.dtype.bits)
        if not self.transposed.get(name):
            return fragments(tile, atom, shape, packed)
        grouped, separators = atom.group(shape)
        turned = grouped.permute_by_groups(separators, (1, 0))
        found = fragments(tile, turned, shape[::-1], packed)
        at = {place[::-1]: registers for place, registers in found.at.items()}
        return Fragments(at, found.counts[::-1], packed, found.base)


def _beta(call: TileCall) -> object:
    value = call.operand("beta")
    return 0 if value is None else value.value if isinstance(value, IntImm | FloatImm) else value


def _plan(call: TileCall, context: DispatchContext) -> Plan:
    return context.once(Plan, lambda: Plan(call, context))


# ---- predicates -----------------------------------------------------------------------------------------------------


def _in_registers(call: TileCall, context: DispatchContext) -> Verdict:
    places = {name: tile_of(call, name, context).storage for name in ("D", "A", "B", "C")}
    if any(place != "distributed" for place in places.values()):
        decline("all tiles must be spread over the lanes' registers", **places)
    return accept()


def _whole_warps(call: TileCall, context: DispatchContext) -> Verdict:
    if context.scope == "thread" or context.threads % 32 or not context.active.is_full("warp"):
        decline("mma.sync is an instruction of whole warps", threads=context.threads)
    return accept()


def _factors(call: TileCall, context: DispatchContext) -> Verdict:
    alpha, beta = call.operand("alpha"), _beta(call)
    factor = alpha.value if isinstance(alpha, IntImm | FloatImm) else alpha
    if factor not in (None, 1) or beta not in (0, 1):
        decline("mma.sync computes A @ B + C: alpha is 1, beta is 0 or 1", alpha=factor, beta=beta)
    return accept()


def _fragmented(call: TileCall, context: DispatchContext) -> Verdict:
    plan = _plan(call, context)
    counts = {name: plan.fragments(name).counts for name in ("D", "A", "B", "C")}
    rows, depth = counts["A"]
    if counts["B"] != (depth, counts["D"][1]) or counts["D"][0] != rows or counts["C"] != counts["D"]:
        decline("the warps do not hold parts that go together", **counts)
    return accept(instruction=plan.mnemonic, each=(*counts["D"], depth))


# ---- emission -------------------------------------------------------------------------------------------------------


def emit_mma(call: TileCall, context: DispatchContext) -> None:
    """`D` starts as `C` (or zero), then one instruction per part and step of k."""
    plan = _plan(call, context)
    scope = getattr(Tx.tile, call.scope)
    found = {name: plan.fragments(name) for name in ("D", "A", "B")}
    if not plan.accumulates:
        scope.fill(call.operand("D"), 0)
    elif call.operand("C") is not None and plan.tiles["C"].buffer is not plan.tiles["D"].buffer:
        scope.copy(call.operand("D"), call.operand("C"))
    d, a, b = (Registers(plan.tiles[name], found[name]) for name in "DAB")
    rows, columns = found["D"].counts
    regular = all(item.regular is not None for item in (d, a, b))
    instruction = ptx[plan.mnemonic]
    for k, i, j in parts((found["A"].counts[1], rows, columns), context, regular=regular):
        result = d.of((i, j))
        instruction(*result, *a.of((i, k)), *b.of((k, j)), *result)


VARIANTS = (
    Variant(
        "gemm", "cuda", "mma.m16n8k*", priority=10, emit=emit_mma, doc="matrix instructions of the warps, `mma.sync`",
        predicates=(
            Predicate("tiles in registers", _in_registers), Predicate("whole warps", _whole_warps),
            Predicate("alpha and beta", _factors), Predicate("fragments", _fragmented),
        ),
    ),
)  # fmt: skip
