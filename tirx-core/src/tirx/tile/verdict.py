"""What a predicate says of a call: it fits, or not and why, with the values that were measured."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["Declined", "Verdict", "accept", "decline"]


class Verdict:
    """`fits`, the `reason` when it does not, and `measured`: the values behind it, by name."""

    __slots__ = ("fits", "measured", "reason")

    def __init__(self, fits: bool, reason: str = "", measured: dict[str, Any] | None = None) -> None:
        self.fits = fits
        self.reason = reason
        self.measured = dict(measured or {})

    def __bool__(self) -> bool:
        return self.fits

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.measured.items())
        text = self.reason or ("fits" if self.fits else "does not fit")
        return f"{text} ({values})" if values else text

    def __repr__(self) -> str:
        return f"Verdict({self.fits}, {str(self)!r})"


class Declined(Exception):  # noqa: N818 - an answer, not an error
    """Raised by `decline`; dispatch takes the verdict and goes on to the next variant."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(str(verdict))
        self.verdict = verdict


def accept(**measured: Any) -> Verdict:
    """The call fits; `measured` says by which values."""
    return Verdict(True, "", measured)


def decline(reason: str, **measured: Any) -> NoReturn:
    """Refuse a call from a predicate or an `emit`: `decline("vectors must be aligned", bytes=8, wanted=16)`."""
    raise Declined(Verdict(False, reason, measured))
