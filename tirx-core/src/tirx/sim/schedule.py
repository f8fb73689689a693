"""The scheduler: runs the lowest ready block, lets buckets that meet become one, parks threads that wait.

A *bucket* is (block, key, threads). Threads at a barrier go on when all live members of their group are there (or as many as
the barrier counts). Threads that took the back edge of a spinning loop run again only after everybody else went as far as
they can. When nothing changes any more, that is a deadlock; when only memory changes, a livelock. Threads that come to a
place where their warp meets are held back while others of it spin (see `gathering`).
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from .emit_block import EXIT
from .gathering import Gathering
from .launch import Chunk
from .numeric import ALL, pick
from .pool import Site
from .translate import Translation

__all__ = ["Scheduler"]

IDLE_PART = 10  # of the patience: rounds of spinning threads that only count
HELD_PART = 50  # the same while others of their warps are held back for them
BUSY_PART = (
    500  # the same of threads that write, before it is asked whether they come back to a state that they were in
)
WINDOW, PERIOD = 1024, 64  # of so many rounds, in so many the states are compared
RUNNING, ENDED, RETURNED = 0, 1, 2
SHOWN = 8  # lines on what threads wait for


class Meeting:
    """One barrier in use: who waits where, and how many arrived (with those that only signalled)."""

    __slots__ = ("arrived", "count", "members", "name", "parts")

    def __init__(self, name: tuple[str, int], count: int | None) -> None:
        self.name = name
        self.count = count
        self.arrived = 0
        self.parts: list[tuple[Site, int, Any, Any]] = []
        self.members: Any = None


class Scheduler:
    """Runs one chunk to its end."""

    def __init__(self, translation: Translation, chunk: Chunk, context: Any, checker: Any, alone: bool) -> None:
        self.translation = translation
        self.chunk = chunk
        self.context = context
        self.checker = checker
        self.alone = alone
        self.ready: dict[tuple[int, Any], list[Any]] = {}
        self.heap: list[tuple[Any, int, Any]] = []
        self.spinning: dict[tuple[int, Any], list[Any]] = {}
        self.gathering = Gathering(chunk.geometry, translation.gathers)
        self.meetings: dict[tuple[str, int, int | None], Meeting] = {}
        self.meetings_made = 0
        self.state = np.zeros(chunk.size, np.uint8)
        self.rounds = 0
        self.signature: Any = None
        self.snapshot: dict[str, Any] | None = None
        self.blocks_run = 0

    # ---- the loop ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Until every thread ended, or nothing moves."""
        self.push(0, (), ALL)
        while True:
            while self.heap:
                self._step()
            if not (self._release_ready() or self.gathering.release(self.spinning, self.push) or self._spin_again()):
                break
        if self.meetings:
            self._report_deadlock()

    def push(self, block: int, key: Any, threads: Any) -> None:
        """Threads are ready at a block."""
        parts = self.ready.get((block, key))
        if parts is None:
            self.ready[block, key] = [threads]
            heapq.heappush(self.heap, (self.translation.orders[block](key), block, key))
        else:
            parts.append(threads)

    def _step(self) -> None:
        _, block, key = heapq.heappop(self.heap)
        threads = self._joined(self.ready.pop((block, key)))
        gathering = self.gathering
        gathering.turning.pop((block, key), None)
        if self.translation.gathers[block] is not None and (self.spinning or gathering.turning or gathering.held):
            threads = gathering.admit((block, key), threads, self.spinning)
            if threads is None:
                return
        count = self.chunk.size if threads is ALL else len(threads)
        self.blocks_run += 1
        self.context.begin(threads, count)
        function = self.translation.blocks[block]
        for target, onward, chosen, spin in function(self.chunk, self.context, self.checker, threads, count, key):
            part = pick(threads, chosen)
            if target < 0:
                self.state[part] = ENDED if target == EXIT else RETURNED
            elif spin:
                self.spinning.setdefault((target, onward), []).append(part)
            else:
                self.push(target, onward, part)

    def _joined(self, parts: list[Any]) -> Any:
        if len(parts) == 1:
            return parts[0]
        joined = np.sort(np.concatenate(parts))
        return ALL if len(joined) == self.chunk.size else joined

    # ---- barriers ---------------------------------------------------------------------------------------------------

    def arrive(self, site: Site, threads: Any, target: int, key: Any, barrier: tuple[str, Any, Any]) -> None:
        """Threads wait at a barrier (`target` >= 0), or only signal that they were there."""
        level, identifier, count = barrier
        if threads is ALL and identifier is None and count is None and not self.meetings and target >= 0:
            self.checker.synchronise(level, ALL)
            self.push(target, key, ALL)
            return
        chosen = np.arange(self.chunk.size) if threads is ALL else threads
        groups = self.chunk.geometry.group(level)[chosen]
        names = None if identifier is None else np.broadcast_to(identifier, chosen.shape)
        counts = None if count is None else np.broadcast_to(count, chosen.shape)
        tag = groups if names is None else groups * (1 << 20) + names
        order = np.argsort(tag, kind="stable")
        starts = np.flatnonzero(np.diff(tag[order], prepend=tag[order][0] - 1))
        for part in np.split(order, starts[1:]):
            first = part[0]
            name = None if names is None else int(names[first])
            meeting = self._meeting(level, int(groups[first]), name, None if counts is None else int(counts[first]))
            meeting.arrived += len(part)
            if target >= 0:
                meeting.parts.append((site, target, key, chosen[part]))
            else:
                self.checker.release(meeting.name, chosen[part])
        self._release_ready()

    def _meeting(self, level: str, group: int, name: int | None, count: int | None) -> Meeting:
        found = self.meetings.get((level, group, name))
        if found is None:
            found = self.meetings[level, group, name] = Meeting(("meeting", self.meetings_made), count)
            self.meetings_made += 1
            found.members = np.flatnonzero(self.chunk.geometry.group(level) == group)
        return found

    def _release_ready(self) -> bool:
        """Let go everybody whose barrier is complete."""
        complete = []
        for key, meeting in self.meetings.items():
            needed = self._needed(meeting)
            if meeting.arrived >= needed:
                complete.append((key, meeting, needed))
        released: dict[str, list[Any]] = {}
        for key, meeting, needed in complete:
            del self.meetings[key]
            self._check_meeting(meeting, needed)
            for _, target, onward, threads in meeting.parts:
                self.push(target, onward, threads)
                released.setdefault(key[0], []).append(threads)
        for key, meeting, _ in complete:
            if meeting.parts:
                together = np.concatenate([part[3] for part in meeting.parts])
                self.checker.acquire(meeting.name, together)
                self.checker.synchronise(key[0], together)
        return bool(complete)

    def _needed(self, meeting: Meeting) -> int:
        """How many threads a barrier waits for: its count, or all living members of its group."""
        if meeting.count is not None:
            return meeting.count
        return int(np.count_nonzero(self.state[meeting.members] == RUNNING))

    def _check_meeting(self, meeting: Meeting, needed: int) -> None:
        if not meeting.parts:
            return
        first, other = meeting.parts[0], next((p for p in meeting.parts if p[0] is not meeting.parts[0][0]), None)
        if meeting.count is not None:
            if meeting.arrived > needed:
                text = f"{meeting.arrived} threads arrive at a barrier that counts {needed}"
                self.checker.report("mismatched_barrier", text, first[0], first[3])
            return
        if other is not None:
            text = "threads of one group wait at two different barriers"
            self.checker.report(
                "mismatched_barrier", text, first[0], np.concatenate([first[3], other[3]]), other=other[0]
            )
        passed = meeting.members[self.state[meeting.members] == ENDED]
        if len(passed):
            text = (
                f"only {meeting.arrived} of {len(meeting.members)} threads reach this barrier; "
                f"{self.checker.describe(passed[0])} ends without it"
            )
            self.checker.report("divergent_barrier", text, first[0], first[3])

    # ---- spinning ---------------------------------------------------------------------------------------------------

    def _spin_again(self) -> bool:
        """Run the spinning threads once more; False when there are none or they can never get out."""
        if not self.spinning:
            return False
        parts = {key: self._joined(found) for key, found in self.spinning.items()}
        signature = {key: "all" if found is ALL else found.tobytes() for key, found in parts.items()}
        if signature == self.signature:
            self.rounds += 1
            kind = self._stuck()
            if kind is not None:
                return self._get_stuck(kind, parts)
        else:
            self.signature, self.rounds, self.snapshot = signature, 0, None
        self.chunk.changed = False
        self.spinning = {}
        self.gathering.turning = dict(parts)
        for (block, key), threads in parts.items():
            self.push(block, key, threads)
        return True

    def _get_stuck(self, kind: str, parts: dict[tuple[int, Any], Any]) -> bool:
        """Spinning threads never get out: others go on without them, or it is the end. Whether anything still runs."""
        outside = self.chunk.state.get("outside")
        if outside is not None and outside():
            self.signature = None  # what they wait for may have been written by somebody who is not of this launch
            return True
        if self.gathering.held:
            self.gathering.give_up(self.spinning, self.push)
            self.signature = None
            return True
        for explain in self.chunk.state.get("stuck", ()):
            explain()
        self._report_spinning(kind, parts)
        self.spinning = {}
        return False

    def _stuck(self) -> str | None:
        """What it is that the spinning threads are in, when they never get out."""
        if self.chunk.changed:
            return "livelock" if self._busy_for_nothing() else None
        now = self._registers()
        same = self.snapshot is not None and all(
            np.array_equal(now[k], v) for k, v in self.snapshot.items() if k in now
        )
        self.snapshot = now
        part = HELD_PART if self.gathering.held else IDLE_PART
        return "deadlock" if same else "livelock" if self.rounds > self.chunk.patience // part else None

    def _busy_for_nothing(self) -> bool:
        """Whether threads that keep writing come back to a state that they were in, or have gone on for very long.

        A loop that counts never comes back, however often it turns.
        """
        patience = self.chunk.patience
        turn = self.rounds - patience // BUSY_PART
        if turn <= 0 or turn % WINDOW > PERIOD:
            self.snapshot = None
            return False
        now = self._registers()
        if self.snapshot is None:
            self.snapshot = now
            return self.rounds > patience // HELD_PART
        return all(np.array_equal(now[k], v) for k, v in self.snapshot.items() if k in now)

    def _registers(self) -> dict[str, Any]:
        kept = {}
        for name, value in vars(self.chunk).items():
            if name.startswith(("r_", "v_")) and isinstance(value, np.ndarray):
                kept[name] = value.copy()
        return kept

    def _report_spinning(self, kind: str, parts: dict[tuple[int, Any], Any]) -> None:
        if not self.alone:
            self.checker.unmodelled("ctas wait for others that the memory budget does not let run at the same time")
            return
        waiting = self._waiting_lines()
        waiting += list(dict.fromkeys(line for told in self.chunk.state.get("standing", ()) for line in told()))[:SHOWN]
        for (block, _), threads in parts.items():
            chosen = np.arange(self.chunk.size) if threads is ALL else threads
            span = self.translation.spans[block]
            place = "past this wait" if self.translation.waits[block] else "out of this loop"
            what = f"never gets {place}: nothing that it reads changes any more"
            if kind == "livelock":
                what = f"never gets {place}, although memory keeps changing"
            self.checker.report_at(kind, f"{self.checker.describe(chosen[0])} {what}", span, chosen, notes=waiting)

    def _waiting_lines(self) -> list[str]:
        lines = []
        for (level, _, name), meeting in self.meetings.items():
            for site, _, _, threads in meeting.parts:
                which = "" if name is None else f" {name}"
                lines.append(
                    f"{len(threads)} threads ({self.checker.describe(threads[0])}, ...) wait at {level} barrier{which}, {site.span}"
                )
        return lines[:SHOWN]

    def _report_deadlock(self) -> None:
        if not self.alone and any(level == "kernel" for level, _, _ in self.meetings):
            self.checker.unmodelled("a barrier of all ctas, which the memory budget does not let run at the same time")
            return
        lines = self._waiting_lines()
        for (level, _, name), meeting in self.meetings.items():
            for site, _, _, threads in meeting.parts[:1]:
                which = "" if name is None else f" {name}"
                text = (
                    f"{meeting.arrived} of {self._needed(meeting)} threads arrive at this {level} barrier{which}, "
                    "the others never do"
                )
                self.checker.report("deadlock", text, site, threads, notes=lines)
