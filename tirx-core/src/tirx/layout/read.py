"""Layouts from text as people write and print them, without running it as Python.

    S[(8, 2, 4, 2):(4@laneid, 1@warpid, 1@laneid, 1)] + R[2:4@warpid]
    ComposeLayout(3, 3, 3, S[(8, 64):(64, 1)]).tile_to((64, 64), (8, 64))

What is understood: `S`, `R`, axes, whole numbers and their arithmetic, tuples, words in quotes, the layout classes, the named
constructors of backends, and operations on layouts that give layouts. Anything else is an error at its place in the text.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable
from typing import Any

from ..backend import find, hint_for, names
from ..ir import Layout
from ..support.errors import LayoutError
from ..support.late import load_object
from ..support.span import Span, pin
from ..support.suggest import did_you_mean
from .compose import ComposeLayout
from .names import axis_named
from .syntax import AxisNames, AxisTerm, BoundAxis, LayoutSpec, R, S
from .tile import TileLayout

__all__ = ["read_layout"]

_CLASSES: dict[str, Any] = {"TileLayout": TileLayout, "ComposeLayout": ComposeLayout}
_METHODS = (
    "broadcast", "canonicalize", "direct_sum", "pack", "permute_dims", "slice", "storage", "tile", "tile_to", "unpack",
)  # fmt: skip
_MODULES = ("T", "Tx")  # printed layouts name them
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
}
_LARGEST = 1 << 63


def read_layout(text: str, name: str = "<layout>") -> Layout:
    """The layout that `text` describes; `LayoutError` at its place in the text, which messages call `name`."""
    text = text.strip()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    reader = _Reader(name)
    tree = _parsed(text, name)
    return reader.layout(tree)


def _parsed(text: str, name: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        line = text.splitlines()[(error.lineno or 1) - 1] if text else ""
        start = len(line[: max((error.offset or 1) - 1, 0)].encode())
        span = Span(name, error.lineno or 1, start, error.lineno or 1, start + 1)
        raise LayoutError(f"this is no layout: {error.msg}", span=span, hint=_EXAMPLE) from None
    except (ValueError, RecursionError, MemoryError):
        raise LayoutError("this is no layout that can be read", span=Span(name, 1), hint=_EXAMPLE) from None


_EXAMPLE = "write one like S[(8, 4):(4, 1)]"


class _Reader:
    """Values of the nodes of one text."""

    def __init__(self, name: str) -> None:
        self.name = name

    def layout(self, node: ast.expr) -> Layout:
        """The layout that a whole text or an operand is."""
        value = self.value(node)
        if isinstance(value, LayoutSpec):
            unpin = pin(self._span(node))
            try:
                value = self._called(node, TileLayout, (value,), {})
            finally:
                unpin()
        if not isinstance(value, Layout):
            raise self._fault(node, f"{_kind(value)} is no layout", _EXAMPLE)
        return value

    def value(self, node: ast.expr) -> Any:
        """What a node stands for; `LayoutError` when it is nothing that layouts are made of."""
        rule = _RULES.get(type(node))
        if rule is None:
            raise self._fault(node, "this is not part of the language of layouts", _EXAMPLE)
        unpin = pin(self._span(node))  # what is wrong with a part is wrong here, not where the text was given
        try:
            return rule(self, node)
        except LayoutError as error:
            if error.span is not None and error.span.path == self.name:
                raise
            first = error.diagnostics[0]  # whoever reads the text may be building a kernel: its line is not the place
            raise LayoutError(first.message, span=self._span(node), hint=first.hint, notes=first.notes) from None
        except RecursionError:
            raise LayoutError("this layout is nested too deeply", span=Span(self.name, 1)) from None
        finally:
            unpin()

    def constant(self, node: ast.Constant) -> Any:
        """A number or a word."""
        if isinstance(node.value, int | str) or node.value is None:
            return node.value
        raise self._fault(node, f"{_kind(node.value)} is not part of a layout", "layouts are made of whole numbers")

    def items(self, node: ast.Tuple | ast.List) -> Any:
        """Several values."""
        found = [self.value(item) for item in node.elts]
        return tuple(found) if isinstance(node, ast.Tuple) else found

    def named(self, node: ast.Name) -> Any:
        """`S`, `R`, `Axis`, an axis, a class or a constructor."""
        found = self._known(node.id)
        if found is None:
            hint = hint_for("layout_constructors", node.id) or hint_for("layout_axes", node.id)
            known = [*_LANGUAGE, *names("layout_axes"), *names("layout_constructors")]
            raise self._fault(node, f"there is no axis or layout `{node.id}`", hint or did_you_mean(node.id, known))
        return found

    def _known(self, name: str) -> Any:
        if name in _LANGUAGE:
            return _LANGUAGE[name]
        axis = axis_named(name)
        if axis is not None:
            return BoundAxis(axis)
        row = find("layout_constructors", name)
        return None if row is None else load_object(row.load)

    def attribute(self, node: ast.Attribute) -> Any:
        """`Axis.laneid`, `T.S`."""
        if isinstance(node.value, ast.Name) and node.value.id in _MODULES:
            return self.named(ast.copy_location(ast.Name(node.attr), node))
        owner = self.value(node.value)
        if owner is AxisNames:
            return AxisNames.get(node.attr)
        if isinstance(owner, type) and issubclass(owner, Layout):
            return self._method(node, owner)
        raise self._fault(node, f"`{node.attr}` is not part of the language of layouts", _EXAMPLE)

    def _method(self, node: ast.Attribute, owner: Any) -> Any:
        found = getattr(owner, node.attr, None) if find("layout_constructors", node.attr) is not None else None
        if found is None:
            raise self._fault(node, f"`{node.attr}` is no constructor of layouts", None)
        return found

    def subscript(self, node: ast.Subscript) -> LayoutSpec:
        """`S[...]`, `R[...]`."""
        builder = self.value(node.value)
        if builder is not S and builder is not R:
            raise self._fault(node, "only S and R are followed by brackets", _EXAMPLE)
        made: LayoutSpec = builder[self._key(node.slice)]
        return made

    def _key(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            if node.lower is None or node.upper is None:
                raise self._fault(node, "extents or strides are missing", "write S[extents:strides]")
            return slice(*(None if part is None else self.value(part) for part in parts))
        if isinstance(node, ast.Tuple) and any(isinstance(item, ast.Slice) for item in node.elts):
            return tuple(self._key(item) for item in node.elts)
        return self.value(node)

    def negative(self, node: ast.UnaryOp) -> int:
        """`-4`."""
        value = self.value(node.operand)
        if not isinstance(node.op, ast.USub) or not _is_number(value):
            raise self._fault(node, "only numbers have a sign", None)
        return -int(value)

    def binary(self, node: ast.BinOp) -> Any:
        """Sums of a layout's parts, strides on axes, arithmetic of numbers."""
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.MatMult):
            if not (_is_number(left) and isinstance(right, BoundAxis)):
                raise self._fault(node, "a stride is a number @ an axis", "write 4@laneid")
            return left @ right
        rule = _ARITHMETIC.get(type(node.op))
        numbers = _is_number(left) and _is_number(right)
        parts = isinstance(node.op, ast.Add) and all(_is_part(value) for value in (left, right))
        if rule is None or not (numbers or parts):
            raise self._fault(node, f"{_kind(left)} and {_kind(right)} do not go together here", _EXAMPLE)
        return self._computed(node, rule, left, right)

    def _computed(self, node: ast.expr, rule: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        try:
            value = rule(left, right)
        except ZeroDivisionError:
            raise self._fault(node, "division by zero", None) from None
        if isinstance(value, int) and abs(value) >= _LARGEST:
            raise self._fault(node, f"{value} does not fit into 64 bits", None)
        return value

    def call(self, node: ast.Call) -> Any:
        """A class, a constructor or an operation on a layout."""
        starred = next((item for item in node.args if isinstance(item, ast.Starred)), None)
        if starred is not None or any(word.arg is None for word in node.keywords):
            raise self._fault(starred or node, "arguments are written one by one", None)
        function = self._function(node.func)
        arguments = tuple(self._argument(item) for item in node.args)
        words = {str(word.arg): self._argument(word.value) for word in node.keywords}
        made = self._called(node, function, arguments, words)
        if made is None:
            raise self._fault(node, "the result can not be written as a layout", None)
        return made

    def _function(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Attribute) and not _names_module(node.value):
            owner = self.value(node.value)
            if owner is not AxisNames and not isinstance(owner, type):
                return self._operation(node, self.layout(node.value))
        function = self.value(node)
        if not callable(function):
            raise self._fault(node, f"{_kind(function)} can not be called", None)
        return function

    def _operation(self, node: ast.Attribute, layout: Layout) -> Any:
        row = find("layout_constructors", node.attr)
        found = getattr(layout, node.attr, None) if node.attr in _METHODS or row is not None else None
        if found is None:
            hint = did_you_mean(node.attr, _METHODS) or f"there are {', '.join(_METHODS)}"
            raise self._fault(node, f"there is no operation `{node.attr}` that gives a layout", hint)
        return found

    def _argument(self, node: ast.expr) -> Any:
        value = self.value(node)
        return self._called(node, TileLayout, (value,), {}) if isinstance(value, LayoutSpec) else value

    def _called(self, node: ast.expr, function: Any, arguments: tuple[Any, ...], words: dict[str, Any]) -> Any:
        if arguments and function is TileLayout and isinstance(arguments[0], TileLayout):
            return arguments[0]  # the spec in it was made a layout already
        name = getattr(function, "__name__", "this")
        try:
            inspect.signature(function).bind(*arguments, **words)
        except TypeError as error:
            raise self._fault(node, f"wrong arguments: {error}", f"it is {name}{_plain_signature(function)}") from None
        try:
            return function(*arguments, **words)
        except (TypeError, ValueError) as error:
            raise self._fault(node, f"`{name}` does not take these arguments: {error}", None) from None

    def _fault(self, node: ast.AST, message: str, hint: str | None) -> LayoutError:
        return LayoutError(message, span=self._span(node), hint=hint)

    def _span(self, node: ast.AST) -> Span:
        at = {name: getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
        return Span(self.name, at["lineno"] or 1, at["col_offset"], at["end_lineno"], at["end_col_offset"])


_RULES: dict[type[ast.expr], Callable[[_Reader, Any], Any]] = {
    ast.Constant: _Reader.constant,
    ast.Tuple: _Reader.items,
    ast.List: _Reader.items,
    ast.Name: _Reader.named,
    ast.Attribute: _Reader.attribute,
    ast.Subscript: _Reader.subscript,
    ast.UnaryOp: _Reader.negative,
    ast.BinOp: _Reader.binary,
    ast.Call: _Reader.call,
}
_LANGUAGE: dict[str, Any] = {"S": S, "R": R, "Axis": AxisNames, **_CLASSES}


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_part(value: Any) -> bool:
    return _is_number(value) or isinstance(value, LayoutSpec | AxisTerm)


def _plain_signature(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters without their types."""
    signature = inspect.signature(function)
    bare = [item.replace(annotation=inspect.Parameter.empty) for item in signature.parameters.values()]
    return signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)


def _names_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _MODULES


def _kind(value: Any) -> str:
    """What a value is, in the words of layouts."""
    if value is S or value is R:
        return f"`{value!r}` without brackets"
    if isinstance(value, BoundAxis):
        return f"the axis {value.name}"
    if isinstance(value, AxisTerm):
        return f"{value.amount}@{value.axis}"
    if isinstance(value, LayoutSpec):
        return "a layout's part"
    if isinstance(value, Layout):
        return "a layout"
    return f"`{value!r}`" if isinstance(value, int | float | str | bytes | None) else f"a {type(value).__name__}"
