"""Errors of wrong arguments, and the checks that several constructors share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirx.ir import current_span
from tirx.layout import Iter, TileLayout
from tirx.support.errors import LayoutError

__all__ = ["fault", "one_of", "positive", "tile"]


def fault(message: str, hint: str | None = None) -> LayoutError:
    """The error to raise."""
    return LayoutError(message, span=current_span(), hint=hint)


def one_of(what: str, value: Any, accepted: Sequence[Any]) -> None:
    """Refuse a value that is none of the accepted ones, naming them."""
    if value not in accepted:
        raise fault(f"{what} is {value!r}", f"it is one of {', '.join(map(str, accepted))}")


def positive(what: str, value: Any, multiple: int = 1) -> int:
    """A constant above zero that is divisible by `multiple`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise fault(f"{what} is {value!r}", "it is a constant above zero")
    if value % multiple:
        raise fault(f"{what} is {value}", f"it is a multiple of {multiple}")
    return value


def tile(*iters: tuple[int, int, str], replica: Sequence[tuple[int, int, str]] = (), **offset: int) -> TileLayout:
    """A layout of (extent, stride, axis), without iters of extent 1 where others are left."""
    kept = [item for item in iters if item[0] != 1] or list(iters[:1])
    return TileLayout.from_iters([Iter(*item) for item in kept], [Iter(*item) for item in replica], offset)
