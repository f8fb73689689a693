"""From a lowered device function to Python functions over NumPy arrays, one for each block.

`Translation.text` is the generated source, readable; `TIRX_SIM_PRINT=1` in the environment prints it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ir import Alloc, Bind, Decl, For, Let, Node, PrimFunc, Var, walk
from ..support.span import Span
from . import numeric
from .cut import Barrier, Block, Branch, Counted, Enter, Step, Wait, cut, leading_to
from .emit_base import Code
from .emit_block import BlockEmitter
from .facts import Facts
from .places import Places
from .pool import Pool

__all__ = ["Translation", "translate"]


class Translation:
    """A translated function.

    `waits[i]` says whether threads wait in block `i` for others.

    `blocks[i](S, cx, ck, threads, count, key)` runs block `i` and answers where its threads go on; `orders[i](key)` is the
    place of a block in program order; `gathers[i]` are the blocks from which threads come to block `i`, if those of a warp meet
    in it, else None.
    """

    __slots__ = ("blocks", "facts", "gathers", "orders", "places", "pool", "spans", "text", "waits")

    def __init__(
        self,
        facts: Facts,
        pool: Pool,
        blocks: list[Callable[..., Any]],
        orders: list[Any],
        gathers: list[frozenset[int] | None],
        spans: list[Span | None],
        waits: list[bool],
        text: str,
    ) -> None:
        self.facts = facts
        self.places = Places(facts)
        self.spans = spans
        self.waits = waits
        self.pool = pool
        self.blocks = blocks
        self.orders = orders
        self.gathers = gathers
        self.text = text


def translate(
    func: PrimFunc, extents: Mapping[str, int], checks: frozenset[str], dynamic_shared: int = 0
) -> Translation:
    """The translation of `func` for a launch of this size with these checks; kept with the function."""
    key = ("sim", tuple(sorted(extents.items())), checks, dynamic_shared)
    found: Translation | None = func._memo.get(key)  # type: ignore[call-overload]
    if found is None:
        found = func._memo[key] = _translated(func, extents, checks, dynamic_shared)  # type: ignore[index]
    return found


def _translated(func: PrimFunc, extents: Mapping[str, int], checks: frozenset[str], dynamic_shared: int) -> Translation:
    facts = Facts(func, extents, dynamic_shared)
    blocks = cut(facts)
    pool = Pool(facts, checks)
    bindings = {id(n.var): n.value for n in facts.keep_alive if isinstance(n, Bind) and id(n.var) not in facts.variant}
    saved = _crossing(blocks)
    code: Code = []
    for block in blocks:
        code += [*BlockEmitter(pool, block, bindings, saved).function(), ""]
    text = "\n".join(_lines(code, 0))
    if os.environ.get("TIRX_SIM_PRINT"):
        sys.stderr.write(text + "\n")
    space = {name: getattr(numeric, name) for name in numeric.__all__}
    space.update(pool.space, np=np)
    exec(compile(text, f"<simulation of {func.name}>", "exec"), space)  # noqa: S102  # our own text, made from IR
    functions = [space[f"block_{block.index}"] for block in blocks]
    orders, spans = [_order(block) for block in blocks], [_span(block) for block in blocks]
    gathers = [leading_to(block, blocks) if block.gathers else None for block in blocks]
    waits = [isinstance(block.term, Wait) for block in blocks]
    return Translation(facts, pool, functions, orders, gathers, spans, waits, text)


def _lines(code: Code, depth: int) -> list[str]:
    made: list[str] = []
    for item in code:
        if isinstance(item, list):
            made += _lines(item, depth + 1)
        else:
            made.append("    " * depth + item if item else "")
    return made


def _order(block: Block) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """Program order: positions, and between them the counters of the loops."""
    slots = [(True, block.keys.index(part)) if isinstance(part, Counted) else (False, part) for part in block.path]
    if not block.keys:
        constant = tuple(part for _, part in slots)
        return lambda key: constant
    return lambda key: tuple(key[value] if counter else value for counter, value in slots)


def _span(block: Block) -> Span | None:
    """Where a block's wait or first operation stands, for reports on threads that never leave it."""
    if isinstance(block.term, Wait) and block.term.call.span is not None:
        return block.term.call.span
    parts = [*([block.loop] if block.loop is not None else []), *block.items, *_parts(block)]
    return next((part.span for part in parts if part.span is not None), None)


def _crossing(blocks: list[Block]) -> set[int]:
    """Ids of variables that are defined in one block and read in another."""
    home: dict[int, int] = {}
    found: set[int] = set()
    parts = [(block, node) for block in blocks for part in _parts(block) for node in walk(part)]
    for block, node in parts:
        for var in _defined(node):
            home[id(var)] = block.index
    for block, node in parts:
        if isinstance(node, Var):
            if home.get(id(node), block.index) != block.index:
                found.add(id(node))
        else:
            for data in _pointers(node):
                if home.get(id(data), block.index) != block.index:
                    found.add(id(data))
    return found


def _parts(block: Block) -> list[Node]:
    term = block.term
    parts: list[Node] = list(block.items)
    if isinstance(term, Branch):
        parts.append(term.condition)
    elif isinstance(term, Barrier | Wait):
        parts.append(term.call)
    elif isinstance(term, Enter | Step):
        parts += [term.counted.loop.start, term.counted.loop.extent, term.counted.loop.step]
    return parts


def _defined(node: Node) -> list[Var]:
    if isinstance(node, Bind | For | Let):
        return [node.var]
    return [node.buffer.data] if isinstance(node, Decl) and node.source is not None else []


def _pointers(node: Node) -> list[Var]:
    buffer = getattr(node, "buffer", None)
    return [buffer.data] if buffer is not None and not isinstance(node, Alloc) else []
