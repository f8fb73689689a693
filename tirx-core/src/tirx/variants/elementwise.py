"""Elementwise operations on any mix of storage: every thread computes its share of the destination.

reg      all tiles in the threads' own storage: each thread the elements that it holds
smem     all tiles in shared memory: neighbours take neighbouring elements, the tail is guarded
mixed    everything else
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir import Expr, IndexFunction, as_expr, cast
from ..tile import Predicate, Variant, Verdict, accept, decline
from .agreement import require_same_owners
from .formulas import FORMULAS, apply_function
from .operand import Scalar, Tile, is_unit, operand_of, tile_of
from .share import Evenly, Owned, Share, Whole, loops
from .vectors import WIDTHS, run_of_owner, widest_vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import TileCall
    from ..tile.context import DispatchContext
    from .operand import Index

__all__ = [
    "ELEMENTWISE", "IN_REGISTERS", "SHARED_OUT", "alike", "elementwise_variants", "emit_elementwise", "operands_of", "share_of",
    "widest_share",
]  # fmt: skip

ELEMENTWISE = tuple(name for name in FORMULAS if name != "copy")


def operands_of(call: TileCall, context: DispatchContext) -> tuple[Tile, dict[str, Tile | Scalar]]:
    """The destination, and every other tile or number by name, lined up with it."""
    written = next(item.name for item in call.op.operands if "w" in item.rw)  # type: ignore[attr-defined]
    target = tile_of(call, written, context)
    found: dict[str, Tile | Scalar] = {}
    for name in call.names:
        if name == written or isinstance(call.operand(name), IndexFunction):
            continue
        operand = operand_of(call, name, target.extents, context)
        assert operand is not None
        found[name] = operand
    return target, found


def share_of(target: Tile, sources: Mapping[str, Tile | Scalar], vector: int = 1) -> Share:
    """How the elements of `target` are divided among the threads; declines what no thread could compute alone."""
    space, context = target.extents, target.context
    if target.storage == "distributed":
        return Owned(target, space, vector=vector)
    spread = [item for item in sources.values() if isinstance(item, Tile) and item.storage == "distributed"]
    if not spread:
        return (Whole if target.storage == "private" else Evenly)(space, context, vector)
    if target.storage == "private":
        decline(f"every thread needs all of `{spread[0].buffer.name}`, which is spread over them")
    driver = next((item for item in spread if item.extents == space or _covers(item, space)), None)
    if driver is None:
        decline(f"`{spread[0].buffer.name}` is spread over threads and stretched over the destination")
    return Owned(driver, space, once=True, vector=vector)


def widest_share(target: Tile, sources: Mapping[str, Tile | Scalar]) -> Share:
    """The threads' shares in the widest vectors that storage and registers allow; declines what cannot be shared out."""
    tiles = [target, *(item for item in sources.values() if isinstance(item, Tile))]
    return target.context.once(("widest", *(tile.key for tile in tiles)), lambda: _widest_share(target, sources, tiles))


def _widest_share(target: Tile, sources: Mapping[str, Tile | Scalar], tiles: Sequence[Tile]) -> Share:
    share = share_of(target, sources)
    require_same_owners(share, tiles)
    run = run_of_owner(share.owners, len(target.extents)) if isinstance(share, Owned) else 0
    vector = widest_vector(tiles, target.context, among=[width for width in WIDTHS if run % width == 0])
    return share if vector == 1 else share_of(target, sources, vector)


def _covers(tile: Tile, space: tuple[Index, ...]) -> bool:
    """Whether every dimension of `space` longer than 1 is a dimension of the tile."""
    return {dim for dim, extent in enumerate(space) if not is_unit(extent)} <= {
        dim for dim in tile.dims if dim is not None
    }


def emit_elementwise(call: TileCall, context: DispatchContext) -> None:
    """One store per element of the share."""
    target, sources = operands_of(call, context)
    if alike(call, target, sources):
        _register_by_register(call, context, target, sources)
        return
    with widest_share(target, sources).each() as coords:
        values: dict[str, Expr] = {name: operand.load(coords) for name, operand in sources.items()}
        for name in call.names:
            function = call.operand(name)
            if isinstance(function, IndexFunction):
                values[name] = apply_function(function, tuple(as_expr(coord) for coord in coords))
        target.store(coords, FORMULAS[call.op.name](call, values, target.dtype))


def alike(call: TileCall, target: Tile, sources: Mapping[str, Tile | Scalar]) -> bool:
    """Whether all tiles are whole and lie in the same registers of the same threads, so that registers need no coordinates."""
    tiles = [target, *(item for item in sources.values() if isinstance(item, Tile))]
    return all(
        tile.storage == "distributed"
        and tile.buffer.layout == target.buffer.layout
        and tile.extents == tile.buffer.shape == target.buffer.shape
        for tile in tiles
    ) and not any(isinstance(call.operand(name), IndexFunction) for name in call.names)


def _register_by_register(
    call: TileCall, context: DispatchContext, target: Tile, sources: Mapping[str, Tile | Scalar]
) -> None:
    """The same formula on every register."""
    registers = target.own()
    held = {name: item.own() if isinstance(item, Tile) else None for name, item in sources.items()}
    with loops([(registers.shape[0], True)], context) as (i,):
        values = {name: sources[name].load(()) if buffer is None else buffer[i] for name, buffer in held.items()}
        value = FORMULAS[call.op.name](call, values, target.dtype)
        registers[i] = value if value.dtype is target.dtype else cast(value, target.dtype)


def _tiles(call: TileCall, context: DispatchContext) -> list[Tile]:
    target, sources = operands_of(call, context)
    return [target, *(item for item in sources.values() if isinstance(item, Tile))]


def _all_in_threads(call: TileCall, context: DispatchContext) -> Verdict:
    outside = {tile.buffer.name: tile.scope for tile in _tiles(call, context) if tile.storage == "memory"}
    return accept() if not outside else decline("a tile is not in the threads' own storage", **outside)


def _all_shared(call: TileCall, context: DispatchContext) -> Verdict:
    outside = {tile.buffer.name: tile.scope for tile in _tiles(call, context) if not tile.scope.startswith("shared")}
    return accept() if not outside else decline("a tile is not in shared memory", **outside)


def _shared_out(call: TileCall, context: DispatchContext) -> Verdict:
    """Whether the threads can each compute what they would store."""
    target, sources = operands_of(call, context)
    share = widest_share(target, sources)
    return accept(share=type(share).__name__.lower(), vector=share.vector)


IN_REGISTERS = Predicate("tiles in registers", _all_in_threads)
SHARED_OUT = Predicate("each thread has what it needs", _shared_out)
WHERE = {
    "reg": (10, IN_REGISTERS, "each thread computes the elements that it holds"),
    "smem": (
        10,
        Predicate("tiles in shared memory", _all_shared),
        "neighbours compute neighbouring elements, in vectors",
    ),
    "mixed": (5, None, "each thread computes its share of the destination, wherever the tiles lie"),
}


def elementwise_variants(kind: str) -> tuple[Variant, ...]:
    """The rows of all elementwise operations for `kind`."""
    return tuple(
        Variant(
            operation, kind, name, priority=priority, emit=emit_elementwise, doc=doc,
            predicates=(*((where,) if where else ()), SHARED_OUT),
        )
        for operation in ELEMENTWISE
        for name, (priority, where, doc) in WHERE.items()
    )  # fmt: skip
