"""Slices of shaped buffers become boxes of partitions and free elements.

before  x = Tx.alloc_buffer((256, 64), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(x, A[0:256, 0:64])
        Tx.nki.tensorreduce(s, x[0:128, :], "add", False, 1)
after   x of shape (128, 2, 64)                                       partitions first, free dimensions as they lie in memory
        for t in range(2):
            Tx.nki.load(x[0:128, t, 0:64], A[t * 128 : t * 128 + 128, 0:64])
        Tx.nki.tensorreduce(s, x[0:128, 0, 0:64], "add", False, 2)     axes count dimensions of the box

PSUM buffers become (bank, partition, free...). Copies whose rows go round the partitions more than once become loops.
Every buffer of the kernel has `layout` None afterwards and keeps its rank. Needs: a target.
"""

from __future__ import annotations

from typing import Any

from tirx.ir import (
    Alloc,
    Attr,
    BufferRegion,
    Call,
    Decl,
    Evaluate,
    Expr,
    IntImm,
    IRModule,
    Node,
    PrimFunc,
    Stmt,
    const,
    rewrite,
)  # fmt: skip
from tirx.support.errors import VerifyError
from tirx.transform.pipeline import Pass, PassContext

from ..box import box_of
from ..kernel import ENTRY, is_instruction
from ..layout import is_on_chip
from .copies import split_copy
from .predicate import select_pattern
from .tiles import Tiles

__all__ = ["lower_tiles"]


class _Lowering:
    """Rules for the device part of one function."""

    def __init__(self) -> None:
        self.tiles = Tiles()

    def evaluate(self, node: Evaluate) -> Any:
        call = node.value
        if not (isinstance(call, Call) and is_instruction(call)):
            return None
        if call.op.name in ("nki.load", "nki.store"):
            return split_copy(call, self.tiles)
        return node.rebuild(value=self.call(call))

    def call(self, node: Call) -> Call:
        """One instruction on boxes."""
        if node.op.name == "nki.affine_select":
            return select_pattern(node, self.tiles)
        args = tuple(self.tiles.box(arg) if isinstance(arg, BufferRegion) else arg for arg in node.args)
        if node.op.name == "nki.tensorreduce":
            args = (*args[:4], *_physical_axes(node))
        return node.rebuild(args=args)

    def alloc(self, node: Alloc) -> Alloc:
        self.tiles.allocated[id(node.buffer.data)] = node.buffer
        return node.rebuild(buffer=self.tiles.buffer(node.buffer))

    def decl(self, node: Decl) -> Decl:
        if is_on_chip(node.buffer) and not self.tiles.is_reshaped(node.buffer):
            raise VerifyError(
                f"`{node.buffer.name}` sees only part of a tile, or sees it in another order",
                span=node.span,
                hint="slice the tile itself; a view of it only divides free dimensions anew: every second element of 64 is "
                "tile.view(128, 32, 2)[:, :, 0]",
            )
        return node.rebuild(buffer=self.tiles.buffer(node.buffer))


def _physical_axes(node: Call) -> tuple[Expr, ...]:
    """The axes of a reduction as dimensions of the box."""
    region = node.args[1]
    assert isinstance(region, BufferRegion)
    box, rank = box_of(region), region.buffer.ndim
    axes = {axis.value % rank for axis in node.args[4:] if isinstance(axis, IntImm)}
    return tuple(const(dim) for dim in sorted(dim for axis in axes for dim in box.sources[axis]))


def _entry(node: Attr) -> Stmt | None:
    if node.key != ENTRY:
        return None
    work = _Lowering()
    rules: dict[type[Node], Any] = {Evaluate: work.evaluate, Alloc: work.alloc, Decl: work.decl}
    return node.rebuild(body=rewrite(node.body, rules))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with kernels on boxes."""
    return module.map(_function)


def _function(func: PrimFunc) -> PrimFunc:
    return func.with_body(rewrite(func.body, {}, enter={Attr: _entry}))


lower_tiles = Pass("lower_tiles", run, requires=("target",), ensures=("layouts_lowered", "storage_lowered"))
