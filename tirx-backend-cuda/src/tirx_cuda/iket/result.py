"""What a profile leaves behind, and how it fails."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["IketProfileError", "IketProfileResult"]


class IketProfileError(RuntimeError):
    """A profile that could not be made: what was run, how it ended, and the last that it printed."""

    def __init__(
        self,
        message: str,
        *,
        returncode: int | None = None,
        command: Sequence[str] = (),
        output_tail: str = "",
        timeout: float | None = None,
    ) -> None:
        super().__init__(message)
        self.returncode = returncode
        self.command = tuple(command)
        self.output_tail = output_tail
        self.timeout = timeout


@dataclass(frozen=True)
class IketProfileResult:
    """The files of a profile."""

    output_dir: Path
    postprocess: str
    json_traces: tuple[Path, ...]
    perfetto_traces: tuple[Path, ...]
    html_reports: tuple[Path, ...]
    command: tuple[str, ...] = ()

    @property
    def trace_json(self) -> Path:
        """The only JSON trace."""
        return _only(self.json_traces, "JSON trace", "json")

    @property
    def perfetto(self) -> Path:
        """The only Perfetto trace."""
        return _only(self.perfetto_traces, "Perfetto trace", "perfetto")

    @property
    def html(self) -> Path:
        """The only HTML report."""
        return _only(self.html_reports, "HTML report", "html")

    @property
    def trace(self) -> Any:
        """What the JSON trace says."""
        return json.loads(self.trace_json.read_text())

    @property
    def launches(self) -> Any:
        """The launches of the JSON trace."""
        return self.trace["launches"]


def _only(files: tuple[Path, ...], what: str, word: str) -> Path:
    if len(files) != 1:
        count = f"{len(files)} files" if files else "none"
        raise IketProfileError(f"the profile has not one {what} but {count}; ask for postprocess={word!r} or 'all'")
    return files[0]
