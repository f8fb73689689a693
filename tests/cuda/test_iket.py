"""The in-kernel profiler: annotations, their events, and programs under its tool (one of our own, which answers as it does)."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.support.errors import ArgumentError, ScriptError, TargetError, VerifyError
from tirx_cuda.iket import IketProfileError, IketProfiler, IketProfileResult, profile
from tirx_cuda.iket_events import MARK, PUSH, TOKEN, Event, EventTable, declarations, enabled, name_hash
from tirx_cuda.nvrtc import open_nvrtc

TARGET = "cuda -arch=sm_90a"
iket = IketProfiler()


@Tx.prim_func
def annotated(A: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    iket.range_push("load", tx)
    x = A[tx]
    iket.range_pop()
    token = Tx.cuda.iket.range_start("step")
    if tx < 32:
        A[tx] = x + 1.0
        iket.mark("half", Tx.cast(x, "float64"))
    else:
        token = iket.sentinel_token("step")
    iket.range_end(token)


def test_annotations_leave_no_trace() -> None:
    text = source_of(annotated, TARGET).text
    assert "iket" not in text
    assert "token" not in text


def test_annotations_become_events() -> None:
    text = iket.compile(annotated, TARGET).source.text
    kernel = text[text.index("__launch_bounds__") :]
    assert "iket_event_payload32<1>((unsigned int)(tx));" in kernel
    assert "iket_event<31>();" in kernel
    assert "token = iket_event<2>();" in kernel
    assert "iket_event_payload64<3>(" in kernel
    assert "__double_as_longlong" in kernel
    assert "iket_any_event(token);" in kernel
    assert text.count("__iket_meta_info[48]") == 1
    assert "iket" not in str(tirx.compile(annotated, TARGET).source)  # only where asked for


def test_simulation_does_not_see_them() -> None:
    a = np.zeros(64, np.float32)
    assert tirx.simulate(annotated, a, target=TARGET).verdict == "clean"
    assert a.tolist() == [1.0] * 32 + [0.0] * 32


@pytest.mark.slow
@pytest.mark.skipif(open_nvrtc() is None, reason="needs NVRTC")
@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a", "sm_120a"])
def test_the_binary_declares_the_events(arch: str) -> None:
    binary = iket.compile(annotated, f"cuda -arch={arch}").binary
    names = (b"__iket_meta_info", b"__iket_evt_decl_load_1_attrs", b"__iket_range_decl_step_3343129103_attrs")
    assert all(name in binary.data for name in names)
    assert b"load".ljust(32, b"\0") in binary.data


def test_declarations() -> None:
    meta, event, span = (_data(line) for line in declarations(Event("step", 2, TOKEN, "float32")).splitlines())
    assert len(meta) == 48
    assert struct.unpack_from("<6I", meta) == (48, 0, 5, 31, 32, 60)
    assert struct.unpack_from("<7I", event) == (60, 2, 3, 13, TOKEN, name_hash("step"), 4)
    assert event[28:] == b"step".ljust(32, b"\0")
    assert struct.unpack_from("<9I", span) == (72, 0, name_hash("step"), 0xFFFFFFFF, 2, 1, 0, 0, 4)
    assert len(declarations(Event("a-b", 1, MARK, "")).splitlines()) == 2  # a mark is no range
    assert "__iket_evt_decl_a_b_1_attrs" in declarations(Event("a-b", 1, MARK, ""))


def _data(line: str) -> bytes:
    return bytes(map(int, line[line.index("{") + 1 : line.index("}")].split(",")))


def test_the_hash_of_a_name() -> None:
    assert [name_hash(name) for name in ("", "a", "foobar")] == [
        0x811C9DC5,
        0xE40C292C,
        0xBF9CF968,
    ]  # published FNV-1a values


def test_a_module_has_thirty_events() -> None:
    table = EventTable()
    for number in range(30):
        assert table.event(f"e{number}", PUSH, "", None).number == number + 1
    assert table.event("e0", PUSH, "", None).number == 1
    with pytest.raises(VerifyError, match="at most 30"):
        table.event("more", PUSH, "", None)


def test_a_name_keeps_its_payload() -> None:
    table = EventTable()
    table.event("a", MARK, "int32", None)
    with pytest.raises(VerifyError, match=r"`a` is recorded with float32 here and with int32 before"):
        table.event("a", MARK, "float32", None)


@pytest.mark.parametrize("name", ["", "x" * 32, 3])
def test_names_that_are_refused(name: Any) -> None:
    with pytest.raises(ScriptError, match="is no name of an event"):
        iket.mark(name)


def test_payloads_that_are_refused() -> None:
    with pytest.raises(ScriptError, match="a payload of float16 cannot be recorded"):
        iket.mark("a", Tx.float16(1.0))


def test_targets_without_events() -> None:
    with pytest.raises(TargetError, match="no events on this target"):
        iket.compile(annotated, "cuda -arch=sm_80")
    with pytest.raises(ArgumentError, match="no pipeline"):
        iket.compile(annotated, TARGET, tir_pipeline="other")


def test_an_event_by_hand() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        A[tx] = Tx.cuda.iket.official_event(7, "__device__ unsigned char __iket_own[1] = {1};")

    a = np.zeros(32, np.uint32)
    assert tirx.simulate(kernel, a, target=TARGET).verdict == "clean"
    assert (a == 7).all()
    text = source_of(kernel, TARGET).text
    assert "__iket_own[1] = {1};" in text
    assert "A[tx] = iket_event<7>();" in text


TOOL = """#!{python}
import json, os, pathlib, subprocess, sys, time
words = sys.argv[1:]
place = pathlib.Path(words[words.index("-o") + 1])
rest = words[words.index("profile") + 1:]
kind = rest[rest.index("--postprocess") + 1]
rest = rest[2:]
while rest[0].startswith("--"):
    rest = rest[1:] if rest[0] == "--keep" else rest[2:]
