"""One line of a table: what was measured, beside what, and the goal it is held to."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Row", "beside", "within"]

_NOTHING = float("nan")  # where a peer is not installed


class Row(NamedTuple):
    """Milliseconds of ours and of what stands beside it, the goal in words, and whether it is met (None: it cannot be said)."""

    what: str
    ours: float
    peer: float = _NOTHING
    goal: str = ""
    met: bool | None = None

    @property
    def ratio(self) -> float:
        """Ours in units of the peer's."""
        return self.ours / self.peer


def within(what: str, ours: float, budget: float, peer: float = _NOTHING) -> Row:
    """A figure that has a budget of its own, in milliseconds."""
    return Row(what, ours, peer, f"under {budget:g} ms", ours < budget)


def beside(what: str, ours: float, peer: float, at_most: float | None = None) -> Row:
    """A figure that is read as a ratio, of which it may be at most so much."""
    if at_most is None:
        return Row(what, ours, peer)
    return Row(what, ours, peer, f"ratio at most {at_most:g}", ours / peer <= at_most if peer == peer else None)
