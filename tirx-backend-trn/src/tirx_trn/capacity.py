"""Room in SBUF and PSUM: what is needed at the same time must fit, and gets a place of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tirx.ir import Buffer, Stmt
from tirx.support.errors import Diagnostic
from tirx.target import Target

from .hardware import BANK_BYTES, PSUM, SBUF
from .layout import place_of
from .liveness import Range, ranges

__all__ = ["bytes_of", "plan", "too_much"]

_UNITS = {SBUF: ("max_sbuf_size_per_partition", "SBUF"), PSUM: ("max_psum_size_per_partition", "PSUM")}
_SOURCE = (
    "AWS Neuron documentation, architecture guide of the NeuronCore; usable bytes as AWS publishes them with nkipy"
)
_ALIGNMENT = {SBUF: 32, PSUM: BANK_BYTES}  # a DMA queue moves whole 32 bytes best; PSUM is given out in banks


def bytes_of(buffer: Buffer) -> int:
    """Bytes that a tile takes of one partition; PSUM is given out in whole banks."""
    place = place_of(buffer)
    if buffer.scope_name == PSUM:
        return place.shape[0] * BANK_BYTES
    return place.free_elements * buffer.dtype.bytes


def limit_of(scope: str, target: Target) -> int:
    """Bytes of one partition."""
    return int(target.attrs[_UNITS[scope][0]])


def too_much(stmt: Stmt, target: Target) -> Iterator[Diagnostic]:
    """A problem for each memory that overflows, and for each address beyond its end."""
    every = ranges(stmt)
    for scope, (_, name) in _UNITS.items():
        limit, held = limit_of(scope, target), [item for item in every if item.buffer.scope_name == scope]
        yield from _fixed_outside(held, limit, name)
        worst = max((item.first for item in held), key=lambda time: _total(held, time), default=0)
        if _total(held, worst) > limit:
            yield _overflow(held, worst, limit, name)


def _alive(held: Iterable[Range], time: int) -> list[Range]:
    return [item for item in held if item.first <= time <= item.last]


def _total(held: Iterable[Range], time: int) -> int:
    return sum(bytes_of(item.buffer) for item in _alive(held, time))


def _overflow(held: list[Range], time: int, limit: int, name: str) -> Diagnostic:
    alive, total = _alive(held, time), _total(held, time)
    enough = [item for item in alive if total - bytes_of(item.buffer) <= limit]  # without one of these it would fit
    last = max(enough or alive, key=lambda item: item.first)
    return Diagnostic(
        f"`{last.buffer.name}` brings {name} to {total:,} bytes per partition, of which there are {limit:,}",
        last.alloc.span,
        "use smaller tiles, or finish with some before others begin",
        [*map_of(alive, name), f"rule: {_SOURCE}"],
    )


def map_of(alive: list[Range], name: str) -> list[str]:
    """Who holds how much of a memory, the largest first, and from which line to which."""
    rows = sorted(alive, key=lambda item: -bytes_of(item.buffer))
    width = max(len(item.buffer.name) for item in rows)
    lines = [f"  {item.buffer.name:<{width}} {bytes_of(item.buffer):>9,}{_lines(item)}" for item in rows]
    return ["\n".join([f"{name} there, bytes per partition:", *lines])]


def _lines(item: Range) -> str:
    first, last = (call.span.line if call.span is not None else None for call in item.calls)
    return f"   needed in lines {first} to {last}" if first is not None and last is not None else ""


def _fixed_outside(held: list[Range], limit: int, name: str) -> Iterator[Diagnostic]:
    for item in held:
        start = _fixed(item.buffer)
        if start is not None and start + bytes_of(item.buffer) > limit:
            yield Diagnostic(
                f"`{item.buffer.name}` takes bytes {start:,} to {start + bytes_of(item.buffer) - 1:,} of a partition of {name}, "
                f"which has {limit:,}",
                item.alloc.span,
                "give it a lower address, or none",
            )


def _fixed(buffer: Buffer) -> int | None:
    """The byte that the author put a tile at."""
    address = buffer.allocated_addr
    if not address or not all(isinstance(part, int) for part in address):
        return None
    *bank, byte = (int(part) for part in address)
    return bank[0] * BANK_BYTES + byte if bank else byte


def plan(stmt: Stmt, target: Target) -> dict[int, int] | Diagnostic:
    """A byte for every tile, by `id` of its buffer, so that no two that are needed together overlap; or why there is none.

    Tiles that the author placed stay. The others go to the lowest free place: in order of need, and if that leaves no room, the largest
    first.
    """
    places: dict[int, int] = {}
    for scope, (_, name) in _UNITS.items():
        held = [item for item in ranges(stmt) if item.buffer.scope_name == scope]
        limit = limit_of(scope, target)
        orders = (lambda item: (item.first, -bytes_of(item.buffer)), lambda item: (-bytes_of(item.buffer), item.first))
        for order in orders:
            found, failed = _placed(sorted(held, key=order), limit, _ALIGNMENT[scope])
            if failed is None:
                break
        else:
            assert failed is not None
            return Diagnostic(
                f"{name} has no {bytes_of(failed.buffer):,} bytes in one piece for `{failed.buffer.name}`",
                failed.alloc.span,
                "use smaller tiles, or let the NKI compiler place them: target attribute -allocation=compiler",
                map_of([item for item in held if item.overlaps(failed)], name),
            )
        places.update(found)
    return places


def _placed(order: list[Range], limit: int, alignment: int) -> tuple[dict[int, int], Range | None]:
    """Places for tiles in this order, and the first that finds none."""
    done = [(item, start) for item in order for start in [_fixed(item.buffer)] if start is not None]
    for item in order:
        if _fixed(item.buffer) is not None:
            continue
        taken = sorted((start, start + bytes_of(other.buffer)) for other, start in done if other.overlaps(item))
        start = _gap(taken, bytes_of(item.buffer), alignment)
        if start + bytes_of(item.buffer) > limit:
            return {}, item
        done.append((item, start))
    return {id(item.buffer): start for item, start in done}, None


def _gap(taken: list[tuple[int, int]], size: int, alignment: int) -> int:
    """The lowest aligned byte with `size` free bytes behind it."""
    start = 0
    for low, high in taken:
        if start + size <= low:
            break
        start = max(start, -(-high // alignment) * alignment)
    return start
