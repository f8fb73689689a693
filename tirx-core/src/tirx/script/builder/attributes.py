"""Attributes over a block, and hints."""

from __future__ import annotations

from ...ir import Attr, Expr, Stmt, StringImm, Tuple, as_expr, current_span
from .state import Frame, builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["AttrFrame", "attr", "hint"]


class AttrFrame(Frame):
    """Attributes of the statements inside; as a statement of its own, of the rest of the block."""

    __slots__ = ("keys",)

    def __init__(self, pairs: Sequence[tuple[str, Expr]], what: str = "attr()") -> None:
        super().__init__(what, [value for _, value in pairs])
        self.keys = tuple(key for key, _ in pairs)

    def has(self, key: str) -> bool:
        """Whether `key` is among the attributes."""
        return key in self.keys

    def build(self, body: Stmt) -> Stmt:
        """The attributes around `body`, the first outermost."""
        for key, value in reversed(list(zip(self.keys, self.exprs, strict=True))):
            body = Attr(key, value, body, span=self.span)
        return body


def attr(*args: Any) -> AttrFrame:
    """`attr({key: value, ...})`, `attr(key, value)` or `attr(node, key, value)`: attributes of a body or the rest of the block."""
    owner = builder("attr()")
    if len(args) == 1 and isinstance(args[0], dict):
        pairs = list(args[0].items())
    elif len(args) in (2, 3):
        pairs = [tuple(args[-2:])]
    else:
        refuse("attr() takes a dictionary, or a key and a value", 'e.g. with Tx.attr({"tirx.max_registers": 128}): ...')
    for key, _ in pairs:
        if not isinstance(key, str):
            refuse(f"the key of an attribute is text, not {type(key).__name__}", 'e.g. Tx.attr({"key": 1})')
    frame = AttrFrame([(key, _value(value)) for key, value in pairs])
    owner.open_rest(frame)
    return frame


def hint(message: str = "", **attrs: Any) -> AttrFrame:
    """A note in the program without meaning to the compiler: text, and keywords."""
    owner = builder("hint()")
    items = [StringImm(message, span=current_span())]
    items += [Tuple((StringImm(key), _value(value))) for key, value in attrs.items()]  # type: ignore[misc]
    frame = AttrFrame([("tirx.hint", Tuple(tuple(items)))], "hint()")
    owner.open_rest(frame)
    return frame


def _value(value: Any) -> Expr:
    """Lists become tuples, everything else a constant or expression."""
    if isinstance(value, list | tuple):
        return Tuple(tuple(_value(item) for item in value))
    return as_expr(value)
