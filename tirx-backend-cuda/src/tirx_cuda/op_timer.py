"""Rows of the event log; its format stands in `timer.py`."""

from __future__ import annotations

from collections.abc import Iterator

from .entry import Entry, pointer, value

__all__ = ["entries"]

_WORD = ("integer",)
_KINDS = {"tag_dtype": "uint64", "offset_dtype": "uint32"}


def entries() -> Iterator[Entry]:
    """All rows of this file."""
    log, tag, offset = pointer("buf", "w"), pointer("tag", "rw"), pointer("offset", "rw")
    yield Entry(
        "timer_init", [log, pointer("tag", "w"), pointer("offset", "w"), value("num_groups", *_WORD), value("group_id", *_WORD)],
        "void", "write", "timer_init({0}, {1}, {2}, {3}, {4})",
        "begin the log of a group: who writes, and where its first entry goes", meaning="timer:timer_init", helpers=("timer_init",),
        accuracy="model", attrs=_KINDS,
    )  # fmt: skip
    for name, doc in (("start", "an event begins"), ("end", "an event ends")):
        yield Entry(
            f"timer_{name}",
            [value("event", "int32", "integer"), log, tag, offset, value("stride", *_WORD), value("leader_cond", "bool", "integer")],
            "void", "opaque", f"timer_{name}({{0}}, {{1}}, {{2}}, {{3}}, {{4}}, {{5}})", f"{doc}: an entry where the condition holds",
            meaning=f"timer:timer_{name}", helpers=(f"timer_{name}",), accuracy="model", attrs=_KINDS,
        )  # fmt: skip
    yield Entry(
        "timer_finalize", [log, tag, offset, value("stride", *_WORD), value("leader_cond", "bool", "integer")], "void", "opaque",
        "timer_finalize({0}, {1}, {2}, {3}, {4})", "the log of the group ends here", meaning="timer:timer_finalize",
        helpers=("timer_finalize",), accuracy="model", attrs=_KINDS,
    )  # fmt: skip
