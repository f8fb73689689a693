"""`copy` of exactly one vector, when a call asks for its width: `dispatch="vec_128b"`, with cache operators and eviction priorities.

PTX ISA 9.7.9.8 (`ld`), 9.7.9.9 (`ld.global.nc`), 9.7.9.11 (`st`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tirx.ir import Buffer, BufferLoad, TileCall, as_expr
from tirx.tile import ConfigKey, Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import Tile, copy_tiles, has_runs, is_unit

from ..ptx.chain import ptx

__all__ = ["VARIANTS", "WIDTHS"]

WIDTHS = (256, 128, 64, 32, 16)
_SPACES = {"global": ".global", "shared": ".shared", "shared.dyn": ".shared"}

CONFIG = (
    ConfigKey("cache", str, None, "read through the cache of read-only data (global source)", choices=("nc",)),
    ConfigKey(
        "l1_evict", str, None, "eviction priority in L1",
        choices=("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate"),
    ),
    ConfigKey("l2_evict", str, None, "eviction priority in L2", choices=("evict_normal", "evict_first", "evict_last")),
    ConfigKey("prefetch_size", int, None, "bytes that are brought into L2 around the source", choices=(64, 128, 256)),
)  # fmt: skip


class Plan:
    """One vector of `width` bits as words of a register each."""

    def __init__(self, call: TileCall, context: DispatchContext, width: int) -> None:
        self.target, self.source = copy_tiles(call, context)
        self.context, self.width = context, width
        self.word = min(width, max(32, self.target.dtype.storage_bits))
        self.count = width // self.word
        self.config = context.config

    def options(self, of: Tile) -> str:
        """Eviction priorities; those of the source side stand on loads, those of a global destination on stores."""
        if of.scope != "global":
            return ""
        found = "".join(
            f".L{level}::{name}" for level in (1, 2) if (name := self.config[f"l{level}_evict"]) is not None
        )
        size = self.config["prefetch_size"]
        return found + (f".L2::{size}B" if size is not None and of is self.source else "")

    @property
    def load(self) -> str:
        """The instruction that reads memory."""
        cache = ".nc" if self.config["cache"] == "nc" else ""
        return f"ld{_SPACES.get(self.source.scope, '')}{cache}{self.options(self.source)}{self._type()}"

    @property
    def store(self) -> str:
        """The instruction that writes memory."""
        return f"st{_SPACES.get(self.target.scope, '')}{self.options(self.target)}{self._type()}"

    def _type(self) -> str:
        return (f".v{self.count}" if self.count > 1 else "") + f".b{self.word}"

    def mnemonics(self) -> list[str]:
        """The instructions that are needed."""
        return [
            *([self.load] if self.source.storage == "memory" else []),
            *([self.store] if self.target.storage == "memory" else []),
        ]

    def words(self, tile: Tile) -> list[BufferLoad]:
        """The registers of a tile of the thread's own, as words."""
        start = tile.indices([0] * len(self.target.extents))
        per = self.word // tile.dtype.storage_bits
        view: Buffer = tile.buffer.view(f"uint{self.word}") if per > 1 else tile.buffer
        last = self.context.analyzer.simplify(start[-1] // per)
        return [BufferLoad(view, (*start[:-1], as_expr(last + number))) for number in range(self.count)]


def _width_of(call: TileCall) -> int:
    return int(str(call.dispatch).removeprefix("vec_").removesuffix("b"))


def _alone(call: TileCall, context: DispatchContext) -> Verdict:
    if context.scope != "thread":
        decline("one vector is one thread's work: call it in thread scope", scope=context.scope)
    return accept()


def _sized(width: int) -> Predicate:
    def test(call: TileCall, context: DispatchContext) -> Verdict:
        target, source = copy_tiles(call, context)
        for tile in (target, source):
            bits = _bits(tile)
            if bits != width:
                decline(f"`{tile.buffer.name}` is not one vector of {width} bits", bits=bits)
            single = width == tile.dtype.storage_bits
            if tile.storage == "distributed" or not (
                single or has_runs(tile, width // tile.dtype.storage_bits, _long(tile))
            ):
                decline(f"the elements of `{tile.buffer.name}` do not lie together and aligned")
        return accept(elements=width // target.dtype.storage_bits)

    return Predicate(f"regions of {width} bits", test)


def _bits(tile: Tile) -> object:
    total = tile.dtype.storage_bits
    for extent in tile.extents:
        if not isinstance(extent, int):
            return "not a constant"
        total *= extent
    return total


def _long(tile: Tile) -> int:
    """The dimension that the vector runs along."""
    return next(
        (dim for dim, extent in reversed(list(enumerate(tile.extents))) if not is_unit(extent)), len(tile.extents) - 1
    )


def _instructions(width: int) -> Predicate:
    def test(call: TileCall, context: DispatchContext) -> Verdict:
        plan = Plan(call, context, width)
        for name, tile in (("cache", plan.source), ("prefetch_size", plan.source)):
            if context.config[name] is not None and tile.scope != "global":
                decline(f"`{name}` is for a source in global memory", scope=tile.scope)
        for mnemonic in plan.mnemonics():
            archs = _archs(mnemonic)
            if context.target["arch"] not in archs:
                since = archs[0] if archs else "none"
                decline(f"the architecture lacks {mnemonic}", arch=context.target["arch"], since=since)
        return accept(instructions=" ".join(plan.mnemonics()) or "moves of registers")

    return Predicate("instructions", test)


def _archs(mnemonic: str) -> Sequence[str]:
    try:
        return ptx[mnemonic].archs
    except AttributeError as error:  # no row has these modifiers together
        decline(str(error).splitlines()[0])


def emit_vector(call: TileCall, context: DispatchContext) -> None:
    """Into registers, and out of them; a side that is the thread's own already is the registers."""
    plan = Plan(call, context, _width_of(call))
    origin = [0] * len(plan.target.extents)
    held = next((tile for tile in (plan.source, plan.target) if tile.storage != "memory"), None)
    if held is None:
        scratch = context.alloc((plan.count,), f"uint{plan.word}", name="vector")
        words: list[BufferLoad] = [scratch[number] for number in range(plan.count)]
    else:
        words = plan.words(held)
    if plan.source.storage == "memory":
        ptx[plan.load](*words, plan.source.buffer.ptr_to(plan.source.indices(origin)))
    if plan.target.storage == "memory":
        ptx[plan.store](plan.target.buffer.ptr_to(plan.target.indices(origin)), *words)
    elif plan.source.storage != "memory":
        for mine, other in zip(plan.words(plan.target), plan.words(plan.source), strict=True):
            mine.buffer[mine.indices] = other


VARIANTS = tuple(
    Variant(
        "copy", "cuda", f"vec_{width}b", priority=20, on_request=True, emit=emit_vector, config=CONFIG,
        doc=f"one vector of {width} bits",
        predicates=(Predicate("one thread", _alone), _sized(width), _instructions(width)),
    )
    for width in WIDTHS
)  # fmt: skip
