"""Loading a plugin in a process of its own, for `tirx backends --probe`.

The child gets a nonce on standard input and answers it over a pipe that the plugin does not know: before anything of
the plugin runs, standard output is moved to a private descriptor and replaced by standard error. So a plugin that
prints cannot spoil the answer, and one that hangs, crashes, calls `os._exit` or forks cannot give it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from tirx.support.errors import BackendError

from .default import default_host, wire, wiring

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from typing import Any

__all__ = ["ProbeResult", "answer", "probe"]

_CHILD = (
    "import sys; sys.path[:] = sys.argv[3:]; from tirx.backend.probe import answer; answer(sys.argv[1], sys.argv[2])"
)


class ProbeResult:
    """How loading went in a process of its own: `ok`, the state to show, the cause, what was printed, seconds.

    `answered` is whether that process lived to tell: where it did not, no process should load the plugin.
    """

    __slots__ = ("answered", "cause", "name", "ok", "output", "rows", "seconds", "state")

    def __init__(
        self,
        name: str,
        state: str,
        cause: str,
        seconds: float,
        output: str = "",
        rows: Mapping[str, int] | None = None,
        *,
        answered: bool = True,
    ) -> None:
        self.name = name
        self.answered = answered
        self.ok = state == "OK"
        self.state = state
        self.cause = cause
        self.seconds = seconds
        self.output = output
        self.rows = dict(rows or {})

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {field: getattr(self, field) for field in self.__slots__}

    def __repr__(self) -> str:
        return f"<probe of {self.name}: {self.state} {self.cause}>"


def probe(name: str, timeout: float = 10.0) -> ProbeResult:
    """Load a backend or extension in a subprocess that is given `timeout` seconds."""
    import secrets
    import time

    nonce = secrets.token_hex(16)
    start = time.perf_counter()
    child = _start(name)
    late = False
    try:
        told, printed = _talk(child, nonce, timeout)
    except TimeoutError as error:
        late = True
        told, printed = "", str(error)
    seconds = time.perf_counter() - start
    return _judge(name, nonce, told, printed, seconds, None if late else child.returncode, timeout)


def _start(name: str) -> subprocess.Popen[str]:
    import subprocess

    command = [sys.executable, "-c", _CHILD, name, wiring(), *sys.path]
    pipe = subprocess.PIPE
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, errors="replace", env=environ, start_new_session=True
    )


def _talk(child: subprocess.Popen[str], nonce: str, timeout: float) -> tuple[str, str]:
    """(what came over the private pipe, what was printed). TimeoutError when it took too long; ends what is left."""
    import subprocess

    try:
        return child.communicate(nonce + "\n", timeout)
    except subprocess.TimeoutExpired as expired:
        raise TimeoutError(_text(expired.stderr)) from None
    finally:
        _end(child)


def _end(child: subprocess.Popen[str]) -> None:
    """End the child and all that it left running: it leads a session of its own."""
    try:
        if hasattr(os, "killpg"):
            import signal

            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    except (OSError, ValueError):  # nothing is left
        pass
    child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def _text(data: bytes | str | None) -> str:
    return data.decode(errors="replace") if isinstance(data, bytes) else data or ""


def _judge(
    name: str, nonce: str, told: str, printed: str, seconds: float, status: int | None, timeout: float
) -> ProbeResult:
    import json

    answers = [line.partition(" ")[2] for line in told.splitlines() if line.startswith(nonce)]
    if status is None:
        left = "left a process running" if answers else "did not finish"
        return ProbeResult(name, "FAILED", f"it {left} within {timeout:g} s", seconds, printed, answered=bool(answers))
    if status != 0 or len(answers) != 1:
        ended = f"it ended its process {_how(status)} while it was loaded{_last_words(printed)}"
        return ProbeResult(name, "FAILED", ended, seconds, printed, answered=False)
    data = json.loads(answers[0])
    return ProbeResult(name, data["state"], data["cause"], seconds, printed, data["rows"])


def _last_words(printed: str) -> str:
    lines = printed.strip().splitlines()
    return f"; the last it said: {lines[-1]}" if lines else ""


def _how(status: int) -> str:
    if status >= 0:
        return f"with exit status {status}"
    import signal

    try:
        return f"by {signal.Signals(-status).name}"
    except ValueError:
        return f"by signal {-status}"


def answer(name: str, module: str) -> None:
    """What the child does: take the nonce, hide the way of answering, load, answer."""
    import json

    nonce = sys.stdin.readline().strip()
    private = os.dup(1)
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    wire(module)
    host = default_host()
    with suppress(BackendError):  # the record tells
        host.load(name)
    record = host.info(name)
    text = json.dumps({"state": record.state, "cause": record.cause, "rows": record.rows})
    os.write(private, f"{nonce} {text}\n".encode())
