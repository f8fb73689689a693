"""Thousands of random layouts and operations under both implementations."""

from __future__ import annotations

import contextlib
import json
import random
import select
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from tests.core.layout.oracle import meaning
from tirx.layout import ComposeLayout, Iter, TileLayout
from tirx.support.errors import LayoutError

PATIENCE = 30.0  # seconds for one answer
THREADS = ("laneid", "warpid", "tx", "wgid", "wid_in_wg", "tid_in_wg")
CHAINS = (("laneid",), ("warpid", "laneid"), ("wid_in_wg", "laneid"), ("wgid", "tid_in_wg"), ("wgid", "wid_in_wg"), ())


class Case(NamedTuple):
    """One operation."""

    op: str
    layout: Any
    arguments: tuple[Any, ...]
    options: dict[str, Any] = {}

    def text(self) -> str:
        """The line for the other side."""
        arguments = [write(item) for item in self.arguments]
        return json.dumps(
            {"op": self.op, "layout": write(self.layout), "arguments": arguments, "options": self.options}
        )


def write(value: Any) -> Any:
    """A layout, or anything that holds some, as plain data."""
    if isinstance(value, ComposeLayout):
        bits = [value.per_element, value.swizzle_len, value.atom_len, value.swizzle_inner]
        return {"swizzle": bits, "tile": write(value.tile_layout)}
    if isinstance(value, TileLayout):
        iters = [[[i.extent, i.stride, i.axis] for i in part] for part in (value.shard, value.replica)]
        return {"shard": iters[0], "replica": iters[1], "offset": dict(value.offset)}
    return [write(item) for item in value] if isinstance(value, list | tuple) else value


def read(value: Any) -> Any:
    """The same back."""
    if isinstance(value, list):
        return [read(item) for item in value]
    if isinstance(value, dict) and "swizzle" in value:
        bits, inner = value["swizzle"][:3], value["swizzle"][3]
        return ComposeLayout(*bits, read(value["tile"]), inner)
    if isinstance(value, dict) and "shard" in value:
        shard, replica = ([Iter(*item) for item in value[part]] for part in ("shard", "replica"))
        return TileLayout.from_iters(shard or [Iter(1, 1)], replica, value["offset"])
    return value


class Peer:
    """The child process; started again when it dies or is silent for too long."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.child: subprocess.Popen[str] | None = None

    def ask(self, case: Case) -> dict[str, Any]:
        """What the published implementation answers."""
        if self.child is None or self.child.poll() is not None:
            self.child = subprocess.Popen(
                [self.python, "-W", "ignore", str(Path(__file__).with_name("layout_peer.py"))],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        stdin, stdout = self.child.stdin, self.child.stdout
        assert stdin is not None
        assert stdout is not None
        with contextlib.suppress(BrokenPipeError):
            stdin.write(case.text() + "\n")
            stdin.flush()
        ready, _, _ = select.select([stdout], [], [], PATIENCE)
        line = stdout.readline() if ready else ""
        if not line:
            self.close()
            return {"error": "crashes" if ready else "does not come back"}
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """End the child."""
        if self.child is not None:
            self.child.kill()
            self.child.communicate()  # closes its streams
        self.child = None


# ---- cases --------------------------------------------------------------------------------------------------------


def cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Some that chance seldom finds, then random operations, each kind in turn."""
    yield from RARE
    chance = random.Random(seed)
    makers = list(MAKERS)
    for number in range(count):
        yield makers[number % len(makers)](chance)


def tile_layout(chance: random.Random, largest: int = 64, copies: bool = True, rank: int = 4) -> TileLayout:
    """A layout of a few iters over memory and a chain of thread axes."""
    axes = ["m", "m", *chance.choice(CHAINS)]
    shard = [
        Iter(chance.choice([1, 2, 2, 3, 4, 4, 8]), step(chance), chance.choice(axes))
        for _ in range(chance.randint(1, rank))
    ]
    while prod(item.extent for item in shard) > largest:
        shard.pop()
    replica = (
        [Iter(chance.choice([2, 2, 3]), step(chance), chance.choice(axes))] if copies and chance.random() < 0.25 else []
    )
    offset = {chance.choice(axes): chance.randint(1, 9)} if chance.random() < 0.25 else {}
    return TileLayout.from_iters(shard or [Iter(1, 1)], replica, offset)


