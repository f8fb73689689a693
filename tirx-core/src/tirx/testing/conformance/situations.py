"""Small kernels with one tile operation, in the places where variants usually differ: who does it, where operands lie, their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from ... import script as Tx
from ...ir import PrimFunc
from ...support.errors import TirxError
from ...target import Target
from ...tile import TileOp, TileOperand
from ...tile.row import TileAttr

__all__ = ["Situation", "situations"]

THREADS = 128
_SHAPES = {"rows": ((256,), (256,)), "squares": ((64, 64), (64, 64)), "reduced": ((64,), (64, 64))}
_DTYPES = ("float32", "float16", "int32")
_PLACES = (
    ("global", "global"),
    ("shared", "global"),
    ("global", "shared"),
    ("shared", "shared"),
    ("local", "local"),
    ("local", "shared"),
)
_SCOPES = ("cta", "warp", "thread")


class Situation:
    """An operation with operands of one type: the written ones lie in `places[0]` with `shapes[0]`, the others in the second."""

    __slots__ = ("dtype", "places", "row", "scope", "shapes", "target")

    def __init__(
        self,
        row: TileOp,
        target: Target,
        scope: str,
        places: Sequence[str],
        shapes: Sequence[tuple[int, ...]],
        dtype: str,
    ) -> None:
        self.row = row
        self.target = target
        self.scope = scope
        self.places = tuple(places)
        self.shapes = tuple(shapes)
        self.dtype = dtype

    def __str__(self) -> str:
        there = " to ".join(
            f"{place} {list(shape)}" for place, shape in zip(reversed(self.places), reversed(self.shapes), strict=True)
        )
        return f"{self.scope} {self.row.name} of {self.dtype}, {there}"

    def kernel(self, **keywords: Any) -> PrimFunc | None:
        """The kernel; None where the operation itself does not take such operands."""
        operands = self.row.operands
        tiles = [item for item in operands if "tile" in item.kinds and (not item.optional or "w" in item.rw)]
        types = [Tx.Buffer(self.shapes["w" not in item.rw], self.dtype) for item in tiles]

        def body(*arrays: Any) -> None:
            Tx.device_entry()
            Tx.cta_id([1])
            Tx.thread_id([THREADS])
            found = {item.name: self._placed(item, array) for item, array in zip(tiles, arrays, strict=True)}
            plain = {item.name: _plain(item) for item in operands if item.name not in found and not item.optional}
            group = Tx.tile if self.scope == "thread" else getattr(Tx.tile, self.scope)
            getattr(group, self.row.name)(**found, **plain, **keywords)

        try:
            return _traced(body, [item.name for item in tiles], types)
        except TirxError:
            return None

    def _placed(self, item: TileOperand, array: Any) -> Any:
        place = self.places["w" not in item.rw]
        if place == "global":
            return array
        return Tx.alloc_buffer(self.shapes["w" not in item.rw], self.dtype, scope=place)


def _plain(item: TileOperand) -> Any:
    return 2 if "scalar" in item.kinds else lambda *index: index[0] % 2 == 0


def _traced(body: Any, names: Sequence[str], types: Sequence[Any]) -> PrimFunc:
    space: dict[str, Any] = {"body": body}
    exec(f"def conform_tile({', '.join(names)}): body({', '.join(names)})", space)  # noqa: S102 - names of a row's operands
    made: PrimFunc = Tx.trace(space["conform_tile"], *types)
    return made


def situations(row: TileOp, target: Target) -> Iterator[Situation]:
    """Situations of an operation that its own rules may allow, the plainest first."""
    if any(item.default is TileAttr.REQUIRED for item in row.attrs):
        return
    levels = [name for name in _SCOPES if name in target.scope_model() or name == "thread"]
    dtypes = [name for name in _DTYPES if name in target.capabilities.dtypes]
    for dtype, places, scope, shapes in product(dtypes, _PLACES, levels, _SHAPES.values()):
        yield Situation(row, target, scope, places, shapes, dtype)
