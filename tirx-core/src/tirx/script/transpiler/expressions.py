"""Expressions: what Python would decide by truth values is handed to the runtime, which also knows kernel values.

Each construct becomes calls that evaluate every operand at most once, left to right, and only when Python would:

    a and b          value_and(b) if goes_on_and(a) else settled()     join_and(b) where only its truth counts
    a or b           value_or(b) if goes_on_or(a) else settled()       join_or(b) likewise
    not a            not_(a)
    a < b < c        compare_last("<", c) if compare_first(a, "<", b) else settled()
    x in items       contains(x, items)
    x is y           is_(x, y)            (`is None` stays: its answer is the same for kernel values)
    a if c else b    choose(a if wants_true(c) else None, b if wants_false() else None)
    name             read("name", name)   where it is not certain that it has a value
"""

from __future__ import annotations

import ast

from .names import target_names
from .nodes import call, constant, load, place

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost start-up time
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .nodes import Place

    T = TypeVar("T", bound=ast.AST)

__all__ = ["Expressions"]

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
"""How the runtime calls the operators of comparisons."""

_NATIVE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_LEAVES = (ast.Constant, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
# Builtins that ask for truth; the runtime has versions that also take kernel values.
BUILTINS = frozenset({"min", "max", "any", "all"})


class Expressions:
    """Rewrites expressions of one function. The original tree is left alone; unchanged parts are shared with it."""

    def __init__(self, local: set[str]) -> None:
        self.local = local
        self.sure: list[set[str]] = []
        self.shadows: list[set[str]] = []
        self._rules: dict[type[ast.AST], Callable[[Any], ast.expr]] = {
            ast.Name: self._name,
            ast.BoolOp: self._bool_op,
            ast.UnaryOp: self._unary_op,
            ast.Compare: self._compare,
            ast.IfExp: self._if_exp,
            ast.Lambda: self._lambda,
            ast.Call: self._call,
            **dict.fromkeys(_COMPREHENSIONS, self._comprehension),
        }

    def expr(self, node: Any) -> Any:
        """`node` rewritten; itself when nothing in it needs the runtime."""
        rule = self._rules.get(type(node))
        return self._generic(node) if rule is None else rule(node)

    def is_sure(self, name: str) -> bool:
        """Whether every way to this place gives `name` a value that is still alive."""
        return any(name in names for names in self.sure)

    def _generic(self, node: T) -> T:
        if isinstance(node, _LEAVES):
            return node
        changes: dict[str, Any] = {}
        for field in node._fields:
            old = getattr(node, field, None)
            new: Any = old
            if isinstance(old, ast.AST):
                new = self.expr(old)
            elif isinstance(old, list):
                new = [self.expr(item) if isinstance(item, ast.AST) else item for item in old]
                if all(a is b for a, b in zip(new, old, strict=True)):
                    new = old
            if new is not old:
                changes[field] = new
        return _changed(node, changes) if changes else node

    def _name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name not in self.local or self.is_sure(name) or any(name in names for names in self.shadows):
            return node
        at = place(node)
        return call("read", [constant(name, at), node], at)

    def condition(self, node: ast.expr) -> ast.expr:
        """`node` rewritten where only its truth counts."""
        if isinstance(node, ast.BoolOp):
            return self._joined(node, "join", self.condition)
        found: ast.expr = self.expr(node)
        return found

    def _bool_op(self, node: ast.BoolOp) -> ast.expr:
        return self._joined(node, "value", self.expr)

    def _joined(self, node: ast.BoolOp, how: str, operand: Callable[[ast.expr], ast.expr]) -> ast.expr:
        word = "and" if isinstance(node.op, ast.And) else "or"
        found = operand(node.values[0])
        for value in node.values[1:]:
            at = place(node.values[0], value)
            found = ast.IfExp(
                call(f"goes_on_{word}", [found], at),
                call(f"{how}_{word}", [operand(value)], at),
                call("settled", [], at),
                **at,
            )
        return found

    def _unary_op(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return call("not_", [self.condition(node.operand)], place(node))
        return self._generic(node)

    def _compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) > 1:
            return self._chain(node)
        op, right = node.ops[0], node.comparators[0]
        if isinstance(op, _NATIVE) or _is_none(node.left) or _is_none(right):
            return self._generic(node)
        at = place(node)
        method = "contains" if isinstance(op, ast.In | ast.NotIn) else "is_"
        found: ast.expr = call(method, [self.expr(node.left), self.expr(right)], at)
        return call("not_", [found], at) if isinstance(op, ast.NotIn | ast.IsNot) else found

    def _chain(self, node: ast.Compare) -> ast.expr:
        words = [COMPARISONS[type(op)] for op in node.ops]
        at = place(node.left, node.comparators[0])
        goes_on: list[ast.expr] = [
            call("compare_first", [self.expr(node.left), constant(words[0], at), self.expr(node.comparators[0])], at)
        ]
        for index, word in enumerate(words[1:-1], 1):
            at = place(node.comparators[index - 1], node.comparators[index])
            goes_on.append(call("compare_next", [constant(word, at), self.expr(node.comparators[index])], at))
        at = place(node.comparators[-2], node.comparators[-1])
        last = call("compare_last", [constant(words[-1], at), self.expr(node.comparators[-1])], at)
        test = goes_on[0] if len(goes_on) == 1 else ast.BoolOp(ast.And(), goes_on, **place(node))
        return ast.IfExp(test, last, call("settled", [], at), **place(node))

    def _if_exp(self, node: ast.IfExp) -> ast.expr:
        at = place(node)
        nothing = constant(None, at)
        condition = call("wants_true", [self.condition(node.test)], place(node.test))
        first = ast.IfExp(condition, self.expr(node.body), nothing, **at)
        second = ast.IfExp(call("wants_false", [], at), self.expr(node.orelse), nothing, **at)
        return call("choose", [first, second], at)

    def _lambda(self, node: ast.Lambda) -> ast.expr:
        names = {item.arg for item in ast.walk(node.args) if isinstance(item, ast.arg)}
        defaults = self._generic(node.args)
        self.shadows.append(names)
        body = self.expr(node.body)
        self.shadows.pop()
        changed = defaults is not node.args or body is not node.body
        return _changed(node, {"args": defaults, "body": body}) if changed else node

    def _comprehension(self, node: Any) -> ast.expr:
        names = {name for item in node.generators for name in target_names(item.target)}
        self.shadows.append(names)
        made: ast.expr = self._generic(node)
        self.shadows.pop()
        return made

    def _call(self, node: ast.Call) -> ast.expr:
        """`min(a, b)` and its like: Python's own when the name is the builtin and no kernel value comes."""
        made = self._generic(node)
        function = node.func
        if not (isinstance(function, ast.Name) and function.id in BUILTINS and function.id not in self.local):
            return made
        at: Place = place(function)
        chosen = call("builtin", [load(function.id, at)], at)
        return _changed(made, {"func": chosen})


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _changed(node: T, changes: dict[str, Any]) -> T:
    """A copy of `node` with some fields replaced."""
    fields = {field: getattr(node, field) for field in node._fields if hasattr(node, field)}
    fields.update(changes)
    places = {name: getattr(node, name) for name in node._attributes if hasattr(node, name)}
    return type(node)(**fields, **places)
