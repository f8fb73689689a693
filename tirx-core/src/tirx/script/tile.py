"""Tile operations: `Tx.tile.<op>` for each thread by itself, `Tx.<scope>.<op>` and `Tx.tile.<scope>.<op>` for a scope together.

The functions are made from rows of hook `tirx_tile_ops`: core's own, and those of backends, which are loaded when asked for.
"""

from __future__ import annotations

import sys

from .. import backend
from ..ir import emit
from ..ir.tiles import namespace
from ..support.elsewhere import advice
from ..support.suggest import did_you_mean
from ..tile import ALIASES, SCOPES, TileOp, tile_call
from ..tile.ops import ALL
from ..tile.text import description, signature
from .builder.state import builder
from .errors import UnknownNameError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect import Signature
    from typing import Any

    from .tile_functions import *  # noqa: F403 - what `__getattr__` below answers, with its types
    from .tile_functions import TileFunctions
else:
    TileFunctions = object

__all__ = ["TileFunction", "TileScope", "cluster", "cta", "thread", "warp", "warpgroup", "wg"]

_CORE = {row.name: row for row in ALL}


class TileFunction:
    """The function of the language for one operation and scope: `Tx.warp.copy(dst, src, dispatch=...)`."""

    __slots__ = ("row", "scope")

    def __init__(self, row: TileOp, scope: str | None) -> None:
        self.row = row
        self.scope = scope

    def __call__(self, *args: Any, **keywords: Any) -> None:
        """Put the call into the kernel that is being built."""
        builder(f"Tx.{namespace(self.scope)}.{self.row.name}")
        emit(tile_call(self.row, self.scope, args, keywords))

    @property
    def name(self) -> str:
        """Name of the operation."""
        return self.row.name

    @property
    def __name__(self) -> str:
        return self.row.name

    @property
    def __doc__(self) -> str:  # type: ignore[override]  # each function has its own
        return description(self.row)

    @property
    def __signature__(self) -> Signature:
        return signature(self.row)

    def __repr__(self) -> str:
        return f"<tile operation Tx.{namespace(self.scope)}.{self.row.name}>"


class TileScope(TileFunctions):
    """`Tx.<scope>`: the tile operations, done by the threads of one member of the scope together."""

    __slots__ = ("scope",)

    def __init__(self, scope: str) -> None:
        self.scope = scope

    def __getattr__(self, name: str) -> TileFunction:
        return TileFunction(_row(name, self), self.scope)

    def __dir__(self) -> list[str]:
        return sorted(_CORE)

    def __repr__(self) -> str:
        return f"<tile operations of a {ALIASES.get(self.scope, self.scope)}>"


thread, warp, warpgroup, cta, cluster = map(TileScope, SCOPES)
wg = TileScope("wg")


def _row(name: str, where: Any) -> TileOp:
    """The operation of that name; loads the backend that offers it."""
    if name in _CORE:
        return _CORE[name]
    if name.startswith("_"):
        raise AttributeError(f"{where!r} has no attribute {name!r}")
    found: TileOp | None = backend.find("tile_ops", name)
    if found is None:
        hint = (
            backend.hint_for("tile_ops", name, alike=False)
            or advice("tile", name)
            or did_you_mean(name, _CORE)
            or f"the operations are {', '.join(sorted(_CORE))}"
        )
        raise UnknownNameError(f"there is no tile operation `{name}`", name=name, obj=where, hint=hint)
    return found


def names_of_operations() -> frozenset[str]:
    """The tile operations of core."""
    return frozenset(_CORE)


def __getattr__(name: str) -> TileFunction:
    return TileFunction(_row(name, sys.modules[__name__]), None)


def __dir__() -> list[str]:
    return sorted({*_CORE, *SCOPES, *ALIASES})
