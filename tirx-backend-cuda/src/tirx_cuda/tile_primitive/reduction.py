"""`sum`, `max` and `min` of a thread's own float32 values, by the wide instructions of sm_100: trees in a scratch array of registers.

packed_add_sum   pairs are added by `add.rn.f32x2`                PTX ISA 9.7.3.1
3input_maxmin    `max.f32` and `min.f32` of three operands        PTX ISA 9.7.3.11 and 12
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from tirx.ir import Buffer, Expr, TileCall
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import BINARY, Tile, loops, reduced_tiles

from ..ptx.chain import ptx

__all__ = ["VARIANTS"]

LEAST = 8  # values from which a tree of wide instructions pays


def _one_thread(call: TileCall, context: DispatchContext) -> Verdict:
    target, source, _ = reduced_tiles(call, context)
    if context.scope != "thread":
        decline("the values of a single thread: call it in thread scope", scope=context.scope)
    own = {"dst": target, "src": source}
    if any(tile.storage != "private" for tile in own.values()):
        decline("both tiles must be the thread's own", **{name: tile.scope for name, tile in own.items()})
    return accept()


def _values(call: TileCall, context: DispatchContext) -> Verdict:
    target, source, _ = reduced_tiles(call, context)
    if {target.dtype.name, source.dtype.name} != {"float32"}:
        decline("the instructions are for float32", dst=target.dtype.name, src=source.dtype.name)
    counts = {"dst": target.extents, "src": source.extents}
    if not all(isinstance(extent, int) for extents in counts.values() for extent in extents):
        decline("the extents are not constants", **counts)
    long = [extent for extent in source.extents if extent != 1]
    if prod(target.extents) != 1 or len(long) > 1:
        decline("one dimension is folded into one value", **counts)
    if not long or long[0] < LEAST:
        decline("too few values for a tree", values=prod(source.extents), least=LEAST)
    return accept(values=long[0])


def _has(mnemonic: str, operands: int) -> Predicate:
    """That the architecture has an instruction in its form of so many operands."""

    def test(call: TileCall, context: DispatchContext) -> Verdict:
        name, arch = mnemonic.format(call.op.name), context.target["arch"]
        form = next(form for form in ptx[name].forms if form.arity == operands)
        present = form.requires.available if form.requires is not None else ()
        if arch not in present:
            decline(f"the architecture lacks {name} of {operands - 1} operands", arch=arch, since=present[0])
        return accept()

    return Predicate("architecture", test)


def _loaded(source: Tile, context: DispatchContext, count: int) -> Buffer:
    """A scratch array of the values, that the tree is computed in."""
    scratch = context.alloc((count,), source.dtype, name="tree")
    long = next(dim for dim, extent in enumerate(source.extents) if extent != 1)
    with loops([(source.extents[long], True)], context) as (i,):
        scratch[i] = source.load([i if dim == long else 0 for dim in range(len(source.extents))])
    return scratch


def _finish(call: TileCall, target: Tile, rank: int, value: Expr) -> None:
    """The value, together with what the destination held where the call accumulates."""
    origin = [0] * rank
    target.store(origin, BINARY[call.op.name](target.load(origin), value) if call.attr("accum") else value)


def _repeat(count: int, context: DispatchContext, step: Callable[[Expr | int], None]) -> None:
    """`step` for each number below `count`, unrolled."""
    if count > 1:
        with loops([(count, True)], context) as (i,):
            step(i)
    elif count == 1:
        step(0)


def emit_packed_sum(call: TileCall, context: DispatchContext) -> None:
    """Halve the pairs until one is left; its two halves are the last to be added."""
    target, source, _ = reduced_tiles(call, context)
    values: Any = prod(source.extents)
    scratch = _loaded(source, context, values + values % 2)
    if values % 2:
        scratch[values] = 0.0
    pairs, add, count = scratch.view("float32x2"), ptx["add.rn.f32x2"], (values + 1) // 2
    while count > 1:
        half = (count + 1) // 2

        def pair(i: Expr | int, half: int = half) -> None:
            add(pairs[i], pairs[i], pairs[i + half])

        _repeat(count - half, context, pair)
        count = half
    _finish(call, target, len(source.extents), scratch[0] + scratch[1])


def emit_three_at_a_time(call: TileCall, context: DispatchContext) -> None:
    """A third of the values is left after each level; what has no two partners is folded with one."""
    target, source, _ = reduced_tiles(call, context)
    count: Any = prod(source.extents)
    values, fold, two = _loaded(source, context, count), ptx[f"{call.op.name}.f32"], BINARY[call.op.name]
    while count > 1:
        third = -(-count // 3)
        whole = count - 2 * third  # this many have two partners

        def triple(i: Expr | int, third: int = third) -> None:
            fold(values[i], values[i], values[i + third], values[i + 2 * third])

        _repeat(whole, context, triple)
        for i in range(whole, third):
            values[i] = two(values[i], values[i + third])
        count = third
    _finish(call, target, len(source.extents), values[0])


ALONE = (Predicate("one thread", _one_thread), Predicate("float32 into one value", _values))

VARIANTS = (
    Variant("sum", "cuda", "packed_add_sum", priority=20, emit=emit_packed_sum, doc="pairs of float32 in a tree, `add.rn.f32x2`",
            predicates=(*ALONE, _has("add.rn.f32x2", 3))),
    *(
        Variant(name, "cuda", "3input_maxmin", priority=20, emit=emit_three_at_a_time, doc=f"three values at a time, `{name}.f32`",
                predicates=(*ALONE, _has("{}.f32", 4)))
        for name in ("max", "min")
    ),
)  # fmt: skip
