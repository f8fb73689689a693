"""Rows of tile operations and of the variants that implement them on a target kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["TileOp", "Variant", "check_tile_op", "check_variant"]


class TileOp:
    """A row of hook `tirx_tile_ops`: a named operation on tiles with its operand names.

    `meaning` is `"module:function"`, called with one NumPy array per operand.
    """

    __slots__ = ("doc", "meaning", "name", "operands")

    def __init__(self, name: str, operands: Sequence[str], meaning: str, *, doc: str) -> None:
        self.name = name
        self.operands = tuple(operands)
        self.meaning = meaning
        self.doc = doc


class Variant:
    """A row of hook `tirx_dispatch_variants`: one way to run `operation` on target `kind`.

    Candidates are tried by falling `priority`, then owner, then `name`. `predicates` answer for a call whether the variant
    fits, `config` declares its keys with defaults, `emit(call, context)` appends statements to the active builder.
    """

    __slots__ = ("config", "emit", "kind", "name", "operation", "predicates", "priority")

    def __init__(
        self,
        operation: str,
        kind: str,
        name: str,
        *,
        emit: Callable[[Any, Any], None],
        priority: int = 0,
        predicates: Sequence[Callable[[Any, Any], Any]] = (),
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self.operation = operation
        self.kind = kind
        self.name = name
        self.emit = emit
        self.priority = priority
        self.predicates = tuple(predicates)
        self.config = dict(config or {})


def check_tile_op(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, TileOp):
        raise ValueError(f"expected a TileOp, got {type(row).__name__}")
    if ":" not in row.meaning:
        raise ValueError(f"tile operation {row.name}: meaning {row.meaning!r} is not 'module:function'")


def check_variant(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Variant):
        raise ValueError(f"expected a Variant, got {type(row).__name__}")
    if not callable(row.emit):
        raise ValueError(f"variant {row.name} of {row.operation}: emit is not callable")
