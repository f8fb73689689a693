"""The event log that `Tx.cuda.timer_*` writes: its format, and reading it.

A log is an array of uint64. Element 0 says how many ctas (low half) and groups (high half) there are. The others are entries: bits
0-1 say what happened (`BEGIN END INSTANT FINAL`), bits 2-11 which event, bits 12-31 who wrote it (cta * groups + group), bits 32-63
when, in nanoseconds (in the simulator: blocks and memory requests that ran before). Entry k of a writer stands at element
1 + writer + k * stride, where `stride` is ctas * groups.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tirx.support.errors import ArgumentError

__all__ = [
    "BEGIN",
    "END",
    "EVENT_BITS",
    "FINAL",
    "INSTANT",
    "WRITER_BITS",
    "Span",
    "chrome_trace",
    "read_log",
    "write_chrome_trace",
]

BEGIN, END, INSTANT, FINAL = range(4)
EVENT_BITS, WRITER_BITS = 10, 20
_TURN = 2**32  # times are counted modulo this


Names = Mapping[int, str] | type[Enum] | None


class Span(NamedTuple):
    """An event from `start` to `end` (None: it never ended), written by one group of a cta; a mark has no length."""

    event: int
    cta: int
    group: int
    start: int
    end: int | None


def read_log(log: Any, stride: int | None = None) -> list[Span]:
    """The events of a log in the order in which they began; times count from the first entry.

    `stride` is what the kernel gave to `timer_start`; default: ctas * groups.
    """
    words = np.ascontiguousarray(log).reshape(-1).view(np.uint64)
    ctas, groups = int(words[0]) & 0xFFFFFFFF, int(words[0]) >> 32
    if not ctas or not groups:
        raise ArgumentError(
            "the log has no header", hint="call Tx.cuda.timer_init in the kernel, and give its log here"
        )
    entries = [
        entry for writer in range(ctas * groups) for entry in _entries(words, writer, stride or ctas * groups, groups)
    ]
    first = min((entry[4] for entry in entries), default=0)
    return sorted(_spans(entries, first), key=lambda span: (span.start, span.cta, span.group))


def _entries(words: Any, writer: int, stride: int, groups: int) -> Iterator[tuple[int, int, int, int, int]]:
    """What happened, which event, cta, group, when; until the log of a writer ends."""
    last = 0
    for place in range(1 + writer, len(words), stride):
        word = int(words[place])
        if word == 0 or word >> 12 & ((1 << WRITER_BITS) - 1) != writer or word & 3 == FINAL:
            return
        time = last // _TURN * _TURN + (word >> 32)
        last = time if time >= last else time + _TURN  # the counter began anew
        yield word & 3, word >> 2 & ((1 << EVENT_BITS) - 1), writer // groups, writer % groups, last


def _spans(entries: list[tuple[int, int, int, int, int]], first: int) -> Iterator[Span]:
    """Begins and ends put together; events of one group nest."""
    open_: dict[tuple[int, int, int], list[int]] = {}
    for what, event, cta, group, time in entries:
        at, key = time - first, (event, cta, group)
        if what == BEGIN:
            open_.setdefault(key, []).append(at)
        elif what == END and open_.get(key):
            yield Span(event, cta, group, open_[key].pop(), at)
        elif what == INSTANT:
            yield Span(event, cta, group, at, at)
    for (event, cta, group), starts in open_.items():
        yield from (Span(event, cta, group, start, None) for start in starts)


def chrome_trace(log: Any, names: Names = None, stride: int | None = None) -> dict[str, Any]:
    """The events as Chrome's trace format, which Perfetto reads: a process for each cta, a thread for each group.

    `names` are what events are called; an `enum.Enum` class does as well.
    """
    called = {item.value: item.name for item in names} if isinstance(names, type) else dict(names or {})
    events = [_chrome(span, called) for span in read_log(log, stride)]
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def _chrome(span: Span, names: Mapping[int, str]) -> dict[str, Any]:
    """One event; times of the format are microseconds."""
    made: dict[str, Any] = {
        "name": names.get(span.event, f"event {span.event}"), "pid": span.cta, "tid": span.group, "ts": span.start / 1000,
    }  # fmt: skip
    if span.end is None:
        return {**made, "ph": "B"}
    if span.end == span.start:
        return {**made, "ph": "i", "s": "t"}
    return {**made, "ph": "X", "dur": (span.end - span.start) / 1000}


def write_chrome_trace(path: str | Path, log: Any, names: Names = None, stride: int | None = None) -> None:
    """Write the trace as JSON; open it at ui.perfetto.dev or chrome://tracing."""
    Path(path).write_text(json.dumps(chrome_trace(log, names, stride), indent=1) + "\n", encoding="utf-8")
