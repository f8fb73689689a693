"""A bias that is a number becomes a tile, where the scalar engine takes it from memory only.

before  Tx.nki.activation(y, x, "exp", 0.5)
after   bias = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf")      at the start of the kernel, once per value
        Tx.nki.memset(bias, 0.5)
        ...
        Tx.nki.activation(y, x, "exp", bias)

Needs: a target. Zero is no bias and stays.
"""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import call as make_call
from tirx.ir import Alloc, Attr, Buffer, BufferRegion, Call, Evaluate, FloatImm, IRModule, PrimFunc, Stmt, rewrite, seq
from tirx.transform.pipeline import Pass, PassContext

from ..box import box_of
from ..hardware import SBUF
from ..kernel import ENTRY
from ..kind import generation_of
from ..op import ROWS

__all__ = ["constant_bias"]

_POSITION = {"nki.activation": (0, 3), "nki.activation_reduce": (1, 5)}  # result and bias among the arguments


class _Tiles:
    """The tiles made for one kernel, by number of partitions and value."""

    def __init__(self) -> None:
        self.tiles: dict[tuple[int, float], Buffer] = {}

    def replaced(self, node: Call) -> Call | None:
        """The call with its bias from a tile."""
        if node.op.name not in _POSITION:
            return None
        result, position = _POSITION[node.op.name]
        bias, region = node.args[position], node.args[result]
        if not isinstance(bias, FloatImm) or bias.value == 0 or not isinstance(region, BufferRegion):
            return None
        tile = self._tile(box_of(region).partitions, bias.value)
        args = (*node.args[:position], tile.region(), *node.args[position + 1 :])
        return node.rebuild(args=args)

    def _tile(self, partitions: int, value: float) -> Buffer:
        key = (partitions, value)
        if key not in self.tiles:
            self.tiles[key] = Buffer(f"bias{len(self.tiles) or ''}", (partitions, 1), "float32", scope=SBUF)
        return self.tiles[key]

    def front(self) -> list[Stmt]:
        """Allocation and filling of every tile."""
        return [
            stmt
            for (_, value), tile in self.tiles.items()
            for stmt in (Alloc(tile), Evaluate(make_call(ROWS["memset"], tile, FloatImm(value, tile.dtype))))
        ]


def _entry(node: Attr) -> Any:
    if node.key != ENTRY:
        return None
    tiles = _Tiles()
    body = rewrite(node.body, {Call: tiles.replaced})
    return node.rebuild(body=seq([*tiles.front(), body])) if tiles.tiles else None


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with constant biases in tiles, for generations that need it."""
    return module.map(lambda func: _function(func, context))


def _function(func: PrimFunc, context: PassContext) -> PrimFunc:
    if generation_of(func.attrs.get("target", context.target)).constant_bias:
        return func
    return func.with_body(rewrite(func.body, {}, enter={Attr: _entry}))


constant_bias = Pass("constant_bias", run, requires=("target",))
