"""`copy_async` by `cp.async`: from global to shared memory past the registers. Committing and waiting are the author's.

PTX ISA 9.7.9.25.3. Vectors of 16, 8 or 4 bytes, the widest that both sides allow; a tail that does not fill a round is guarded.
"""

from __future__ import annotations

from tirx import script as Tx
from tirx.ir import Expr, Select, TileCall, as_expr, cast, const
from tirx.tile import ConfigKey, Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import Evenly, Share, Tile, Whole, copy_tiles, widest_vector

from ..ptx.chain import ptx

__all__ = ["VARIANTS"]

BYTES = (16, 8, 4)

CONFIG = (
    ConfigKey("prefetch_size", int, None, "bytes that are brought into L2 around the source", choices=(64, 128, 256)),
    ConfigKey("predicate", object, None, "copy only where this holds"),
    ConfigKey("fill_mode", str, None, "where `predicate` does not hold: zeros", choices=("zero",)),
    ConfigKey("direct", bool, False, "the region is a single instruction of each thread (thread scope)"),
)


class Plan:
    """The shares of the threads, and the bytes of one instruction."""

    def __init__(self, call: TileCall, context: DispatchContext) -> None:
        self.target, self.source = copy_tiles(call, context)
        width = self.target.dtype.storage_bits
        among = [8 * size // width for size in BYTES if 8 * size % width == 0]
        self.vector = widest_vector([self.target, self.source], context, among=among)
        self.bytes = self.vector * width // 8
        self.context = context

    def share(self) -> Share:
        """Neighbours take neighbouring vectors; a thread alone takes all."""
        alone = self.context.scope == "thread"
        return (Whole if alone else Evenly)(self.target.extents, self.context, self.vector)

    @property
    def mnemonic(self) -> str:
        """The instruction: whole sectors go past L1."""
        size = self.context.config["prefetch_size"]
        return f"cp.async.{'cg' if self.bytes == 16 else 'ca'}.shared.global" + (f".L2::{size}B" if size else "")


def _plan(call: TileCall, context: DispatchContext) -> Plan:
    return context.once(Plan, lambda: Plan(call, context))


def _memories(call: TileCall, context: DispatchContext) -> Verdict:
    target, source = copy_tiles(call, context)
    if not target.scope.startswith("shared") or source.scope != "global":
        decline("cp.async copies from global to shared memory", dst=target.scope, src=source.scope)
    return accept()


def _vectors(call: TileCall, context: DispatchContext) -> Verdict:
    plan = _plan(call, context)
    if plan.bytes not in BYTES:
        decline("no vectors of 4, 8 or 16 bytes lie together and aligned on both sides", bytes=plan.bytes)
    if context.config["direct"] and (context.scope != "thread" or _elements(plan.target) != plan.vector):
        decline("`direct` is one instruction in thread scope", scope=context.scope, bytes=plan.bytes)
    if context.config["fill_mode"] and context.config["predicate"] is None:
        decline("`fill_mode` says what happens where `predicate` does not hold; there is none")
    return accept(bytes=plan.bytes)


def _architecture(call: TileCall, context: DispatchContext) -> Verdict:
    arch, archs = context.target["arch"], ptx["cp.async.ca.shared.global"].archs
    return accept() if arch in archs else decline("the architecture lacks cp.async", arch=arch, since=archs[0])


def _elements(tile: Tile) -> object:
    total = 1
    for extent in tile.extents:
        if not isinstance(extent, int):
            return None
        total *= extent
    return total


def emit_cp_async(call: TileCall, context: DispatchContext) -> None:
    """One instruction per vector."""
    plan = _plan(call, context)
    instruction = ptx[plan.mnemonic]
    condition = context.config["predicate"]
    with plan.share().chunks() as coords:
        places = [tile.buffer.ptr_to(tile.indices(coords)) for tile in (plan.target, plan.source)]
        if condition is None:
            instruction(*places, plan.bytes)
        elif context.config["fill_mode"] == "zero":
            instruction(*places, plan.bytes, _source_bytes(as_expr(condition), plan.bytes))
        else:
            with Tx.If(as_expr(condition)), Tx.Then():
                instruction(*places, plan.bytes)


def _source_bytes(condition: Expr, size: int) -> Expr:
    """How much is read: nothing where the condition does not hold, and then zeros are written."""
    return cast(Select(condition, const(size), const(0)), "uint32")


VARIANTS = (
    Variant(
        "copy_async", "cuda", "ldgsts", priority=20, emit=emit_cp_async, config=CONFIG, doc="`cp.async`, vector by vector",
        predicates=(
            Predicate("global to shared", _memories), Predicate("architecture", _architecture), Predicate("vectors", _vectors),
        ),
    ),
)  # fmt: skip
