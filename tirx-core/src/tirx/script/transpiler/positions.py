"""Columns on Python 3.10, whose code objects know only lines.

The rewritten tree is compiled with a number per position in place of the line; afterwards the true lines go back into the
code object, and the table of positions is registered with `support.span`.
"""

from __future__ import annotations

import ast
from types import CodeType

from ...support.span import Position as SpanPosition
from ...support.span import register_positions

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost start-up time
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["compile_with_columns"]

Position = tuple[int, int, int, int]


def compile_with_columns(tree: ast.Module | ast.Expression, path: str) -> CodeType:
    """`compile(tree)` such that spans of its frames have columns."""
    table: list[Position] = []
    nodes: dict[int, Any] = {id(node): node for node in ast.walk(tree) if hasattr(node, "lineno")}
    places = {key: (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) for key, node in nodes.items()}
    numbers: dict[Position, int] = {}
    for place in places.values():
        if place not in numbers:
            table.append(place)
            numbers[place] = len(table)
    for key, node in nodes.items():
        node.lineno = node.end_lineno = numbers[places[key]]
    for node in nodes.values():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node.func.end_lineno = node.lineno  # where Python 3.10 places the call of a method
    try:
        code = compile(tree, path, "exec" if isinstance(tree, ast.Module) else "eval", dont_inherit=True)
    finally:
        for key, node in nodes.items():  # parts of the tree are shared with the file's tree
            node.lineno, node.end_lineno = places[key][0], places[key][2]
    return _true_lines(code, table)


def _true_lines(code: CodeType, table: list[Position]) -> CodeType:
    """`code` with real line numbers, it and its nested functions registered."""
    constants = tuple(_true_lines(item, table) if isinstance(item, CodeType) else item for item in code.co_consts)
    ranges = [(start, end, table[number - 1] if number else None) for start, end, number in code.co_lines()]
    first = table[code.co_firstlineno - 1][0] if code.co_firstlineno <= len(table) else code.co_firstlineno
    made = code.replace(
        co_consts=constants,
        co_firstlineno=first,
        co_linetable=bytes(_encode([(start, end, place and place[0]) for start, end, place in ranges], first)),
    )
    register_positions(made, _per_instruction(ranges))
    return made


def _per_instruction(ranges: list[tuple[int, int, Position | None]]) -> list[SpanPosition]:
    found: list[SpanPosition] = []
    for start, end, place in ranges:
        entry: SpanPosition = (None, None, None, None) if place is None else (place[0], place[2], place[1], place[3])
        found += [entry] * ((end - start) // 2)
    return found


def _encode(ranges: list[tuple[int, int, int | None]], first: int) -> Iterator[int]:
    """The line table of Python 3.10: pairs of (bytes covered, change of line), -128 for instructions without a line."""
    line = first
    for start, end, number in ranges:
        size = end - start
        delta = 0 if number is None else number - line
        while not -127 <= delta <= 127:
            step = 127 if delta > 0 else -127
            yield from (0, step & 0xFF)
            delta -= step
        while size > 254:
            yield from (254, 0x80 if number is None else delta & 0xFF)
            size, delta = size - 254, 0
        yield from (size, 0x80 if number is None else delta & 0xFF)
        line = line if number is None else number
