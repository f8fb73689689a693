"""Running a host function for real: the same interpreter, with the launches given to a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ir import Launch, PrimFunc
from ..support.errors import ArgumentError, TirxError
from .findings import Findings
from .interp import Interpreter
from .report import Report
from .sequential import SequentialContext

__all__ = ["run_host"]


class _HostContext(SequentialContext):
    """On the host a failed check of the kernel's author is an error of the call."""

    launch_error: type[TirxError] = ArgumentError

    def finding(self, kind: str, message: str, where: Any = None, *, buffer: str = "") -> None:
        """Raise `ArgumentError` at the author's line."""
        if where is None or np.any(where):
            raise ArgumentError(message, span=self._span)


def run_host(
    func: PrimFunc,
    environment: Mapping[int, Any],
    launch: Callable[[Launch, Sequence[Any], Sequence[int], Mapping[str, int]], None],
) -> None:
    """Run a host function; `environment` holds its variables by id (pointers as numbers), `launch` runs its kernels.

    Raises `ArgumentError` where an assertion of the function fails.
    """
    report = Report(func.name, ())
    interpreter = Interpreter(_HostContext(report, Findings(report), frozenset(), {}), launch)
    interpreter.values.update(environment)
    with np.errstate(all="ignore"):
        interpreter.run(func.body)
