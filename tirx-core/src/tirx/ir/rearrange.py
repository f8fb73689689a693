"""The pattern language of `Buffer.rearrange`: `"a (b c) -> c a b"`."""

from __future__ import annotations

from collections.abc import Sequence

from ..support.errors import ScriptError
from .context import current_span

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Plan", "parse_pattern"]


class Plan:
    """How to rearrange: shape after splitting, order of the parts, shape after merging."""

    __slots__ = ("merged", "order", "split")

    def __init__(self, split: tuple[Any, ...], order: tuple[int, ...], merged: tuple[Any, ...]) -> None:
        self.split = split
        self.order = order
        self.merged = merged


def parse_pattern(pattern: str, shape: Sequence[Any], sizes: dict[str, int]) -> Plan:
    """The plan for `pattern` on `shape`; `sizes` gives the extents of names that the shape leaves open."""
    left, arrow, right = pattern.partition("->")
    if not arrow:
        _refuse(f"`{pattern}` has no ->", 'write for example "a (b c) -> c a b"')
    source, target = _groups(left, pattern), _groups(right, pattern)
    if len(source) != len(shape):
        _refuse(f"`{left.strip()}` names {len(source)} dimensions, the buffer has {len(shape)}", None)
    extents: dict[str, Any] = {}
    for group, extent in zip(source, shape, strict=True):
        extents.update(_sizes(group, extent, sizes))
    names = [name for group in source for name in group]
    wanted = [name for group in target for name in group]
    if sorted(names) != sorted(wanted):
        _refuse(f"both sides of `{pattern}` must have the same names", None)
    order = tuple(names.index(name) for name in wanted)
    merged = tuple(_product([extents[name] for name in group]) for group in target)
    return Plan(tuple(extents[name] for name in names), order, merged)


def _groups(text: str, pattern: str) -> list[list[str]]:
    groups: list[list[str]] = []
    inside = False
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(" and not inside:
            groups.append([])
            inside = True
        elif word == ")" and inside:
            inside = False
        elif word.isidentifier() and inside:
            groups[-1].append(word)
        elif word.isidentifier():
            groups.append([word])
        else:
            _refuse(f"`{word}` does not belong in the pattern `{pattern}`", "use names and one level of parentheses")
    names = [name for group in groups for name in group]
    if inside or len(set(names)) != len(names):
        _refuse(f"`{text.strip()}` has an open parenthesis or a name twice", None)
    return groups


def _sizes(group: list[str], extent: Any, sizes: dict[str, int]) -> dict[str, Any]:
    open_names = [name for name in group if name not in sizes]
    known = _product([sizes[name] for name in group if name in sizes])
    found: dict[str, Any] = {name: sizes[name] for name in group if name in sizes}
    if len(open_names) > 1:
        _refuse(f"the sizes of {', '.join(open_names)} are not known", f"give all but one, e.g. {open_names[0]}=4")
    if open_names:
        if isinstance(extent, int) and extent % known:
            _refuse(f"{extent} does not split by {known}", None)
        found[open_names[0]] = extent // known if known != 1 else extent
    elif isinstance(extent, int) and known != extent:
        _refuse(f"sizes of ({' '.join(group)}) multiply to {known}, the dimension is {extent}", None)
    return found


def _product(values: Sequence[Any]) -> Any:
    total: Any = 1
    for value in values:
        total = value if isinstance(total, int) and total == 1 else total * value
    return total


def _refuse(message: str, hint: str | None) -> None:
    raise ScriptError(message, span=current_span(), hint=hint)