def step(chance: random.Random) -> int:
    return chance.choice([0, 1, 1, 2, 3, 4, 8, 12, 16, 64])


def layout(chance: random.Random) -> Any:
    """A tile layout, or a swizzled one."""
    tile = tile_layout(chance)
    if chance.random() < 0.7:
        return tile
    tile = TileLayout.from_iters([Iter(i.extent, i.stride) for i in tile.shard], [], {})
    atom = chance.randint(0, 3)
    return ComposeLayout(chance.randint(0, 3), chance.randint(0, atom), atom, tile, chance.random() < 0.7)


def extents(made: Any) -> list[int]:
    """Extents of the iters."""
    return [item.extent for item in getattr(made, "tile_layout", made).shard]


def shape_of(chance: random.Random, made: Any, rank: int | None = None) -> list[int]:
    """A shape by which a layout can (mostly) be grouped."""
    shape: list[int] = []
    for extent in extents(made):
        how = chance.random()
        if how < 0.3 and shape:
            shape[-1] *= extent
        elif how < 0.5:
            part = chance.choice([d for d in range(1, extent + 1) if extent % d == 0])
            shape += [part, extent // part]
        else:
            shape.append(extent)
    if rank is not None:
        while len(shape) > rank:
            shape[:2] = [shape[0] * shape[1]]
        shape = [1] * (rank - len(shape)) + shape
    return shape


def any_shape(chance: random.Random, size: int) -> list[int]:
    """A shape of that many elements."""
    part = chance.choice([d for d in range(1, size + 1) if size % d == 0])
    return [part, size // part]


def apply(chance: random.Random) -> Case:
    made = layout(chance)
    shape = shape_of(chance, made) if chance.random() < 0.5 else any_shape(chance, made.size())
    return Case("apply", made, tuple(chance.randrange(extent) for extent in shape), {"shape": shape})


def query(chance: random.Random) -> Case:
    op = chance.choice(["size", "span", "is_trivial", "is_swizzle", "storage", "get_scope"])
    made = tile_layout(chance) if op == "get_scope" else layout(chance)
    axis = [chance.choice(("m", *THREADS))] if op in ("size", "span") and chance.random() < 0.5 else []
    return Case(op, made, () if isinstance(made, ComposeLayout) else tuple(axis))


def canonicalize(chance: random.Random) -> Case:
    return Case("canonicalize", layout(chance), ())


def canonicalize_for_cuda(chance: random.Random) -> Case:
    return Case("canonicalize for CUDA", tile_layout(chance, copies=False), ())


def group(chance: random.Random) -> Case:
    made = tile_layout(chance)
    return Case("group", made, (shape_of(chance, made) if chance.random() < 0.8 else any_shape(chance, made.size()),))


def group_many(chance: random.Random) -> Case:
    made = tile_layout(chance)
    return Case("group_many", made, ([[e for e in shape_of(chance, made) if e > 1] or [1] for _ in range(2)],))


def permute(chance: random.Random) -> Case:
    made = tile_layout(chance)
    order = chance.sample(range(len(made.shard)), len(made.shard))
    if chance.random() < 0.5:
        return Case("permute_dims", made, (order,))
    cuts = sorted({0, len(order), *(chance.randint(0, len(order)) for _ in range(2))})
    return Case("permute_by_groups", made, (cuts, chance.sample(range(len(cuts) - 1), len(cuts) - 1)))


def pair(chance: random.Random) -> tuple[TileLayout, list[int], Any, list[int]]:
    """An outer layout, an inner one, and their shapes."""
    rank = chance.randint(1, 3)
    outer, inner = tile_layout(chance, 12, rank=3), layout(chance)
    return outer, shape_of(chance, outer, rank), inner, shape_of(chance, inner, rank)


def tile(chance: random.Random) -> Case:
    outer, outer_shape, inner, inner_shape = pair(chance)
    return Case("tile", inner, (outer, outer_shape, inner_shape))


def tile_to(chance: random.Random) -> Case:
    _, _, inner, shape = pair(chance)
    return Case("tile_to", inner, ([extent * chance.randint(1, 3) for extent in shape], shape))


def tile_inverse(chance: random.Random) -> Case:
    outer, outer_shape, inner, inner_shape = pair(chance)
    total = inner.tile(outer, outer_shape, inner_shape)
    shape = [a * b for a, b in zip(outer_shape, inner_shape, strict=True)]
    if chance.random() < 0.5:
        other = inner if chance.random() < 0.7 else tile_layout(chance)
        return Case("is_tile_inner", other, (total, shape, inner_shape if other is inner else shape))
    return Case("is_tile_outer", outer, (total, shape, outer_shape))


def direct_sum(chance: random.Random) -> Case:
    left, left_shape, right, right_shape = pair(chance)
    return Case("direct_sum", right, (left, left_shape, right_shape))


def sum_inverse(chance: random.Random) -> Case:
    left, left_shape, right, right_shape = pair(chance)
    total = right.direct_sum(left, left_shape, right_shape)
    shape = [extent for both in zip(left_shape, right_shape, strict=True) for extent in both]
    if chance.random() < 0.5:
        return Case("is_direct_sum_left", left, (total, shape, left_shape))
    return Case("is_direct_sum_right", right, (total, shape, right_shape))


def box(chance: random.Random) -> Case:
    made = layout(chance)
    shape = shape_of(chance, made)
    region = []
    for extent in shape:
        begin = chance.randrange(extent)
        region.append([begin, chance.randint(begin + 1, extent)])
    return Case("slice", made, (shape, region))


def elements(chance: random.Random) -> Case:
    made, factor, other = layout(chance), chance.choice([1, 2, 2, 4]), chance.choice([2, 4])
    if chance.random() < 0.4:
        return Case("unpack", made, (factor,))
    return Case("pack", made.unpack(other) if chance.random() < 0.7 else made, (factor,))


def broadcast(chance: random.Random) -> Case:
    made = layout(chance)
    count = len(extents(made))
    return Case("broadcast", made, (chance.randint(1, 4), chance.randint(-1, count)))


MAKERS = (
    apply, query, canonicalize, canonicalize_for_cuda, group, group_many, permute, tile, tile_to, tile_inverse, direct_sum,
    sum_inverse, box, box, elements, broadcast,
)  # fmt: skip


PLAIN = TileLayout.from_iters([Iter(8, 1)])
TWICE = TileLayout.from_iters([Iter(4, 16), Iter(2, 2)], [Iter(2, 16), Iter(2, 16)])
RARE = (
    Case("is_trivial", ComposeLayout(3, 0, 3, PLAIN), ()),
    Case("get_scope", TileLayout.from_iters([Iter(8, 1)], [Iter(2, 1, "warpid")]), ()),
    Case("is_direct_sum_left", TileLayout.from_iters([Iter(4, 16)], [Iter(2, 16)]), (TWICE, [4, 2], [4])),
)


# ---- comparison ---------------------------------------------------------------------------------------------------


def ours(case: Case, scopes: Any) -> dict[str, Any]:
    """What this implementation answers, as the other side writes it."""
    try:
        if case.op == "canonicalize for CUDA":
            return {"result": case.layout.canonicalize(scopes=scopes)}
        return {"result": getattr(case.layout, case.op)(*case.arguments, **case.options)}
    except LayoutError as error:
        return {"error": error.message}


def difference(case: Case, mine: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """In which way the answers differ; None when they mean the same."""
    if "error" in mine or "error" in theirs:
        if "error" in mine and "error" in theirs:
            return None
        return f"{case.op}: " + ("we refuse" if "error" in mine else "it refuses")
    a, b = mine["result"], read(theirs["result"])
    if (a is None) != (b is None):
        return f"{case.op}: " + ("we answer None" if a is None else "it answers None")
    return None if means(case, a) == means(case, b) else f"{case.op}: another answer"


def means(case: Case, answer: Any) -> Any:
    """What of an answer counts: the map of a layout, how its iters line up."""
    if isinstance(answer, TileLayout | ComposeLayout):
        return meaning(answer)
    if case.op in ("group", "group_many") and answer is not None:
        made, cuts = answer
        return meaning(made), sizes(made, cuts)
    if isinstance(answer, dict):
        return {axis: value for axis, value in answer.items() if value}
    return list(answer) if isinstance(answer, tuple) else answer


def sizes(made: TileLayout, cuts: Any) -> Any:
    """Elements between separators."""
    if cuts and isinstance(cuts[0], list | tuple):
        return [sizes(made, part) for part in cuts]
    return [prod(item.extent for item in made.shard[a:b]) for a, b in pairwise(cuts)]
