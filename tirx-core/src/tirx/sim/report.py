"""What a simulation found: findings with source lines, measurements, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..support.errors import Diagnostic, format_diagnostic
from ..support.span import Span

__all__ = ["Finding", "LineMetrics", "Report"]


class Finding:
    """One fault: `kind` (`race`, `out_of_bounds`, ...), `message`, the place, the other place, threads and indices.

    There is one finding for each kind, source line and buffer; `count` says how many accesses showed it. `indices` are those
    along the dimension that an access leaves; of a race, the element of the buffer's storage, where a buffer is named.
    """

    __slots__ = ("buffer", "count", "indices", "kind", "message", "notes", "other", "span", "threads")

    def __init__(
        self,
        kind: str,
        message: str,
        span: Span | None,
        *,
        buffer: str = "",
        other: Span | None = None,
        threads: Iterable[Any] = (),
        indices: Iterable[Any] = (),
        notes: Iterable[str] = (),
        count: int = 1,
    ) -> None:
        self.kind = kind
        self.message = message
        self.span = span
        self.buffer = buffer
        self.other = other
        self.threads = tuple(threads)
        self.indices = tuple(indices)
        self.notes = tuple(notes)
        self.count = count

    def __str__(self) -> str:
        notes = list(self.notes)
        if self.count > 1:
            notes.append(f"{self.count} times in this run")
        text = format_diagnostic(Diagnostic(f"{self.kind.replace('_', ' ')}: {self.message}", self.span, None, notes))
        if self.other is not None:
            what = "barrier" if self.kind == "mismatched_barrier" else "access"
            text += "\n" + format_diagnostic(Diagnostic(f"the other {what} is here", self.other)).replace(
                ": error:", ": note:", 1
            )
        return text

    def __repr__(self) -> str:
        return f"<Finding {self.kind} at {self.span}: {self.message}>"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.kind,
            "message": self.message,
            "buffer": self.buffer,
            "place": _place(self.span),
            "other": _place(self.other),
            "threads": [str(t) for t in self.threads],
            "indices": [list(i) for i in self.indices],
            "notes": list(self.notes),
            "count": self.count,
        }


class LineMetrics:
    """Memory traffic of one source line and buffer.

    `requests` counts group-wide accesses (one instruction of one warp), `bytes` what threads asked for, `sectors` the
    32-byte pieces that global requests touch, `passes` the turns that shared requests take (1 each without bank conflicts).
    """

    __slots__ = ("buffer", "bytes", "passes", "requests", "sectors", "space", "span", "store")

    def __init__(self, span: Span | None, buffer: str, space: str, store: bool) -> None:
        self.span = span
        self.buffer = buffer
        self.space = space
        self.store = store
        self.requests = self.bytes = self.sectors = self.passes = 0

    @property
    def sectors_per_request(self) -> float:
        """Mean number of 32-byte pieces that one request touches."""
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def conflict_degree(self) -> float:
        """Mean number of turns that one shared-memory request takes."""
        return self.passes / self.requests if self.requests else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "place": _place(self.span), "buffer": self.buffer, "space": self.space, "store": self.store,
            "requests": self.requests, "bytes": self.bytes, "sectors": self.sectors, "passes": self.passes,
        }  # fmt: skip


class Report:
    """The result of a simulation; arrays given to it hold what the kernel wrote.

    * `verdict`: `clean`, `error` (there are findings) or `incomplete` (no finding, but something was not modelled)
    * `findings`, `unmodelled` (texts), `output` (lines the kernel printed)
    * `metrics`: totals by name, and `lines`: traffic per source line
    """

    __slots__ = ("checks", "findings", "lines", "metrics", "name", "output", "unmodelled")

    def __init__(self, name: str, checks: Iterable[str]) -> None:
        self.name = name
        self.checks = tuple(sorted(checks))
        self.findings: list[Finding] = []
        self.unmodelled: list[str] = []
        self.output: list[str] = []
        self.metrics: dict[str, Any] = {}
        self.lines: list[LineMetrics] = []

    @property
    def verdict(self) -> str:
        """`clean`, `error` or `incomplete`."""
        return "error" if self.findings else "incomplete" if self.unmodelled else "clean"

    def __bool__(self) -> bool:
        return self.verdict == "clean"

    def __str__(self) -> str:
        checked = ", ".join(self.checks) if self.checks else "nothing"
        parts = [f"{self.name}: {self.verdict} (checked: {checked})"]
        parts += [str(item) for item in self.findings]
        parts += [f"not modelled: {text}" for text in self.unmodelled]
        if self.lines:
            parts.append(self._table())
        return "\n".join(parts)

    def __repr__(self) -> str:
        return f"<Report {self.name}: {self.verdict}, {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        """What notebooks show: verdict, findings with their lines, traffic."""
        from ..support.html import heading, panel, table  # only in notebooks

        parts = [heading(f"{self.name}:", self.verdict)]
        parts += [panel(item.kind.replace("_", " "), str(item)) for item in self.findings]
        parts += [panel("not modelled", "\n".join(self.unmodelled))] if self.unmodelled else []
        parts += [panel("printed", "\n".join(self.output))] if self.output else []
        if self.lines:
            parts.append(table(_COLUMNS, map(_cells, self.lines)))
        return f"<div>{''.join(parts)}</div>"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "checks": list(self.checks),
            "findings": [item.to_json() for item in self.findings],
            "unmodelled": list(self.unmodelled),
            "output": list(self.output),
            "metrics": dict(self.metrics),
            "lines": [item.to_json() for item in self.lines],
        }

    def _table(self) -> str:
        rows = [_COLUMNS, *map(_cells, self.lines)]
        return "\n".join(
            f"  {where:<28} {buffer:<12} {access:<13} {requests:>9} {size:>11} {sectors:>11} {turns:>10}"
            for where, buffer, access, requests, size, sectors, turns in rows
        )


_COLUMNS = ("line", "buffer", "access", "requests", "bytes", "sectors/req", "turns/req")


def _cells(line: LineMetrics) -> tuple[str, ...]:
    return (
        f"{line.span.path.rpartition('/')[2]}:{line.span.line}" if line.span else "?",
        line.buffer,
        f"{line.space} {'store' if line.store else 'load'}",
        str(line.requests),
        str(line.bytes),
        f"{line.sectors_per_request:.2f}" if line.sectors else "-",
        f"{line.conflict_degree:.2f}" if line.passes else "-",
    )


def _place(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    column = None if span.column is None else span.column + 1  # counted from 1, as in the messages of errors
    return {"path": span.path, "line": span.line, "column": column}
