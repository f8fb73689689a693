"""How a call is written in the language."""

from __future__ import annotations

from ..ir import TileCall

__all__ = ["call_name", "namespace"]


def namespace(scope: str | None) -> str:
    """Where the functions of a scope are: `tile` for each thread by itself."""
    return "tile" if scope in (None, "thread") else str(scope)


def call_name(call: TileCall) -> str:
    """The function of the language that a call is a call of: `Tx.warp.copy`."""
    return f"Tx.{namespace(call.scope)}.{call.op.name}"
