"""Functions that are expanded where they are called: `@Tx.inline` and the older `@Tx.macro`."""

from __future__ import annotations

import sys
from types import CellType, FunctionType, MethodType

from ..ir import active_builder
from ..support.errors import ScriptError
from ..support.span import here, is_internal
from .source import Definition, find_definition, is_set
from .transpiler.check import check_syntax
from .transpiler.function import rewrite_function
from .transpiler.runtime import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Inline"]

DEEPEST = 64
"""Expansions of one function inside each other; a kernel that needs more is recursive without an end."""


class Inline:
    """A function of kernel code. Calling it in a kernel builds its body there; it may return any value.

    Free names are looked up when it is called: local, enclosing, global, builtin, as in Python. `hygienic`: as they were when
    it was defined; not `hygienic`: in the caller first.
    """

    def __init__(self, function: FunctionType, *, hygienic: bool | None = None) -> None:
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self._definition: Definition = find_definition(function)
        check_syntax(self._definition, "inline")
        self._hygienic = hygienic
        self._depth = 0
        self._ready: FunctionType | None = None
        if hygienic:
            self._ready = self._bound(_snapshot(function))

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Build the body here; what it returns."""
        if active_builder() is None:
            raise ScriptError(
                f"the inline function `{self.__name__}` is called outside a kernel", span=here(1),
                hint="it is expanded where a kernel calls it; plain Python needs no decorator",
            )  # fmt: skip
        if self._depth >= DEEPEST:
            raise ScriptError(
                f"`{self.__name__}` expands itself {DEEPEST} times without an end", span=here(1),
                hint="end the recursion with a condition on Python values; one on kernel values builds both sides",
            )  # fmt: skip
        self._depth += 1
        try:
            return self._function()(*args, **keywords)
        finally:
            self._depth -= 1

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<inline function {self.__qualname__}>"

    def _function(self) -> FunctionType:
        if self._hygienic is False:
            return self._in_caller(_caller_variables())
        if self._ready is None:
            self._ready = self._bound(self.__wrapped__)
        return self._ready

    def _bound(self, function: FunctionType, caller: dict[str, Any] | None = None, **cells: CellType) -> FunctionType:
        name, dynamic = function.__name__, caller is not None
        outer = function.__code__.co_freevars
        rewritten = rewrite_function(self._definition, "inline", outer, dynamic=dynamic)
        return rewritten.bind(function, lambda: Scope(name, caller), cells)

    def _in_caller(self, variables: dict[str, Any]) -> FunctionType:
        """The function with the caller's variables in place of what it saw when it was defined."""
        function = self.__wrapped__
        closure = tuple(
            CellType(variables[name]) if name in variables else cell
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        return self._bound(_copied(function, {**function.__globals__, **variables}, closure), variables)


def _snapshot(function: FunctionType) -> FunctionType:
    """The function with globals and closure as they are now."""
    closure = tuple(CellType(cell.cell_contents) if is_set(cell) else cell for cell in function.__closure__ or ())
    return _copied(function, dict(function.__globals__), closure)


def _copied(function: FunctionType, variables: dict[str, Any], closure: tuple[CellType, ...]) -> FunctionType:
    made = FunctionType(function.__code__, variables, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__, made.__qualname__, made.__module__ = (
        function.__kwdefaults__,
        function.__qualname__,
        function.__module__,
    )
    return made


def _caller_variables() -> dict[str, Any]:
    """Variables of the author's frame that is calling."""
    frame = sys._getframe(1)
    while is_internal(frame.f_code.co_filename):
        assert frame.f_back is not None
        frame = frame.f_back
    return {**frame.f_globals, **{name: value for name, value in frame.f_locals.items() if not name.startswith("__tx")}}
