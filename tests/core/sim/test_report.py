"""What a report says, and to whom."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tirx
from tests.core.sim import corpus, corpus_accesses, corpus_races
from tests.core.sim.running import lowered, simulate
from tirx import script as Tx
from tirx.sim import simulate_module
from tirx.sim.geometry import Geometry, Widths
from tirx.support.errors import SimulationError
from tirx.target import Target

assert corpus_accesses, corpus_races


def faulty(name, **options):
    kernel, *args = corpus.PAIRS[name][1](True)
    return simulate(kernel, *args, **options)


@Tx.prim_func
def copy(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    B[tx] = A[tx]


def arrays():
    return np.arange(64, dtype="f4"), np.zeros(64, "f4")


def test_a_race_names_both_lines_threads_and_a_way_out():
    text = str(faulty("missing_barrier"))
    assert "race: thread 0 of cta 0 reads an element of `s` that thread 63 of cta 0 writes" in text
    assert "B[tx] = s[63 - tx]" in text
    assert "note: the other access is here" in text
    assert "s[tx] = A[tx]" in text
    assert "a barrier of the cta between the two accesses orders them" in text


def test_mismatched_barriers_name_both_barriers():
    assert "note: the other barrier is here" in str(faulty("a_barrier_in_each_branch"))


def test_an_index_outside_names_buffer_dimension_shape_and_threads():
    (finding,) = faulty("column_past_its_row").findings
    assert finding.message == "index 8 is outside dimension 1 of `A` (4, 8)"
    assert finding.buffer == "A"
    assert finding.indices[0] == (8,)
    assert "thread" in finding.threads[0]


def test_threads_of_a_finding_are_named_in_runs():
    geometry = Geometry(Widths(Target("generic").scope_model(), {"cta.x": 3, "thread.x": 64}, {}), 0, 3)
    named = {
        (5,): "thread 5 of cta 0",
        (3, 0, 2, 1, 2): "threads 0-3 of cta 0",
        (0, 1, 8, 63, 64): "threads 0-1, 8, 63 of cta 0, thread 0 of cta 1",
        tuple(range(2, 130)): "threads 2-63 of cta 0, threads 0-63 of cta 1, threads 0-1 of cta 2",
        tuple(range(0, 20, 2)): "threads 0, 2, 4, 6 of cta 0 and 6 more",
    }
    assert {threads: geometry.describe_all(np.array(threads), 4) for threads in named} == named


def test_a_deadlock_names_the_line_of_every_waiting_group():
    report = faulty("threads_at_a_barrier_wait_for_a_flag")
    text = str(report)
    assert "while Tx.atomic_add(F[0], 0) == 0:" in text
    assert "63 threads (thread 1 of cta 0, ...) wait at cta barrier" in text


def test_one_finding_per_line_and_buffer():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "float32"), B: Tx.Buffer((8,), "float32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([8])
        for k in range(5):
            B[tx] = A[tx + bx + k]

    report = simulate(kernel, np.zeros(8, "f4"), np.zeros(8, "f4"), checks=["bounds"])
    assert [finding.kind for finding in report.findings] == ["out_of_bounds"]
    assert report.findings[0].count == 5


def test_json_is_plain_data():
    data = json.loads(json.dumps(faulty("past_the_end").to_json()))
    assert data["verdict"] == "error"
    assert data["findings"][0]["place"]["line"] > 0
    assert f":{data['findings'][0]['place']['line']}:{data['findings'][0]['place']['column']}" in str(
        faulty("past_the_end")
    )
    assert data["lines"][0]["bytes"] > 0


def test_metrics_per_line():
    report = simulate(copy, *arrays())
    load, store = report.lines
    assert (load.buffer, load.store, load.bytes, load.requests, load.sectors) == ("A", False, 256, 2, 8)
    assert (store.buffer, store.store) == ("B", True)
    assert report.metrics["bytes"] == 512
    assert report.metrics["threads"] == 64


def test_strided_access_touches_more_sectors():
    @Tx.prim_func
    def strided(A: Tx.Buffer((32, 32), "float32"), B: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        B[tx] = A[tx, 0]

    report = simulate(strided, np.zeros((32, 32), "f4"), np.zeros(32, "f4"))
    assert [line.sectors_per_request for line in report.lines] == [32, 4]


@pytest.mark.parametrize(
    ("checks", "found"), [("none", []), (["bounds"], []), (["races"], ["race"]), ("all", ["race"])]
)
def test_each_check_can_be_switched(checks, found):
    report = faulty("missing_barrier", checks=checks)
    assert [finding.kind for finding in report.findings] == found
    assert bool(report) is not bool(found)


def test_an_unknown_check_is_an_error():
    with pytest.raises(SimulationError, match="there is no check `race`") as error:
        simulate(copy, *arrays(), checks=["race"])
    assert error.value.hint == "did you mean `races`?"


def test_an_unchecked_access_outside_is_an_error_that_says_what_to_do():
    kernel, *args = corpus.PAIRS["past_the_end"][1](True)
    with pytest.raises(SimulationError, match="an access outside its memory") as error:
        simulate(kernel, *args, checks="none")
    assert "checks" in error.value.hint


def test_the_public_entry():
    a, b = arrays()
    report = tirx.simulate(copy, a, b, target="generic")
    assert report.verdict == "clean"
    assert repr(report) == "<Report copy: clean, 0 findings>"
    np.testing.assert_array_equal(a, b)


def test_arguments_by_position_and_a_missing_entry():
    module = lowered(copy)
    a, b = arrays()
    assert simulate_module(module, [a, b], Target("generic"))
    np.testing.assert_array_equal(a, b)
    with pytest.raises(SimulationError, match="takes 2 arguments, and is given 1"):
        simulate_module(module, [a], Target("generic"))
    with pytest.raises(SimulationError, match="the module has no function `copi`") as error:
        simulate_module(module, [a, b], Target("generic"), entry="copi")
    assert error.value.hint == "did you mean `copy`?"


def test_overlapping_arguments_overlap():
    @Tx.prim_func
    def shift(A: Tx.Buffer((32,), "int32"), B: Tx.Buffer((32,), "int32")):
        Tx.func_attr({"tirx.noalias": False})
        Tx.device_entry()
        tx = Tx.thread_id([32])
        B[tx] = A[tx]

    whole = np.arange(33, dtype="i4")
    report = simulate(shift, whole[:32], whole[1:])
    assert [finding.kind for finding in report.findings] == ["race"]


def test_the_generated_text_is_readable(monkeypatch, capsys):
    monkeypatch.setenv("TIRX_SIM_PRINT", "1")
    simulate(copy, *arrays(), checks="none")
    text = capsys.readouterr().err
    assert "def block_0(S, cx, ck, tid, n, key):" in text
    assert "m_B_float32[v_tx] = m_A_float32[v_tx]" in text
