"""A headless Chromium, driven through its own pipe: nothing to install besides the browser."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import signal
import tempfile
from types import TracebackType
from typing import Any

__all__ = ["Browser", "find_browser"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
OPTIONS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
ABOVE = 10  # the browser reads its descriptor 3 and writes 4; what becomes these must lie above


def find_browser() -> str | None:
    """The browser that `TIRX_BROWSER` names, or the first on the PATH."""
    names = [os.environ["TIRX_BROWSER"]] if "TIRX_BROWSER" in os.environ else NAMES
    return next((found for found in map(shutil.which, names) if found is not None), None)


class Browser:
    """One browser with one page."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="tirx-browser-")
        reads, self._commands = _pipe()
        self._answers, writes = _pipe()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to sandbox root
        self._process = os.posix_spawn(
            program,
            [program, *OPTIONS, *sandbox, f"--user-data-dir={self._profile}", "about:blank"],
            dict(os.environ),
            file_actions=[(os.POSIX_SPAWN_DUP2, reads, 3), (os.POSIX_SPAWN_DUP2, writes, 4), *_silence()],
        )
        os.close(reads)
        os.close(writes)
        self._received = b""
        self._count = 0
        self._session: str | None = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        os.kill(self._process, signal.SIGTERM)
        os.waitpid(self._process, 0)
        os.close(self._commands)
        os.close(self._answers)
        shutil.rmtree(self._profile, ignore_errors=True)

    def look(self, width: int, scheme: str = "light") -> None:
        """Pretend to have a screen of this width, and a reader who likes it `light` or `dark`."""
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address: str) -> None:
        """Load a page, wholly."""
        self._call("Page.navigate", url=address)
        self._wait("Page.loadEventFired")

    def ask(self, script: str) -> Any:
        """The value of an expression of JavaScript on the page."""
        return self._call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def picture(self, height: int) -> bytes:
        """The page from its top, as PNG: all of it, or so much."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], height), "scale": 1}
        shot = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(shot["data"])

    # ---- the protocol: one JSON object after another, each ended by a zero byte --------------------------------------

    def _call(self, method: str, **parameters: Any) -> Any:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        _write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _wait(self, event: str) -> None:
        while self._receive().get("method") != event:
            pass

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._received:
            more = os.read(self._answers, 1 << 16)
            if not more:
                raise RuntimeError("the browser ended")
            self._received += more
        message, _, self._received = self._received.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


def _pipe() -> tuple[int, int]:
    """A pipe whose ends lie above the descriptors that the browser uses."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, ABOVE) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


def _silence() -> list[tuple[int, int, str, int, int]]:
    """Chromium talks a lot about what headless machines lack."""
    return [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
