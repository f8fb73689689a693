"""Slices that leave their tensor: refused where every turn of the loops around is known to run.

    for i in range(3):
        Tx.nki.load(x, a[i * 128 : i * 128 + 128, :])          a has 300 rows: the last slice would reach row 384

Below a condition nothing is said, as it may be what keeps the slice inside; the simulator sees those that are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tirx.arith import Analyzer
from tirx.ir import Attr, BufferRegion, Evaluate, Expr, For, Seq, Stmt, walk
from tirx.support.errors import Diagnostic

from .box import constant

__all__ = ["outside", "reach"]

Ranges = Mapping[int, tuple[int, int]]


def outside(stmt: Stmt, ranges: Ranges | None = None) -> Iterator[Diagnostic]:
    """A problem for each slice of `stmt` that leaves its tensor; `ranges` are first and last value of loop variables, by `id`."""
    known = ranges or {}
    if isinstance(stmt, Seq):
        for item in stmt.stmts:
            yield from outside(item, known)
    elif isinstance(stmt, Attr):
        yield from outside(stmt.body, known)
    elif isinstance(stmt, For):
        first, count, step = (constant(part) for part in (stmt.start, stmt.extent, stmt.step))
        if first is None or count is None or step is None:
            yield from outside(stmt.body, known)
        elif count > 0:
            last = first + (count - 1) // step * step
            yield from outside(stmt.body, {**known, id(stmt.var): (first, last)})
    elif isinstance(stmt, Evaluate):
        for node in walk(stmt):
            if isinstance(node, BufferRegion):
                yield from _slice(node, known)


def _slice(region: BufferRegion, known: Ranges) -> Iterator[Diagnostic]:
    for dim, (start, extent, size) in enumerate(zip(region.starts, region.extents, region.buffer.shape, strict=True)):
        count, reached = constant(extent), reach(start, known)
        if count is None or reached is None:
            continue
        low, high = reached
        if low < 0 or (isinstance(size, int) and high + count > size):
            where = f"starts at {low}" if low < 0 else f"reaches {high + count}"
            yield Diagnostic(
                f"this slice of `{region.buffer.name}` {where} in dimension {dim}, which has {size} elements",
                region.span,
                "indices count from 0" if low < 0 else "what is left over at the end is a smaller tile of its own",
            )


def reach(start: int | Expr, known: Ranges) -> tuple[int, int] | None:
    """The smallest and the largest value of a sum of multiples of loop variables; None where it is something else."""
    if isinstance(start, int):
        return start, start
    form = Analyzer().linear(start)
    low = high = form.constant
    for atom, factor in form.items():
        if id(atom) not in known:
            return None
        ends = [factor * value for value in known[id(atom)]]
        low, high = low + min(ends), high + max(ends)
    return low, high
