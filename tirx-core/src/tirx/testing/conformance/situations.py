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

__all__ = ["THREADS", "Situation", "situations"]

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
# Tried for keywords that a call must give, the plainest first: names of operations, then numbers.
_WORDS = ("add", "sum", "sqrt", 0, 1, True)


class Situation:
    """An operation with operands of one type: the written ones lie in `places[0]` with `shapes[0]`, the others in the second.

    Of two written operands the second is the first one reduced along its last axis.
    """

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

    @property
    def tiles(self) -> list[TileOperand]:
        """The operands that are tiles; optional ones only where they are written."""
        return [item for item in self.row.operands if "tile" in item.kinds and (not item.optional or "w" in item.rw)]

    def shape(self, item: TileOperand) -> tuple[int, ...]:
        """The shape of an operand."""
        written = [other.name for other in self.row.operands if "w" in other.rw]
        if item.name in written[1:]:
            return self.shapes[0][:-1] or (1,)
        return self.shapes[self._side(item)]

    def place(self, item: TileOperand) -> str:
        """The memory of an operand."""
        return self.places[self._side(item)]

    def _side(self, item: TileOperand) -> int:
        """0 for what is written, and what stands for it where it is left out."""
        return int("w" not in item.rw and not item.default)

    @property
    def plain(self) -> dict[str, Any]:
        """What a call must be given besides: numbers, functions, keywords without a default."""
        tiles = {item.name for item in self.tiles}
        values = {item.name: _plain(item) for item in self.row.operands if item.name not in tiles and not item.optional}
        return {**values, **{item.name: _word(item) for item in self.row.attrs if item.default is TileAttr.REQUIRED}}

    def kernel(self, **keywords: Any) -> PrimFunc | None:
        """The kernel; None where the operation itself does not take such operands."""
        tiles, plain = self.tiles, {**self.plain, **keywords}
        types = [Tx.Buffer(self.shape(item), self.dtype) for item in tiles]

        def body(*arrays: Any) -> None:
            Tx.device_entry()
            Tx.cta_id([1])
            Tx.thread_id([THREADS])
            found = {item.name: self._placed(item, array) for item, array in zip(tiles, arrays, strict=True)}
            group = Tx.tile if self.scope == "thread" else getattr(Tx.tile, self.scope)
            getattr(group, self.row.name)(**found, **plain)

        try:
            return _traced(body, [item.name for item in tiles], types)
        except TirxError:
            return None

    def _placed(self, item: TileOperand, array: Any) -> Any:
        place = self.place(item)
        if place == "global":
            return array
        return Tx.alloc_buffer(self.shape(item), self.dtype, scope=place)


def _plain(item: TileOperand) -> Any:
    return 2 if "scalar" in item.kinds else lambda *index: index[0] % 2 == 0


def _word(item: TileAttr) -> Any:
    """A value of a keyword: the first word that it takes, or its type's plainest value."""
    for word in _WORDS:
        if not isinstance(word, item.type):
            continue
        try:
            return word if item.convert is None else item.convert(word, {})
        except Exception:  # noqa: BLE001, S112 - a word that this keyword does not know
            continue
    return None


def _traced(body: Any, names: Sequence[str], types: Sequence[Any]) -> PrimFunc:
    space: dict[str, Any] = {"body": body}
    exec(f"def conform_tile({', '.join(names)}): body({', '.join(names)})", space)  # noqa: S102 - names of a row's operands
    made: PrimFunc = Tx.trace(space["conform_tile"], *types)
    return made


def situations(row: TileOp, target: Target) -> Iterator[Situation]:
    """Situations of an operation that its own rules may allow, the plainest first."""
    levels = [name for name in _SCOPES if name in target.scope_model() or name == "thread"]
    dtypes = [name for name in _DTYPES if name in target.capabilities.dtypes]
    for dtype, places, scope, shapes in product(dtypes, _PLACES, levels, _SHAPES.values()):
        yield Situation(row, target, scope, places, shapes, dtype)
