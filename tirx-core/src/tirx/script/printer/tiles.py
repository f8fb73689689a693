"""Tile calls as text: `T.warp.add(dst[0:16, 0:8], a[0:16, 0:8], 1.0, dispatch="reg", k=v)`."""

from __future__ import annotations

from ...ir import BOOL, BufferRegion, Expr, IndexFunction, IntImm, TileCall, Tuple
from ...ir.tiles import namespace
from ...tile import SCOPES, TileOp, tile_op
from .literals import is_number, number, plain_data, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ...ir import DType
    from .statements import StatementPrinter

__all__ = ["tile_text"]


def tile_text(printer: StatementPrinter, call: TileCall) -> str:
    """The call; operands come first by position, everything behind the first that is left out by name."""
    row = tile_op(call)
    known = call.scope in SCOPES
    parts = list(_operands(printer, call, row))
    parts += _table("workspace", printer, call)
    parts += [f"dispatch={quoted(call.dispatch)}"] if call.dispatch is not None else []
    parts += [] if known else [f"scope={quoted(call.scope)}"]
    config = zip(call.config_names, call.config, strict=True)
    parts += [f"{name}={_text(printer, value)}" for name, value in config]
    return f"T.{namespace(call.scope) if known else 'tile'}.{row.name}({', '.join(parts)})"


def _operands(printer: StatementPrinter, call: TileCall, row: TileOp) -> Iterator[str]:
    given, attrs = dict(zip(call.names, call.args, strict=True)), {item.name: item for item in row.attrs}
    types = {item.name: item.dtype for item in row.operands}
    by_name = False
    for name in row.form:
        if name not in given:
            by_name = True
            if name in attrs and not _is_default(attrs[name], call, given):
                yield f"{name}={_attr(call.attr(name))}"
            continue
        text = _operand(printer, given[name], _number_type(call, types[name]))
        yield f"{name}={text}" if by_name else text


def _is_default(attr: Any, call: TileCall, given: dict[str, Expr]) -> bool:
    """Whether leaving the keyword out gives the value that the call has."""
    if attr.default is attr.REQUIRED:
        return False
    value = attr.default if attr.convert is None else attr.convert(attr.default, given)
    return type(value) is type(call.attr(attr.name)) and bool(value == call.attr(attr.name))


def _attr(value: Any) -> str:
    return str(value[0]) if isinstance(value, tuple) and len(value) == 1 else plain_data(value)


def _number_type(call: TileCall, declared: str) -> DType | None:
    """The type that a Python number takes as an operand of the call."""
    if declared:
        return BOOL
    written = next(item.name for item in tile_op(call).operands if "w" in item.rw)
    found = call.operand(written)
    return found.dtype.element if found is not None else None


def _operand(printer: StatementPrinter, value: Expr, kind: DType | None) -> str:
    if is_number(value) and value.dtype is kind and kind is not BOOL:
        return number(value, kind)
    return _text(printer, value)


def _text(printer: StatementPrinter, value: Expr) -> str:
    rule = _RULES.get(type(value))
    return rule(printer, value) if rule is not None else printer.text(value)


def _region(printer: StatementPrinter, region: BufferRegion) -> str:
    """A region with at least one slice: without any it would be an element."""
    texts: list[str] = []
    is_element = all(map(_is_one, region.extents))
    for start, extent in zip(region.starts, region.extents, strict=True):
        if _is_one(extent) and (texts or not is_element):
            texts.append(printer.text(start))
            continue
        stop = extent if isinstance(start, IntImm) and start.value == 0 else start + extent
        texts.append(f"{printer.text(start)}:{printer.text(stop)}")
    return f"{printer.name(region.buffer)}[{', '.join(texts)}]"


def _is_one(extent: Expr) -> bool:
    return isinstance(extent, IntImm) and extent.value == 1


def _function(printer: StatementPrinter, function: IndexFunction) -> str:
    printer.names.enter()
    names = ", ".join(printer.names.define(var) for var in function.vars)
    text = printer.text(function.body)
    printer.names.leave()
    return f"lambda {names}: {text}"


def _list(printer: StatementPrinter, items: Tuple) -> str:
    return f"[{', '.join(_text(printer, item) for item in items.items)}]"


def _constant(printer: StatementPrinter, value: IntImm) -> str:
    return str(bool(value.value)) if value.dtype is BOOL else printer.text(value)


def _table(keyword: str, printer: StatementPrinter, call: TileCall) -> list[str]:
    items = zip(call.workspace_names, call.workspace, strict=True)
    pairs = ", ".join(f"{quoted(name)}: {_text(printer, item)}" for name, item in items)
    return [f"{keyword}={{{pairs}}}"] if pairs else []


_RULES: dict[type[Expr], Callable[[StatementPrinter, Any], str]] = {
    BufferRegion: _region, IndexFunction: _function, Tuple: _list, IntImm: _constant,
}  # fmt: skip
