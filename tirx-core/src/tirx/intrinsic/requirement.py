"""What a target must have for something to exist on it."""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Requirement"]


class Requirement:
    """A condition on a target: `holds(target)`; `text` completes "needs ...": `generation 3 or newer`.

    `available` lists what has it (architectures, generations), for messages and documentation.
    """

    __slots__ = ("available", "holds", "text")

    def __init__(self, text: str, holds: Callable[[Any], bool], available: tuple[str, ...] = ()) -> None:
        self.text = text
        self.holds = holds
        self.available = available
