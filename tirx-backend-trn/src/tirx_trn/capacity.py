"""Room in SBUF and PSUM: the tiles that are alive together must fit."""

from __future__ import annotations

from collections.abc import Iterator

from tirx.ir import Alloc, Attr, Buffer, For, If, Seq, Stmt
from tirx.support.errors import Diagnostic
from tirx.target import Target

from .hardware import BANK_BYTES
from .layout import PSUM, SBUF, is_on_chip, place_of

__all__ = ["bytes_of", "too_much"]

_UNITS = {SBUF: ("max_sbuf_size_per_partition", "SBUF"), PSUM: ("max_psum_size_per_partition", "PSUM")}


def bytes_of(buffer: Buffer) -> int:
    """Bytes that a tile takes of one partition; PSUM is given out in whole banks."""
    place = place_of(buffer)
    if buffer.scope_name == PSUM:
        return place.shape[0] * BANK_BYTES
    return place.free_elements * buffer.dtype.bytes


def too_much(stmt: Stmt, target: Target) -> Iterator[Diagnostic]:
    """A problem at each allocation that exceeds what is left."""
    yield from _visit(stmt, target, {SBUF: [], PSUM: []})


def _visit(stmt: Stmt, target: Target, alive: dict[str, list[Buffer]]) -> Iterator[Diagnostic]:
    """`alive` holds the tiles of the enclosing sequences; those of a nested one are gone after it."""
    if isinstance(stmt, Alloc) and is_on_chip(stmt.buffer):
        alive[stmt.buffer.scope_name].append(stmt.buffer)
        yield from _problem(stmt, target, alive[stmt.buffer.scope_name])
    elif isinstance(stmt, Seq):
        for item in stmt.stmts:
            yield from _visit(item, target, alive)
    for body in _bodies(stmt):
        before = {scope: len(buffers) for scope, buffers in alive.items()}
        yield from _visit(body, target, alive)
        for scope, count in before.items():
            del alive[scope][count:]


def _bodies(stmt: Stmt) -> tuple[Stmt, ...]:
    """Statements that hold a sequence of their own."""
    if isinstance(stmt, For | Attr):
        return (stmt.body,)
    if isinstance(stmt, If):
        return (stmt.then,) if stmt.orelse is None else (stmt.then, stmt.orelse)
    return ()


def _problem(stmt: Alloc, target: Target, buffers: list[Buffer]) -> Iterator[Diagnostic]:
    attribute, name = _UNITS[stmt.buffer.scope_name]
    limit, sizes = target.attrs[attribute], {buffer.name: bytes_of(buffer) for buffer in buffers}
    total = sum(bytes_of(buffer) for buffer in buffers)
    if total > limit:
        largest = sorted(sizes.items(), key=lambda entry: -entry[1])[:4]
        yield Diagnostic(
            f"`{stmt.buffer.name}` brings {name} to {total:,} bytes per partition, of which there are {limit:,}",
            stmt.span,
            "use smaller tiles, or let some end earlier",
            [f"alive here: {', '.join(f'{key} {size:,}' for key, size in largest)}"],
        )
