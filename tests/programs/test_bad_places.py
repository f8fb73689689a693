"""Caches that cannot be used, several processes at once, and Ctrl-C: nothing is lost, and nothing is in the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tirx
from tests.programs.bad import fill, scale, traced
from tests.programs.examples import binary_or_skip
from tirx.runtime.cache import BinaryCache

TARGET = "cuda -arch=sm_90a"
HEAD = "import sys; sys.path.insert(0, {root!r})\nfrom tests.programs.bad import *\nimport tirx\n"


def process(code: str, cache: Path) -> subprocess.Popen[str]:
    """A Python that runs `code` with the test kernels at hand."""
    root = str(Path(__file__).parents[2])
    program = HEAD.format(root=root) + textwrap.dedent(code)
    environment = {**os.environ, "TIRX_CACHE": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", program], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def entries(cache: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cache.iterdir()}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The compile cache of this test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TIRX_CACHE", str(folder))
    return folder


@pytest.mark.needs("tirx-backend-cuda")
def test_a_cache_that_is_no_folder_is_done_without(cache: Path) -> None:
    cache.write_text("in the way")
    assert binary_or_skip(traced(fill), TARGET).data
    assert cache.read_text() == "in the way"


@pytest.mark.needs("tirx-backend-cuda")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_cache_that_is_read_only_is_done_without(cache: Path) -> None:
    cache.mkdir(mode=0o500)
    assert binary_or_skip(traced(fill), TARGET).data


@pytest.mark.needs("tirx-backend-cuda")
@pytest.mark.slow
def test_a_full_disk_leaves_no_half_entry(cache: Path) -> None:
    binary_or_skip(traced(fill, name="other"), TARGET)
    before = entries(cache)
    code = """
        import resource, signal
        executable = tirx.compile(traced(fill), "cuda -arch=sm_90a")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        print(executable.resources["kernel_kernel"].registers)
    """
    with process(code, cache) as running:
        out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    assert int(out) > 0
    assert entries(cache) == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data.replace(b"tirx-binary-1", b"tirx-binary-0"),
        lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:],
        lambda data: data + b"more",
    ],
)
def test_damaged_entries_are_made_again(cache: Path, damage: object) -> None:
    store = BinaryCache(cache)
    store.put("key", {"format": "x"}, b"some bytes" * 20)
    path = cache / "key.tirx"
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    assert store.get("key") is None
    assert store.put("key", {"format": "x"}, b"new")
    assert store.get("key") == ({"format": "x"}, b"new")


@pytest.mark.needs("tirx-backend-cuda")
def test_a_damaged_binary_is_compiled_again(cache: Path) -> None:
    good = binary_or_skip(traced(fill), TARGET)
    (path,) = cache.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    again = tirx.compile(traced(fill), TARGET).binary
    assert again.data == good.data
    assert path.read_bytes() == whole


@pytest.mark.needs("tirx-backend-cuda")
@pytest.mark.slow
def test_processes_that_compile_at_once_share_one_cache(cache: Path) -> None:
    binary_or_skip(traced(fill, name="other"), TARGET)
    code = 'print(tirx.compile(traced(fill), "cuda -arch=sm_90a").resources["kernel_kernel"].registers)'
    running = [process(code, cache) for _ in range(4)]
    answers = [one.communicate(timeout=120) for one in running]
    assert [one.returncode for one in running] == [0] * 4, answers
    assert len({out for out, _ in answers}) == 1
    assert len(entries(cache)) == 2


@pytest.mark.slow
def test_interrupting_a_simulation(tmp_path: Path) -> None:
    """KeyboardInterrupt comes out as itself, the arrays are whole, and the process can go on."""
    code = """
        import numpy as np, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs inherit that it is ignored
        x, y = np.ones((200_000, 64), np.float32), np.zeros((200_000, 64), np.float32)
        print("started", flush=True)
        try:
            while True:
                tirx.simulate(scale, x, y, 2.0, target="generic")
        except KeyboardInterrupt:
            pass
        assert (x == 1).all() and ((y == 2) | (y == 0)).all()
        x, y = x[:2], np.zeros((2, 64), np.float32)
        print(tirx.simulate(scale, x, y, 2.0, target="generic").verdict, (y == 2).all())
    """
    with process(code, tmp_path) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "started\n"
        try:
            running.wait(timeout=2)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (0, "clean True\n"), err


def test_an_error_in_a_simulation_leaves_nothing_behind() -> None:
    x, y = np.ones((2, 64), np.float32), np.zeros((2, 64), np.float32)
    with pytest.raises(tirx.support.errors.TirxError):
        tirx.simulate(scale, x, y, "2", target="generic")
    assert tirx.simulate(scale, x, y, 2.0, target="generic").verdict == "clean"
    assert (y == 2).all()
