"""The context of host functions and of machines with one agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir import DType
from ..ir.dtype import VOID
from ..support.errors import SimulationError, TirxError
from ..support.span import Span
from .findings import Findings
from .pool import storage_dtype
from .regions import Region
from .report import Finding, LineMetrics, Report

__all__ = ["SequentialContext"]


class SequentialContext:
    """Implements `tirx.intrinsic.SimContext` for one agent: every question about threads has the answer one."""

    launch_error: type[TirxError] = SimulationError

    def __init__(self, report: Report, findings: Findings, checks: frozenset[str], attributes: dict[str, Any]) -> None:
        self.report = report
        self.findings = findings
        self.attributes = attributes
        self.count = 1
        self.threads = np.zeros(1, np.int64)
        self.dtype: DType = VOID
        self._checks = checks
        self._span: Span | None = None
        self._lines: dict[Any, LineMetrics] = {}

    def begin(self, node: Any, span: Span | None = None) -> None:
        """The node that is evaluated now."""
        self._span = node.span or span or self._span
        self.dtype = getattr(node, "dtype", VOID)

    def checked(self, name: str) -> bool:
        """Whether a check is on."""
        return name in self._checks

    def id(self, level: str, within: str) -> Any:
        """There is one of everything."""
        return np.zeros(1, np.int64)

    def width(self, level: str, within: str) -> int:
        """There is one of everything."""
        return 1

    def group(self, level: str) -> Any:
        """There is one of everything."""
        return np.zeros(1, np.int64)

    def load(self, address: Any, dtype: DType) -> Any:
        """The first element of a region that was passed as a pointer."""
        if isinstance(address, Region):
            return address.read().reshape(-1)
        raise SimulationError("this target has no pointers", span=self._span)

    def store(self, address: Any, dtype: DType, value: Any) -> None:
        """Store to a region that was passed as a pointer."""
        if not isinstance(address, Region):
            raise SimulationError("this target has no pointers", span=self._span)
        address.put(value)

    def atomic(self, address: Any, dtype: DType, update: Any, value: Any) -> Any:
        """One agent: read, update, write."""
        old = self.load(address, dtype)
        given = value if isinstance(value, tuple) else (value,)
        self.store(address, dtype, np.asarray(update(old, *given)).astype(storage_dtype(dtype)))
        return old

    def exchange(self, value: Any, source: Any, level: str = "warp") -> Any:
        """Nobody to exchange with."""
        return value

    def collect(self, value: Any, level: str = "warp") -> tuple[Any, Any]:
        """Nobody to collect from."""
        return np.reshape(value, (1, 1)), np.ones((1, 1), bool)

    def axis(self, name: str) -> Any:
        """There is one of everything."""
        return np.zeros(1, np.int64)

    def where(self, mask: Any) -> SequentialContext:
        """One agent."""
        return self

    def exist(self, level: str) -> Any:
        """One agent."""
        return np.ones((1, 1), bool)

    def arrive(self, level: str, identifier: Any = None, count: Any = None) -> None:
        """Nobody waits for a single agent."""

    def acquire(self, address: Any) -> None:
        """One agent sees what it did."""

    def release(self, address: Any) -> None:
        """One agent sees what it did."""

    def synchronise(self, level: str) -> None:
        """One agent sees what it did."""

    def finding(self, kind: str, message: str, where: Any = None, *, buffer: str = "") -> None:
        """Report a fault at the current line."""
        if where is None or np.any(where):
            self.findings.add(Finding(kind, message, self._span, buffer=buffer))

    def unmodelled(self, what: str) -> None:
        """Something could not be modelled: the verdict becomes `incomplete`."""
        text = f"{what} ({self._span})" if self._span is not None else what
        if text not in self.report.unmodelled:
            self.report.unmodelled.append(text)

    def print(self, text: str) -> None:
        """A line of output of the kernel."""
        self.report.output.append(text)

    def regions(self) -> Sequence[Any]:
        """There are no addresses to search."""
        return ()

    def traffic(self, region: Region, *, store: bool) -> None:
        """Count the bytes of a box."""
        if "metrics" not in self._checks:
            return
        place = (self._span.path, self._span.line) if self._span is not None else None
        key = (place, region.name, store)
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = LineMetrics(self._span, region.name, region.scope, store)
            self.report.lines.append(line)
        line.requests += 1
        line.bytes += int(np.prod(region.shape, dtype=np.int64)) * storage_dtype(region.dtype).itemsize
