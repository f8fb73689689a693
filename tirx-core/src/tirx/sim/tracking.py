"""Which memories a kernel's races can be in, how finely their shadows are cut, and how finely order must be followed."""

from __future__ import annotations

from typing import Any

from ..ir import BufferLoad, BufferStore, Call, Node, Var, walk
from .facts import Facts, row_of
from .memory import Arena, GlobalMemory
from .pool import memory_dtype
from .translate import Translation

__all__ = ["granules_of", "needs_fine_order", "tracked_arenas"]

WHOLE = frozenset({"cta", "kernel"})


def tracked_arenas(translation: Translation, values: list[Any], memory: GlobalMemory) -> set[int]:
    """Ids of the global arenas that the kernel may write; others cannot race."""
    found: set[int] = set()
    if _written_records(translation.facts):
        return {id(arena) for arena in memory.arenas}
    for position in _written_params(translation.facts):
        place = memory.find(values[position])
        if place is not None:
            found.add(id(place[0]))
    return found


def _written_records(facts: Facts) -> bool:
    """Whether the kernel writes through a record that the host encoded: it may tell of any array of the call."""
    for node in facts.keep_alive:
        if not isinstance(node, Call):
            continue
        row = row_of(node)
        if row is None or not row.operands:
            continue
        for at, arg in enumerate(node.args):
            if arg.dtype.by_value and row.operands[min(at, len(row.operands) - 1)].rw != "r":
                return True
    return False


def _written_params(facts: Facts) -> set[int]:
    """Positions of pointer parameters that are stored to, or handed to something that may write."""
    positions = set()
    for node in facts.keep_alive:
        for data in _written(node):
            root = facts.roots.get(id(data))
            if root is None or root.kind == "pointer":  # it may lead anywhere
                return {r.offset for r in facts.roots.values() if r.kind == "param"}
            if root.kind == "param":
                positions.add(root.offset)
    return positions


def _written(node: Node) -> list[Var]:
    if isinstance(node, BufferStore):
        return [node.buffer.data]
    if not isinstance(node, Call):
        return []
    row = row_of(node)
    if row is not None and row.effect.kind == "read":
        return []
    pointers: list[Var] = []
    for arg in node.args:
        for item in walk(arg):
            if isinstance(item, BufferLoad) and (row is None or row.name == "address_of"):
                pointers.append(item.buffer.data)
            elif isinstance(item, Var) and item.dtype.is_handle:
                pointers.append(item)
    return pointers


def granules_of(
    translation: Translation, values: list[Any], arenas: list[Arena], memory: GlobalMemory
) -> dict[int, int]:
    """Per arena, the size of the smallest element that the kernel accesses in it."""
    found: dict[int, int] = {}
    by_name = {arena.name: arena for arena in arenas if arena.kind != "global"}
    for view in translation.pool.views.values():
        if view.kind == "param":
            place = memory.find(values[view.position])
            arena = place[0] if place is not None else None
        else:
            arena = by_name.get(view.space or "local")
        if arena is not None:
            size = view.dtype.itemsize
            found[id(arena)] = min(size, found.get(id(arena), size))
    for node in translation.facts.keep_alive:
        if isinstance(node, BufferLoad | BufferStore):
            root = translation.facts.roots.get(id(node.buffer.data))
            if root is not None and root.kind == "pointer":
                size = memory_dtype(node.buffer.dtype)[0].itemsize
                found = {key: min(old, size) for key, old in found.items()}
    return found


def needs_fine_order(translation: Translation) -> bool:
    """Whether a kernel synchronises by more than barriers of whole ctas and of the whole launch."""
    facts = translation.facts
    if facts.spins or facts.later:  # waiting for operations orders the threads of a warp
        return True
    for node in facts.keep_alive:
        row = row_of(node) if isinstance(node, Call) else None
        if row is None:
            continue
        barrier = row.effect.barrier
        if row.effect.kind == "wait" or _used_atomic(facts, node):
            return True
        if barrier is not None and (barrier.level not in WHOLE or barrier.identifier or barrier.count):
            return True
    return False


def _used_atomic(facts: Facts, call: Node) -> bool:
    return id(call) in facts.used_atomics
