"""What the IR needs to know of a layout; the algebra lives in `tirx.layout`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

    from .expr import Expr

__all__ = ["DEFAULT_LAYOUT", "DefaultLayout", "Layout"]


class Layout:
    """Maps a logical coordinate to a position on named axes. Hashable value; equality is structural."""

    __slots__ = ()

    def physical(self, coord: tuple[Any, ...], shape: tuple[Any, ...]) -> dict[str, Expr | int]:
        """Position per axis of the element at `coord` of a buffer of `shape` (replica 0)."""
        raise TypeError(f"{type(self).__name__} must define physical()")

    def is_trivial(self) -> bool:
        """Row-major, contiguous, no offset."""
        raise TypeError(f"{type(self).__name__} must define is_trivial()")

    def mapped(self, change: Callable[[Expr], Expr]) -> Layout:
        """The layout with `change` applied to its symbolic parts; itself when nothing changes."""
        raise TypeError(f"{type(self).__name__} must define mapped()")

    def storage(self) -> Layout:
        """What one thread holds of a layout that spreads over several."""
        raise TypeError(f"{type(self).__name__} must define storage()")

    def text(self, number: Callable[[Any], str], prefix: str = "") -> str:
        """The layout as it is written: its numbers by `number`, the language's names behind `prefix`."""
        raise TypeError(f"{type(self).__name__} must define text()")

    def parts(self) -> tuple[Any, ...]:
        """Everything that tells the layout from others of its class: numbers, words, and tuples of them."""
        raise TypeError(f"{type(self).__name__} must define parts()")

    def group(self, shape: Sequence[Any]) -> tuple[Any, list[int]]:
        """The layout lined up with `shape`, and where each dimension's iters begin."""
        raise TypeError(f"{type(self).__name__} must define group()")


class DefaultLayout:
    """The layout that follows from the shape: row-major."""

    def __repr__(self) -> str:
        return '"default"'


DEFAULT_LAYOUT = DefaultLayout()
