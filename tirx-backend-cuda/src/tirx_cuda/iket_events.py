"""What the profiler reads of a kernel: events by number, and data in the binary that says what they are called.

Learned from what existing tools accept: an event is a store of a time and a number to a fixed shared address and a `pmevent` of the
number; declarations are byte strings in device memory whose names begin with `__iket_`. Numbers are 1 to 30; 31 ends a pushed range.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from tirx.support.errors import VerifyError
from tirx.support.span import Span

__all__ = [
    "MARK",
    "MOST_EVENTS",
    "NAME_BYTES",
    "PAYLOADS",
    "POP",
    "PUSH",
    "TOKEN",
    "Event",
    "EventTable",
    "declarations",
    "enabled",
    "name_hash",
    "recording",
]

MARK, PUSH, TOKEN = 0, 1, 4  # kinds of events
POP, MOST_EVENTS = 31, 30
NAME_BYTES = 32
# element type -> the profiler's code of it
PAYLOADS: Mapping[str, int] = {
    "int8": 1, "uint8": 2, "int16": 3, "uint16": 4, "int32": 5, "uint32": 6, "int64": 7, "uint64": 16, "float32": 13,
    "float64": 14,
}  # fmt: skip


_recording: ContextVar[bool] = ContextVar("tirx_cuda_iket", default=False)


def recording() -> bool:
    """Whether annotations become events, for what is compiled right now."""
    return _recording.get()


@contextmanager
def enabled() -> Iterator[None]:
    """Let annotations become events inside."""
    token = _recording.set(True)
    try:
        yield
    finally:
        _recording.reset(token)


class Event(NamedTuple):
    """A named event: its number, kind, and the type of what is recorded with it (empty: nothing)."""

    name: str
    number: int
    kind: int
    payload: str


class EventTable:
    """The events of a module, numbered as they are met."""

    def __init__(self) -> None:
        self.events: dict[tuple[str, int], Event] = {}

    def event(self, name: str, kind: int, payload: str, span: Span | None) -> Event:
        """The event of a name; one name keeps its payload."""
        found = self.events.get((name, kind))
        if found is None:
            if len(self.events) == MOST_EVENTS:
                raise VerifyError(
                    f"a module has at most {MOST_EVENTS} profiler events", span=span, hint="use fewer names"
                )
            found = self.events[name, kind] = Event(name, len(self.events) + 1, kind, payload)
        if found.payload != payload:
            raise VerifyError(
                f"profiler event `{name}` is recorded with {payload or 'no payload'} here and with "
                f"{found.payload or 'none'} before",
                span=span,
                hint="give each payload its own name",
            )
        return found


def name_hash(name: str) -> int:
    """FNV-1a of a name, 32 bits: what ties a range to its event."""
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def declarations(event: Event) -> str:
    """The data that declares an event, as CUDA C++."""
    lines = [_bytes("__iket_meta_info", _META), *_event(event)]
    return "\n".join(lines)


_META = struct.pack("<12I", 48, 0, 5, POP, NAME_BYTES, 60, 0xBABEF19D, 0, 3, 0, 0, 0)


def _event(event: Event) -> Iterator[str]:
    is_range = event.kind != MARK
    own = name_hash(event.name) if is_range else 0
    text = event.name.encode()
    head = struct.pack("<7I", 60, event.number, 3, PAYLOADS.get(event.payload, 0), event.kind, own, len(text))
    word = re.sub(r"\W", "_", event.name)
    yield _bytes(f"__iket_evt_decl_{word}_{event.number}_attrs", head + text.ljust(NAME_BYTES, b"\0"))
    if is_range:
        token = int(event.kind == TOKEN)
        head = struct.pack("<9I", 72, 0, own, 0xFFFFFFFF, event.number, token, 0, 0, len(text))
        yield _bytes(f"__iket_range_decl_{word}_{own}_attrs", head + text.ljust(72 - len(head), b"\0"))


def _bytes(name: str, data: bytes) -> str:
    return f"__device__ unsigned char {name}[{len(data)}] = {{{','.join(map(str, data))}}};"
