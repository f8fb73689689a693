"""Probing: whatever a plugin does to its process, the answer is right and arrives in time."""

from __future__ import annotations

import os
import time

import pytest

from tests.core.backend.toy import GOOD
from tirx.backend import default, report
from tirx.backend.probe import probe

WIRING = "tests.core.backend.toy_wiring"
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@pytest.fixture
def probed(world, monkeypatch):
    """Probe a plugin with this code."""
    monkeypatch.setenv("TIRX_PLUGIN_CACHE", "0")
    monkeypatch.setattr(default, "_wiring", WIRING)

    def run(code: str, timeout: float = 30.0):
        world.install(code)
        return probe("acme", timeout)

    return run


def test_a_good_plugin(probed):
    result = probed(GOOD + "\n    print('chatter')\n    import os; os.write(1, b'raw')\n")
    assert (result.ok, result.state, result.cause) == (True, "OK", "")
    assert result.rows == {"kinds": 1, "names": 1}
    assert "chatter" in result.output
    assert "raw" in result.output


FORGE = """
import os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, b'forged {}\\n')
    except OSError:
        pass
os.close(2)
os._exit(0)
"""


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("raise RuntimeError('no luck')", "while it was imported: RuntimeError: no luck"),
        ("import sys; sys.exit(0)", "while it was imported: SystemExit: 0"),
        ("import os; os._exit(0)", "it ended its process with exit status 0 while it was loaded"),
        ("import os; os._exit(3)", "it ended its process with exit status 3 while it was loaded"),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            "it ended its process by SIGSEGV while it was loaded",
        ),
        (
            "import os; os.write(2, b'out of\\nmemory\\n'); os._exit(1)",
            "it ended its process with exit status 1 while it was loaded; the last it said: memory",
        ),
        (FORGE, "it ended its process with exit status 0 while it was loaded; the last it said: forged {}"),
    ],
)
def test_failures(probed, code, cause):
    result = probed(code)
    assert (result.ok, result.state, result.cause) == (False, "FAILED", cause)


def test_a_hang(probed):
    result = probed("import time; time.sleep(60)", timeout=1.5)
    assert (result.state, result.cause) == ("FAILED", "it did not finish within 1.5 s")
    assert result.seconds < 10


@FORKS
def test_a_fork(probed):
    result = probed(GOOD + "\n    import os; os.fork()\n")
    assert (result.state, result.cause) == ("FAILED", "while it was loaded: it forked a process")


@FORKS
def test_a_forked_process_that_stays_is_ended(probed, world):
    marker = world.folder / "pid"
    stay = f"pathlib.Path({str(marker)!r}).write_text(str(os.getpid())); time.sleep(60)"
    result = probed(GOOD + f"\n    import os, time, pathlib\n    if not os.fork(): {stay}\n", timeout=3)
    assert not result.ok
    assert result.seconds < 20
    for _ in range(100):
        if not alive(int(marker.read_text())):
            return
        time.sleep(0.05)
    pytest.fail("the forked process still runs")


def alive(pid: int) -> bool:
    """Whether a process runs (one that ended but was not waited for does not)."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_probing_all(world, monkeypatch):
    monkeypatch.setenv("TIRX_PLUGIN_CACHE", "0")
    monkeypatch.setattr(default, "_wiring", WIRING)
    monkeypatch.setattr(default, "_host", world.host())
    world.install(GOOD)
    world.install("raise RuntimeError", "new-toy", groups={"tirx.api.v2": {"new": "new_toy.plugin"}})
    told: list[str] = []
    results = report.probe_all(30, told.append)
    assert told == ["acme"]
    assert results["acme"].ok
