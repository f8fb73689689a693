"""What stands between core and a plugin's code while that runs: prints, hangs and forks are contained here."""

from __future__ import annotations

import _thread
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["Guard"]

_FORKED_CHILD = 70  # EX_SOFTWARE: the exit status of a process that a plugin forked off while it was imported
_forks: dict[int, int] = {}


def _note_fork() -> None:
    ident = _thread.get_ident()
    if ident in _forks:
        _forks[ident] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_note_fork)


class Guard:
    """Context in which a plugin is imported and its hooks are called.

    Whatever is printed to standard output goes to standard error, so that output that a machine reads survives.
    After `slow_after` seconds a line on standard error names the plugin and how to do without it. A process that the
    plugin forked off ends here, and `forked` tells afterwards.
    """

    def __init__(self, what: str, without: str, slow_after: float) -> None:
        self._warning = (
            f"tirx: {what} has been loading for {slow_after:g} s; "
            f"if it hangs, interrupt and work without it: {without}\n"
        )
        self._slow_after = slow_after
        self._done = _thread.allocate_lock()
        self._stdout: TextIO | None = None
        self._descriptor: int | None = None
        self.forked = False

    def __enter__(self) -> Guard:
        self._ident = _thread.get_ident()
        self._process = os.getpid()
        self._forks_before = _forks.setdefault(self._ident, 0)
        self._redirect()
        self._done.acquire()
        _thread.start_new_thread(self._watch, ())
        return self

    def __exit__(self, *_: object) -> None:
        if os.getpid() != self._process:
            os._exit(_FORKED_CHILD)
        self._done.release()
        self._restore()
        self.forked = _forks[self._ident] != self._forks_before
        _forks[self._ident] = self._forks_before

    def _watch(self) -> None:
        if not self._done.acquire(timeout=self._slow_after):
            stream = sys.stderr
            if stream is not None:
                stream.write(self._warning)
                stream.flush()

    def _redirect(self) -> None:
        self._stdout = sys.stdout
        _flush(self._stdout)
        sys.stdout = sys.stderr
        try:
            self._descriptor = os.dup(1)
            os.dup2(2, 1)
        except OSError:  # no standard output or error here
            return

    def _restore(self) -> None:
        _flush(self._stdout)
        if self._descriptor is not None:
            os.dup2(self._descriptor, 1)
            os.close(self._descriptor)
        sys.stdout = self._stdout


def _flush(stream: TextIO | None) -> None:
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):  # closed
        return
