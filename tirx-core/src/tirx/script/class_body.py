"""A module's own name inside its class: `M.helper(x)` in `class M:`, while Python has not made `M` yet.

What the body has defined so far is taken as it is. A function that stands further down is called by its name; when the
module is whole, such a call gets what a call of a finished function gets: its arguments converted, or an error.
"""

from __future__ import annotations

import ast
from types import FrameType, FunctionType

from ..ir import VOID, Call, DType, GlobalVar, PrimFunc, mask_of, rewrite, walk
from ..support.suggest import did_you_mean
from .builder.calls import call_later, matched
from .builder.state import refuse
from .parameters import defining_names, result_type
from .source import Definition, find_definition
from .transpiler.function import compile_expression
from .transpiler.statements import annotation as unquoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["KEY", "ClassBody", "class_body", "completed"]

KEY = "__tirx_class__"
"""Under which name a class keeps its `ClassBody`."""


class ClassBody:
    """Stands for a class in the functions of its body."""

    __slots__ = ("_function", "_later", "_name", "_names", "_space")

    def __init__(self, name: str, space: Mapping[str, Any], function: FunctionType, names: Mapping[str, Any]) -> None:
        self._name = name
        self._space = space
        self._function = function
        self._names = names
        self._later: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._space:
            return self._space[name]
        definition = find_definition(self._function)
        below = _functions_beside(definition)
        if name not in below:
            known = dict.fromkeys([*(key for key in self._space if not key.startswith("__")), *below])
            hint = did_you_mean(name, known) or f"it has {', '.join(known)}"
            refuse(f"the module `{self._name}` has no function `{name}`", hint)
        self._later.add(name)
        return Later(name, self._result(definition, below[name]))

    def _result(self, definition: Definition, node: ast.FunctionDef) -> DType:
        """The result type that a function further down declares."""
        if node.returns is None:
            return VOID
        code = compile_expression(definition, unquoted(node.returns))
        kind = eval(code, self._function.__globals__, {**self._names, **self._space})  # noqa: S307 - the author's own text
        return result_type(kind, definition.span(node.returns))


class Later:
    """A function that stands further down in the class."""

    __slots__ = ("name", "result")

    def __init__(self, name: str, result: DType) -> None:
        self.name = name
        self.result = result

    def __call__(self, *args: Any) -> Any:
        return call_later(self.name, self.result, args)


def class_body(function: FunctionType, frame: FrameType) -> tuple[str, ClassBody] | None:
    """Name and stand-in of the class whose body `frame` runs, where `function` is defined directly in it."""
    space = frame.f_locals
    inside = space.get("__qualname__") if space is not frame.f_globals else None
    if not isinstance(inside, str) or function.__qualname__ != f"{inside}.{function.__name__}":
        return None
    name = inside.rpartition(".")[2]
    found = space.get(KEY)
    if found is None:
        found = space[KEY] = ClassBody(name, space, function, defining_names(function, frame.f_back))
    return name, found


def _functions_beside(definition: Definition) -> dict[str, ast.FunctionDef]:
    """All functions of the class that holds this one."""
    classes = (item for item in ast.walk(definition.source.tree) if isinstance(item, ast.ClassDef))
    body = next((item.body for item in classes if definition.node in item.body), [])
    return {item.name: item for item in body if isinstance(item, ast.FunctionDef)}


def completed(functions: Mapping[str, PrimFunc], body: ClassBody | None) -> dict[str, PrimFunc]:
    """The functions of a whole class, with calls of what stood further down made like all others."""
    if body is None or not body._later:
        return dict(functions)
    made = {name: _settled(func, functions, body._later) for name, func in functions.items()}
    for func in made.values():  # nobody has seen them yet: they know each other, in both directions
        func.callees = tuple(made.get(item.name, item) for item in func.callees)
    return made


def _settled(func: PrimFunc, functions: Mapping[str, PrimFunc], later: set[str]) -> PrimFunc:
    names = later - {item.name for item in func.callees}
    calls = [node for node in walk(func.body, mask_of(Call)) if isinstance(node, Call) and _calls(node, names)]
    if not calls:
        return func.replaced()
    for call in calls:
        _check(call, functions)
    body = rewrite(
        func.body, {Call: lambda node: matched(functions[node.op.name], node) if _calls(node, names) else None}
    )
    called = dict.fromkeys(call.op.name for call in calls)
    return func.replaced(body=body, callees=(*func.callees, *(functions[name] for name in called)))


def _calls(node: Call, names: set[str]) -> bool:
    return isinstance(node.op, GlobalVar) and node.op.name in names


def _check(call: Call, functions: Mapping[str, PrimFunc]) -> None:
    name = call.op.name
    func = functions.get(name)
    if func is None:
        refuse(f"`{name}` is called, and is no kernel", "decorate it with @Tx.prim_func", call.span)
    if func.result is not call.dtype:
        refuse(
            f"`{name}` is called above its definition, which does not say that it gives {func.result}",
            f"write it there: def {name}(...) -> Tx.{func.result}",
            call.span,
        )
