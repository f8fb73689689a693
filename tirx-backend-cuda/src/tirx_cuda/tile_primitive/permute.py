"""`permute_layout` inside shared memory by one warp: all elements into registers, and back in the other layout.

In step r lane t moves element `(turn // weight * 32 + t) * weight + turn % weight`, where `turn = r ^ (t >> shift)`. `weight` says
which elements neighbouring lanes take, the xor staggers them: a transpose of 32 x 32 words reads rows and writes columns, each
lane to another bank. Which weight and shift meet the fewest conflicts is counted when the kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from tirx.ir import Expr, TileCall, as_expr
from tirx.layout import TileLayout
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import Tile, copy_tiles, is_unit, loops, region_layout, split

__all__ = ["VARIANTS", "Order", "best_order"]

LANES = 32
BANKS, BANK_BYTES = 32, 4
MOST = 1024  # bytes that a thread holds: all its 255 registers
SAMPLE = 16  # steps in which conflicts are counted

Strides = tuple[tuple[int, int], ...]  # (extent, stride) of each iter


class Order(NamedTuple):
    """Which element a lane moves in a step; `mask` bits of the step are staggered."""

    weight: int
    shift: int
    mask: int

    def element(self, step: Any, lane: Any) -> Any:
        """The number of the element, counted row-major; of numbers or expressions."""
        turn = step ^ ((lane >> self.shift) & self.mask) if self.mask else step
        if self.weight == 1:
            return turn * LANES + lane
        return (turn // self.weight * LANES + lane) * self.weight + turn % self.weight


@lru_cache(maxsize=256)
def best_order(layouts: tuple[Strides, ...], total: int, size: int) -> tuple[Order, int]:
    """The order with the fewest turns of the banks, and how many those are in the steps that were counted."""
    steps = total // LANES
    tables = [_positions(layout) for layout in layouts]
    sample = range(0, steps, max(1, steps // SAMPLE))
    least = len(sample) * len(tables) * max(1, size // BANK_BYTES)
    found, fewest = Order(1, 0, 0), -1
    for order in _orders(steps):
        turns = 0
        for step in sample:
            elements = [order.element(step, lane) for lane in range(LANES)]
            turns += sum(_turns([table[element] * size for element in elements], size) for table in tables)
        if fewest < 0 or turns < fewest:
            found, fewest = order, turns
        if fewest <= least:
            break
    return found, fewest


def _orders(steps: int) -> Iterator[Order]:
    """Orders to try, plain ones first."""
    power = steps & -steps  # the largest power of two that divides
    weights = [1 << bit for bit in range(power.bit_length())]
    for weight in weights:
        yield Order(weight, 0, 0)
    for weight in weights:
        for shift in range(LANES.bit_length() - 1):
            if power > 1:
                yield Order(weight, shift, min(power, LANES >> shift) - 1)


def _positions(layout: Strides) -> list[int]:
    """Position of every element, counted row-major, from the first."""
    found = [0]
    for extent, stride in layout:
        found = [position + number * stride for position in found for number in range(extent)]
    return found


def _turns(addresses: Sequence[int], size: int) -> int:
    """Turns that shared memory takes for one access of a warp: different words of one bank wait for each other."""
    words = {address // BANK_BYTES + word for address in addresses for word in range(max(1, size // BANK_BYTES))}
    counts = [0] * BANKS
    for word in words:
        counts[word % BANKS] += 1
    return max(counts)


def _strides(tile: Tile) -> Strides:
    layout = region_layout(tile)
    if not isinstance(layout, TileLayout):
        decline("turns of the banks are counted for plain strides only")
    return tuple((_number(item.extent), _number(item.stride)) for item in layout.shard if not is_unit(item.extent))


def _number(value: Any) -> int:
    if not isinstance(value, int):
        decline("an extent or a stride is not a constant", value=value)
    return value


def order_of(target: Tile, source: Tile) -> tuple[Order, int]:
    """The order of a call."""
    extents: Any = target.extents
    return best_order((_strides(source), _strides(target)), prod(extents), target.dtype.storage_bits // 8)


# ---- predicates -----------------------------------------------------------------------------------------------------


def _one_warp(call: TileCall, context: DispatchContext) -> Verdict:
    if context.scope != "warp" or context.threads != LANES:
        decline("the work of a whole warp: call it in warp scope", scope=context.scope, threads=context.threads)
    return accept()


def _plain(call: TileCall, context: DispatchContext) -> Verdict:
    tiles = dict(zip(("dst", "src"), copy_tiles(call, context), strict=True))
    if not all(tile.scope.startswith("shared") for tile in tiles.values()):
        decline("both sides must be in shared memory", **{name: tile.scope for name, tile in tiles.items()})
    kinds = {name: type(tile.buffer.layout).__name__ for name, tile in tiles.items()}
    if set(kinds.values()) != {TileLayout.__name__}:
        decline("both layouts must be plain strides", **kinds)
    return accept()


def _shared_out(call: TileCall, context: DispatchContext) -> Verdict:
    target, source = copy_tiles(call, context)
    bits, total = target.dtype.storage_bits, prod(_number(extent) for extent in target.extents)
    if bits not in (8, 16, 32, 64, 128):
        decline("elements have 1, 2, 4, 8 or 16 bytes", bits=bits)
    if total % LANES:
        decline("the elements cannot be shared out among the lanes", elements=total, lanes=LANES)
    held = total // LANES * bits // 8
    if held > MOST:
        decline("a lane cannot hold its part in registers", bytes=held, most=MOST)
    order, turns = order_of(target, source)
    return accept(weight=order.weight, shift=order.shift, mask=order.mask, turns=turns)


# ---- emission -------------------------------------------------------------------------------------------------------


def emit_staggered(call: TileCall, context: DispatchContext) -> None:
    """Read all, meet, write all: both in the same order, so that registers are counted by the step."""
    target, source = copy_tiles(call, context)
    order, _ = order_of(target, source)
    extents: Any = target.extents
    steps = prod(extents) // LANES
    lane = context.analyzer.simplify(as_expr(context.rank))
    held = context.alloc((steps,), target.dtype, name="moved")

    def coords(step: Expr) -> tuple[Any, ...]:
        return split(as_expr(order.element(step, lane)), target.extents, context.analyzer)

    with loops([(steps, True)], context) as (step,):
        held[step] = source.load(coords(step))
    context.sync()
    with loops([(steps, True)], context) as (step,):
        target.store(coords(step), held[step])


VARIANTS = (
    Variant(
        "permute_layout", "cuda", "warp_xor_swizzle", priority=20, emit=emit_staggered,
        doc="a warp's registers, lanes staggered by xor so that they meet in few banks",
        predicates=(
            Predicate("one warp", _one_warp), Predicate("plain layouts in shared memory", _plain),
            Predicate("elements of the lanes", _shared_out),
        ),
    ),
)  # fmt: skip
