"""How kernels of a target kind are executed by the simulator."""

from __future__ import annotations

from typing import Any

__all__ = ["Simulator", "check_simulator"]

MODELS = ("simt", "sequential")


class Simulator:
    """A row of hook `tirx_simulators`: target `kind` runs under `model`, `simt` (threads) or `sequential` (one agent).

    `prepare`, when given, is `"module:function"` `(executor) -> None`: the backend's chance to add memories and rules.
    """

    __slots__ = ("kind", "model", "prepare")

    def __init__(self, kind: str, model: str, prepare: str | None = None) -> None:
        self.kind = kind
        self.model = model
        self.prepare = prepare


def check_simulator(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Simulator):
        raise ValueError(f"expected a Simulator, got {type(row).__name__}")
    if row.model not in MODELS:
        raise ValueError(f"simulator of {row.kind}: model {row.model!r} is none of {', '.join(MODELS)}")
