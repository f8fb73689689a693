"""Plain keywords that several operations have."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir import BufferRegion, Expr
from ...support.errors import ScriptError
from ...support.suggest import did_you_mean
from ..row import TileAttr

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["BINARY", "REDUCE", "UNARY", "axes", "operator"]

BINARY = {name: name for name in ("add", "sub", "mul", "fdiv", "maximum", "minimum")} | {
    "max": "maximum", "min": "minimum", "div": "fdiv", "subtract": "sub", "multiply": "mul",
}  # fmt: skip
UNARY = {name: name for name in ("sqrt", "exp", "exp2", "log2", "reciprocal", "silu")}
REDUCE = {"sum": "sum", "max": "max", "min": "min", "add": "sum", "maximum": "max", "minimum": "min"}


def axes(of: str, name: str = "axes") -> TileAttr:
    """Axes of the tile `of`: one or several, counted from the end where negative; kept sorted and not negative."""

    def convert(value: Any, operands: Mapping[str, Expr]) -> tuple[int, ...]:
        items = tuple(value) if isinstance(value, list | tuple) else (value,)
        tile = operands[of]
        assert isinstance(tile, BufferRegion)
        rank = len(tile.extents)
        if not items or not all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            raise ScriptError(f"{value!r}", hint="it takes an int, or a tuple of several")
        for item in items:
            if not -rank <= item < rank:
                raise ScriptError(
                    f"{value!r}, and `{of}` has {rank} dimension{'s' if rank != 1 else ''}",
                    hint=f"axes are {-rank} to {rank - 1}",
                )
        found = sorted({item % rank for item in items})
        if len(found) != len(items):
            raise ScriptError(f"{value!r}, which names an axis twice", hint="name each axis once")
        return tuple(found)

    return TileAttr(name, (int, tuple), -1, f"axes of `{of}` that are reduced", convert)


def operator(name: str, known: Mapping[str, str], doc: str) -> TileAttr:
    """An operation by name, or as a function of the language."""

    def convert(value: Any, operands: Mapping[str, Expr]) -> str:
        text = value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", None)
        if not isinstance(text, str):
            raise ScriptError(f"{value!r}", hint=f"it names an operation: {', '.join(dict.fromkeys(known.values()))}")
        short = text.rpartition(".")[2]
        if short not in known:
            hint = did_you_mean(short, known) or f"it is one of {', '.join(dict.fromkeys(known.values()))}"
            raise ScriptError(f"{text!r}", hint=hint)
        return known[short]

    return TileAttr(name, str, doc=doc, convert=convert)