place.mkdir(parents=True, exist_ok=True)
if rest == ["hang"]:
    print("starting", flush=True)
    time.sleep(60)
code = subprocess.run(rest).returncode
if code:
    print("the program failed")
    sys.exit(code)
if kind in ("json", "all"):
    (place / "t.json").write_text(json.dumps({{"launches": [1, 2], "words": words}}))
if kind in ("perfetto", "all"):
    (place / "t.trace.json").write_text("{{}}")
if kind in ("html", "all"):
    (place / "t.html").write_text("")
"""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `run-iket` on the path."""
    place = tmp_path / "bin" / "run-iket"
    place.parent.mkdir()
    place.write_text(TOOL.format(python=sys.executable))
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{place.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "none"))
    return place


needs_posix = pytest.mark.skipif(os.name != "posix", reason="the tool of this test is a script with a first line")


@needs_posix
def test_a_profile(tool: Path, tmp_path: Path) -> None:
    result = profile([sys.executable, "-c", "pass"], output_dir=tmp_path / "out", max_ts_cnt_per_warp=9, keep=True)
    assert isinstance(result, IketProfileResult)
    assert result.launches == [1, 2]
    assert result.perfetto.name == "t.trace.json"
    assert result.html.name == "t.html"
    assert result.command[0] == str(tool)
    options = ["profile", "--postprocess", "all", "--keep", "--max-ts-cnt-per-warp", "9"]
    assert result.trace["words"][:8] == ["-o", str(tmp_path / "out"), *options]
    with pytest.raises(ArgumentError, match="exists"):
        profile([sys.executable, "-c", "pass"], output_dir=tmp_path / "out")
    again = profile([sys.executable, "-c", "pass"], output_dir=tmp_path / "out", clobber=True, postprocess="none")
    assert "--clobber" in again.command


@needs_posix
def test_only_what_was_asked_for(tool: Path, tmp_path: Path) -> None:
    result = profile([sys.executable, "-c", "pass"], output_dir=tmp_path / "out", postprocess="json")
    assert result.trace_json.name == "t.json"
    with pytest.raises(IketProfileError, match="has not one HTML report but none"):
        _ = result.html


@needs_posix
def test_a_program_that_fails(tool: Path, tmp_path: Path) -> None:
    with pytest.raises(IketProfileError, match="ended with 3") as caught:
        profile([sys.executable, "-c", "import sys; sys.exit(3)"], output_dir=tmp_path / "out")
    assert caught.value.returncode == 3
    assert "the program failed" in caught.value.output_tail


@needs_posix
def test_a_tool_that_does_not_end(tool: Path, tmp_path: Path) -> None:
    with pytest.raises(IketProfileError, match=r"did not end within 0\.7 s") as caught:
        profile(["hang"], output_dir=tmp_path / "out", timeout=0.7)
    assert caught.value.timeout == 0.7


@needs_posix
def test_a_program_profiles_itself(tool: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import pathlib, sys\nfrom tirx_cuda.iket import run\n"
        "def main():\n    pathlib.Path(sys.argv[1]).write_text('ran')\n"
        "result = run(main, output_dir=sys.argv[2])\nprint(len(result.json_traces))\n"
    )
    words = [sys.executable, str(program), str(tmp_path / "ran"), str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr
    assert (tmp_path / "ran").read_text() == "ran"


def test_without_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    with pytest.raises(IketProfileError, match="pip install"):
        profile(["program"], output_dir=tmp_path / "out")


@pytest.mark.parametrize(
    "wrong", [{"postprocess": "htm"}, {"profile_name": "x"}, {"max_ts_cnt_per_warp": 0}, {"command": "text"}]
)
def test_arguments_that_are_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ArgumentError):
        profile(wrong.pop("command", ["program"]), output_dir=tmp_path / "out", **wrong)


def test_recording_ends() -> None:
    with enabled():
        assert "iket_event<31>" in source_of(annotated, TARGET).text
    assert "iket" not in source_of(annotated, TARGET).text
