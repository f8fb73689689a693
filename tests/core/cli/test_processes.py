"""The command as a process: signals, pipes, terminals, children with a time limit."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.core.cli.commands import shell_in

COMMAND = [sys.executable, "-m", "tirx.cli"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with kernel files, and some that do not end well."""
    shell_in(tmp_path)
    (tmp_path / "loops.py").write_text("print('started', flush=True)\nwhile True:\n    pass\n")
    (tmp_path / "killed.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return {**kept, "TIRX_BACKENDS": "", "PYTHONUNBUFFERED": "1", **more}


def run(folder: Path, *words: str, backends: str = "") -> subprocess.CompletedProcess[str]:
    settings = environment(TIRX_BACKENDS=backends)
    return subprocess.run(
        [*COMMAND, *words], cwd=folder, env=settings, capture_output=True, text=True, timeout=60, check=False
    )


def test_doctor_says_what_is_there(folder: Path) -> None:
    found = {item["what"]: item for item in json.loads(run(folder, "doctor", "--json").stdout)}
    assert found["numpy"]["state"] == "ok"
    assert found["backends"]["advice"].startswith("kernels are simulated only")
    assert "+ tirx-core: " in run(folder, "doctor").stdout


def test_a_kernel_file_that_loops_is_ended(folder: Path) -> None:
    started = time.monotonic()
    done = run(folder, "check", "loops.py", "--time-limit", "2")
    assert done.returncode == 124
    assert "error: not done after 2 s (--time-limit); the kernel file loops, or the limit is too short\n" in done.stderr
    assert time.monotonic() - started < 30


def test_a_child_answers_like_the_command_itself(folder: Path) -> None:
    plain, limited = (run(folder, "check", "too_wide.py", *limit) for limit in ((), ("--time-limit", "50")))
    assert plain.returncode == limited.returncode == 1
    assert plain.stdout == limited.stdout


def test_a_child_that_is_killed_is_reported(folder: Path) -> None:
    done = run(folder, "check", "killed.py", "--time-limit", "50")
    assert done.returncode == 137
    assert "ended by signal 9" in done.stderr


def test_a_child_imports_nothing_of_the_working_directory(folder: Path) -> None:
    (folder / "click.py").write_text("raise RuntimeError('not meant')\n")
    program = [sys.executable, "-c", "import sys; sys.path.remove(''); from tirx.cli import main; main()"]
    done = subprocess.run(
        [*program, "check", "scale.py", "--time-limit", "50"],
        cwd=folder, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "scale  generic  ok\n")


def interruptible() -> None:
    """What runs in the background inherits that Ctrl-C is ignored; a command in a terminal does not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupting_is_quiet(folder: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "check", "loops.py"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.strip() == "interrupted"


def test_a_reader_that_goes_away_is_no_fault(folder: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "targets"], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (141, "")


@pytest.mark.parametrize("words", [("check", "scale.py"), ("layout", "S[8]"), ("--help",)], ids=" ".join)
def test_output_that_cannot_be_written(words: tuple[str, ...], folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    shell = 'exec "$@" > /dev/full'
    command = ["sh", "-c", shell, "sh", *COMMAND, *words]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.stderr == "error: the output cannot be written: No space left on device\n"
    assert done.returncode == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_fault(closed: str, folder: Path) -> None:
    for words, status in ((("check", "scale.py"), 0), (("check", "nothing.py"), 1), (("frob",), 2)):
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, *words]
        done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == status
        assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "settings",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}, {"COLUMNS": "1"},
        {"COLUMNS": "40", "TERM": "dumb"}, {"HOME": "/nonexistent"}, {"LC_ALL": "xx_YY.bogus"}, {"TIRX_BACKENDS": ",,"},
    ],
    ids=str,
)  # fmt: skip
def test_unusual_environments(settings: dict[str, str], folder: Path) -> None:
    (folder / "größe.py").write_text("# Größe\n" + (folder / "scale.py").read_text(), encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "check", "größe.py"], cwd=folder, env=environment(**settings), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"scale  generic  ok\n")
    done = subprocess.run(
        [*COMMAND, "compile", "--help"], env=environment(**settings), capture_output=True, check=False
    )
    assert done.returncode == 0


def test_json_survives_backends_that_print(folder: Path) -> None:
    info = folder / "site/talkative-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: talkative\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tirx.api.v1]\ntalkative = talkative\n")
    (info.parent / "talkative.py").write_text("import os\nprint('chatter')\nos.write(1, b'more of it\\n')\n")
    done = subprocess.run(
        [*COMMAND, "targets", "--json"],
        env=environment(PYTHONPATH=str(info.parent), TIRX_BACKENDS="talkative"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert [kind["name"] for kind in json.loads(done.stdout)["kinds"]] == ["generic"]
    assert "chatter" in done.stderr


def on_a_terminal(folder: Path, *words: str, **more: str) -> str:
    """All that a command writes when a person looks on."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *words],
        cwd=folder,
        env=environment(TERM="xterm", **more),
        stdout=theirs,
        stderr=theirs,
        stdin=theirs,
    ):
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return shown.decode()


def test_colours_on_terminals_only(folder: Path) -> None:
    assert "\x1b[32mok\x1b[0m" in on_a_terminal(folder, "check", "scale.py")
    assert "\x1b[" not in on_a_terminal(folder, "check", "scale.py", NO_COLOR="1")
    assert "\x1b[" not in run(folder, "check", "scale.py").stdout


def test_progress_bars_on_terminals_only(folder: Path) -> None:
    assert "checking" in on_a_terminal(folder, "check", "several.py")
    assert run(folder, "check", "several.py").stderr == ""
