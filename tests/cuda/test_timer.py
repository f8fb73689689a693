"""The event log of kernels: source, meaning, reading, traces."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.ir import structural_equal
from tirx.script import from_source
from tirx.support.errors import ArgumentError, ScriptError
from tirx_cuda.timer import BEGIN, END, FINAL, INSTANT, chrome_trace, read_log, write_chrome_trace

TARGET = "cuda -arch=sm_90a"


class Event(Enum):
    LOAD = 0
    COMPUTE = 5


@Tx.prim_func
def logged(A: Tx.Buffer((2, 64), "float32"), events: Tx.Buffer((64,), "uint64")):
    Tx.device_entry()
    bx = Tx.cta_id([2])
    tx = Tx.thread_id([64])
    tag = Tx.alloc_local((1,), "uint64")
    offset = Tx.local_scalar("uint32")
    leader: Tx.let = tx % 32 == 0
    Tx.cuda.timer_init(events.data, tag.data, Tx.address_of(offset), 2, tx // 32)
    Tx.cuda.timer_start(Event.LOAD, events.data, tag.data, Tx.address_of(offset), 4, leader)
    x = A[bx, tx]
    Tx.cuda.timer_end(Event.LOAD, events.data, tag.ptr_to([0]), Tx.address_of(offset), 4, leader)
    Tx.cuda.timer_start(Event.COMPUTE, events.data, tag.data, Tx.address_of(offset), 4, leader)
    for _ in range(3):
        A[bx, tx] = A[bx, tx] + x
    Tx.cuda.timer_end(Event.COMPUTE, events.data, tag.data, Tx.address_of(offset), 4, leader)
    Tx.cuda.timer_finalize(events.data, tag.data, Tx.address_of(offset), 4, leader)


def test_a_simulated_log() -> None:
    a, log = np.ones((2, 64), np.float32), np.zeros(64, np.uint64)
    report = tirx.simulate(logged, a, log, target=TARGET)
    assert report.verdict == "clean", str(report)
    assert int(log[0]) == 2 << 32 | 2
    spans = read_log(log)
    assert {(span.event, span.cta, span.group) for span in spans} == {
        (e, c, g) for e in (0, 5) for c in (0, 1) for g in (0, 1)
    }
    for span in spans:
        assert span.end is not None
        assert span.end > span.start >= 0
    lengths = {event: [s.end - s.start for s in spans if s.event == event and s.end is not None] for event in (0, 5)}
    assert min(lengths[5]) > max(lengths[0])  # three rounds of memory against one
    assert (log[1 + 5 * 4 :] == 0).all()


def test_source() -> None:
    text = source_of(logged, TARGET).text
    assert "timer_init(events, tag, &offset, 2, tx >> 5);" in text
    assert "timer_start(5, events, tag, &offset, 4, leader);" in text
    assert tirx.compile(logged, TARGET).binaries


def test_text_reads_back() -> None:
    assert structural_equal(from_source(logged.script()), logged)


# ---- reading --------------------------------------------------------------------------------------------------------


def entry(what: int, event: int, writer: int, time: int) -> int:
    return what | event << 2 | writer << 12 | time << 32


def test_reading_a_log() -> None:
    log = np.zeros(16, np.uint64)
    log[0] = 1 << 32 | 2  # two ctas of one group
    log[1::2][:5] = [
        entry(BEGIN, 1, 0, 100), entry(BEGIN, 2, 0, 110), entry(END, 2, 0, 130), entry(INSTANT, 7, 0, 140), entry(END, 1, 0, 150)
    ]  # fmt: skip
    log[2::2][:2] = [entry(BEGIN, 1, 1, 120), entry(FINAL, 0, 1, 121)]
    assert read_log(log) == [(1, 0, 0, 0, 50), (2, 0, 0, 10, 30), (1, 1, 0, 20, None), (7, 0, 0, 40, 40)]


def test_the_counter_begins_anew() -> None:
    log = np.zeros(8, np.uint64)
    log[0] = 1 << 32 | 1
    log[1:3] = [entry(BEGIN, 0, 0, 2**32 - 10), entry(END, 0, 0, 15)]
    assert read_log(log) == [(0, 0, 0, 0, 25)]


def test_traces(tmp_path: Path) -> None:
    log = np.zeros(8, np.uint64)
    log[0] = 1 << 32 | 1
    log[1:5] = [entry(BEGIN, 5, 0, 1000), entry(END, 5, 0, 3500), entry(INSTANT, 0, 0, 4000), entry(BEGIN, 3, 0, 5000)]
    path = tmp_path / "trace.json"
    write_chrome_trace(path, log, Event)
    assert json.loads(path.read_text()) == chrome_trace(log, {0: "LOAD", 5: "COMPUTE"})
    assert chrome_trace(log, Event)["traceEvents"] == [
        {"name": "COMPUTE", "pid": 0, "tid": 0, "ts": 0.0, "ph": "X", "dur": 2.5},
        {"name": "LOAD", "pid": 0, "tid": 0, "ts": 3.0, "ph": "i", "s": "t"},
        {"name": "event 3", "pid": 0, "tid": 0, "ts": 4.0, "ph": "B"},
    ]


def test_what_is_no_log() -> None:
    with pytest.raises(ArgumentError, match="the log has no header"):
        read_log(np.zeros(8, np.uint64))


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda A, t: Tx.cuda.timer_start(1024, A.data, t, t, 1), "there is no event 1024"),
        (lambda A, t: Tx.cuda.timer_start(0, A.data, A.data, Tx.reinterpret("handle", A[0]), 1), "`offset` points to"),
    ],
)
def test_mistakes(write: Any, message: str) -> None:
    with Tx.prim_func():
        A = Tx.arg("A", Tx.Buffer((8,), "uint64"))
        Tx.device_entry()
        t = Tx.local_scalar("uint64")
        with pytest.raises(ScriptError, match=message):
            write(A, t)
