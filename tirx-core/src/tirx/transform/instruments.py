"""Instruments: what people want to see while passes run.

PassContext(target, instruments=[Timing(), PrintAfter("lower_layout"), VerifyEach()])
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

from ..analysis.verify import check_well_formed
from ..ir import IRModule
from ..support.errors import VerifyError
from .pipeline import Instrument, Pass

__all__ = ["PrintAfter", "PrintBefore", "Timing", "VerifyEach"]

Write = Callable[[str], object]


class Timing(Instrument):
    """Seconds of each pass, in order: `entries` are (name, seconds); `str()` is a table."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, float]] = []
        self._started = 0.0

    def before(self, step: Pass, module: IRModule) -> None:
        """Start the clock."""
        self._started = perf_counter()

    def after(self, step: Pass, module: IRModule) -> None:
        """Note the time."""
        self.entries.append((step.name, perf_counter() - self._started))

    def __str__(self) -> str:
        width = max((len(name) for name, _ in self.entries), default=0)
        lines = [f"{name:<{width}}  {seconds * 1e3:8.3f} ms" for name, seconds in self.entries]
        total = sum(seconds for _, seconds in self.entries)
        return "\n".join([*lines, f"{'together':<{width}}  {total * 1e3:8.3f} ms"])


class _Printer(Instrument):
    """Writes the module around some passes; without names around every pass."""

    def __init__(self, *names: str, write: Write = sys.stdout.write) -> None:
        self.names = names
        self.write = write

    def _print(self, when: str, step: Pass, module: IRModule) -> None:
        if not self.names or step.name in self.names:
            self.write(f"# {when} {step.name}\n{module.script()}\n")


class PrintBefore(_Printer):
    """Writes the module before the named passes (all when none is named)."""

    def before(self, step: Pass, module: IRModule) -> None:
        """Write."""
        self._print("before", step, module)


class PrintAfter(_Printer):
    """Writes the module after the named passes (all when none is named)."""

    def after(self, step: Pass, module: IRModule) -> None:
        """Write."""
        self._print("after", step, module)


class VerifyEach(Instrument):
    """Checks after each pass that definitions, uses and types fit; the error names the pass."""

    def after(self, step: Pass, module: IRModule) -> None:
        """Check."""
        try:
            check_well_formed(module)
        except VerifyError as error:
            first = error.diagnostics[0]
            raise VerifyError(
                f"pass `{step.name}` broke the program: {first.message}",
                span=first.span,
                notes=[item.message for item in error.diagnostics[1:]],
            ) from error
