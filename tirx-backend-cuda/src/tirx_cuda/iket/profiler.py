"""Annotations for kernels, and compilation that makes events of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tirx
from tirx.ir import Call, IRModule, PrimFunc
from tirx.runtime import Executable
from tirx.support.errors import ArgumentError
from tirx.target import Target
from tirx.transform.pipeline import Instrument

from ..iket_events import enabled
from ..namespaces import iket

__all__ = ["IketProfiler"]


class IketProfiler:
    """The annotations of `Tx.cuda.iket` as methods, and `compile`, which makes events of them."""

    __slots__ = ()

    def mark(self, name: str, payload: Any = None) -> Call:
        """A point in time."""
        return iket.mark(name, payload)

    def range_start(self, name: str, payload: Any = None) -> Call:
        """A range begins; the result is the token that `range_end` takes."""
        return iket.range_start(name, payload)

    def range_end(self, token: Any, payload: Any = None) -> Call:
        """The range of a token ends."""
        return iket.range_end(token, payload)

    def range_push(self, name: str, payload: Any = None) -> Call:
        """A range begins that the next `range_pop` ends."""
        return iket.range_push(name, payload)

    def range_pop(self) -> Call:
        """The innermost pushed range ends."""
        return iket.range_pop()

    def sentinel_token(self, name: str) -> Call:
        """A token of no range."""
        return iket.sentinel_token(name)

    def compile(
        self,
        mod: PrimFunc | IRModule,
        target: Target | str | Mapping[str, Any] | None = None,
        *,
        tir_pipeline: str = "tirx",
        config: Mapping[str, Any] | None = None,
        instruments: Sequence[Instrument] = (),
        extensions: Iterable[str] = (),
    ) -> Executable:
        """`tirx.compile`, with the annotations as events that the profiler's tool finds; there is one pipeline, `tirx`."""
        if tir_pipeline != "tirx":
            raise ArgumentError(f"there is no pipeline `{tir_pipeline}`", hint="leave tir_pipeline out, or give 'tirx'")
        with enabled():
            made = tirx.compile(mod, target, config=config, instruments=instruments, extensions=extensions)
            _ = made.source  # written now, while annotations count
        return made
