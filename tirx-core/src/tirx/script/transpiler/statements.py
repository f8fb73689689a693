"""Statements: control flow and assignments go through the runtime, everything else stays Python.

    if c: A                     b = if_(c)
    else: B                     if b.then: b.enter_then(); A; b.leave()
                                if b.orelse: b.enter_orelse(); B; b.leave()
                                b.close()

    for i in e: A               loop = for_(e)
    else: B                     while loop.next(): i = bind("i", i, loop.item); A
                                else: ...B, under `if not broken` when a `break` of the kernel's loop may skip it
                                loop.close()

    while c: A                  loop = while_()
                                while loop.next() and loop.test(c): A
                                loop.close()

    break, continue             if loop.leave(): break          if loop.go_on(): continue
    with e as v: A              w = with_(e)
                                with w: v = bind("v", v, w.item); A
    x = e                       x = assign("x", x, e)
    x: t = e                    x = annotated("x", x, <number of the statement>, t, e)
    x += e                      x = assign("x", x, inplace(x, "+", e))
    o.a = e; o[i] = e           set_attribute(e, o, "a"); set_item(e, o, i)
    assert c, m; e              assert_(c, m); evaluate(e)
    return e                    if leave_function(e): return   (kernels)     return result(e)   (inline functions)

A condition, loop or value known to Python takes Python's way: one branch runs, the loop unrolls, the value is kept.
"""

from __future__ import annotations

import ast

from .expressions import Expressions
from .names import bound_names, target_names
from .nodes import RUNTIME, assign, attribute, call, constant, load, place, statement, store, with_

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost start-up time
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from .nodes import Place

__all__ = ["Statements"]

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
"""How the runtime calls the operators of augmented assignments."""

Body = list[ast.stmt]
_ENDS = (ast.Break, ast.Continue, ast.Return, ast.Raise)


class Statements(Expressions):
    """Rewrites the body of one function. `returns` says how: `kernel` or `inline`."""

    def __init__(self, local: set[str], returns: str, class_name: str | None) -> None:
        super().__init__(local)
        self.returns = returns
        self.class_name = class_name
        self.loops: list[str] = []
        self.shadowing: list[set[str]] = []
        self._count = 0
        self._statements: dict[type[ast.stmt], Callable[[Any], Body]] = {
            ast.If: self._if,
            ast.For: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.Assign: self._assign,
            ast.AnnAssign: self._ann_assign,
            ast.AugAssign: self._aug_assign,
            ast.Break: self._break,
            ast.Continue: self._continue,
            ast.Return: self._return,
            ast.Expr: self._expression,
            ast.Assert: self._assert,
            ast.Raise: self._raise,
            ast.FunctionDef: self._definition,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
        }

    def suite(self, body: Iterable[ast.stmt], sure: Iterable[str] = ()) -> Body:
        """A block of statements. What follows a `break`, `continue`, `return` or `raise` is never reached, as in Python."""
        self.sure.append(set(sure))
        self.shadowing.append(set(sure))
        made: Body = []
        for stmt in body:
            rule = self._statements.get(type(stmt))
            made += [stmt] if rule is None else rule(stmt)
            if isinstance(stmt, _ENDS):
                break
        self.sure.pop()
        for name in self.shadowing.pop():  # a declaration or loop variable in here may have hidden an outer one
            for outer in self.sure:
                outer.discard(name)
        return made

    def _temporary(self) -> str:
        self._count += 1
        return f"__tx_{self._count}__"

    # ---- control flow -----------------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> Body:
        at, branch = place(node, node.test), self._temporary()
        made: Body = [assign(branch, call("if_", [self.condition(node.test)], at), at)]
        for name, body in (("then", node.body), ("orelse", node.orelse)):
            if body:
                made.append(self._side(branch, name, body, at))
        made.append(statement(call("close", [], at, branch), at))
        return made

    def _side(self, branch: str, name: str, body: list[ast.stmt], at: Place) -> ast.If:
        """`if branch.then: branch.enter_then(); body; branch.leave()`. No `with`: Python nests at most twenty blocks."""
        enter = statement(call(f"enter_{name}", [], at, branch), at)
        leave = statement(call("leave", [], at, branch), at)
        return ast.If(attribute(branch, name, at), [enter, *self.suite(body), leave], [], **at)

    def _for(self, node: ast.For) -> Body:
        at, loop = place(node, node.iter), self._temporary()
        target = self._bind(node.target, attribute(loop, "item", place(node.target)))
        names = list(target_names(node.target))
        body = target + self._loop_body(loop, node, names)
        start = assign(loop, self._iterable(node, at), at)
        turns = ast.While(call("next", [], at, loop), body, self._orelse(loop, node, at), **at)
        return [start, turns, statement(call("close", [], at, loop), at)]

    def _iterable(self, node: ast.For, at: Place) -> ast.expr:
        may_leave = constant(bool(node.orelse) and _has_break(node.body), at)
        source, names = node.iter, constant(_spelling(node.target), at)
        is_range = isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range"
        if not is_range:
            return call("for_", [self.expr(source), names, may_leave], at)
        assert isinstance(source, ast.Call)
        head = call("range_", [self.expr(source.func)], place(source))
        made = self.expr(source)
        counted = ast.Call(head, made.args, made.keywords, **place(source))
        return call("for_", [counted, names, may_leave], at)

    def _while(self, node: ast.While) -> Body:
        at, loop = place(node, node.test), self._temporary()
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        may_leave = bool(node.orelse) and _has_break(node.body)
        start = call("while_", [constant(forever, at), constant(may_leave, at)], at)
        test = call("test", [self.condition(node.test)], at, loop)
        condition = ast.BoolOp(ast.And(), [call("next", [], at, loop), test], **at)
        body = self._loop_body(loop, node, []) or [ast.Pass(**at)]
        turns = ast.While(condition, body, self._orelse(loop, node, at), **at)
        return [assign(loop, start, at), turns, statement(call("close", [], at, loop), at)]

    def _loop_body(self, loop: str, node: Any, names: list[str]) -> Body:
        self.loops.append(loop)
        body = self.suite(node.body, names)
        self.loops.pop()
        return body

    def _orelse(self, loop: str, node: Any, at: Place) -> Body:
        if not node.orelse:
            return []
        branch = self._temporary()
        return [
            assign(branch, call("completed", [], at, loop), at),
            self._side(branch, "then", node.orelse, at),
            statement(call("close", [], at, branch), at),
        ]

    def _break(self, node: ast.Break) -> Body:
        at = place(node)
        return [ast.If(call("leave", [], at, self.loops[-1]), [ast.Break(**at)], [], **at)]

    def _continue(self, node: ast.Continue) -> Body:
        at = place(node)
        return [ast.If(call("go_on", [], at, self.loops[-1]), [ast.Continue(**at)], [], **at)]

    def _with(self, node: ast.With) -> Body:
        prepared = []
        for item in node.items:
            at, name = place(item.context_expr), self._temporary()
            context = assign(name, call("with_", [self.expr(item.context_expr)], at), at)
            variable = item.optional_vars
            prepared.append((context, name, self._bind(variable, attribute(name, "item", at)) if variable else [], at))
        names = [name for item in node.items if item.optional_vars for name in target_names(item.optional_vars)]
        body = self.suite(node.body, names)
        for bound in bound_names(node.body):  # what is made in here does not exist outside
            for outer in self.sure:
                outer.discard(bound)
        for context, name, bind, at in reversed(prepared):
            body = [context, with_(load(name, at), bind + body, at)]
        return body

    def _return(self, node: ast.Return) -> Body:
        at = place(node)
        value = constant(None, at) if node.value is None else self.expr(node.value)
        if self.returns == "inline":
            return [ast.Return(call("result", [value], at), **at)]
        args = [value, constant(node.value is not None, at)]
        return [ast.If(call("leave_function", args, at), [ast.Return(None, **at)], [], **at)]

    def _raise(self, node: ast.Raise) -> Body:
        return [statement(call("raising", [], place(node)), place(node)), self._generic(node)]

    # ---- assignments ------------------------------------------------------------------------------------------

    def _assign(self, node: ast.Assign) -> Body:
        value = self.expr(node.value)
        if len(node.targets) == 1:
            return self._set(node.targets[0], value, place(node))
        name, at = self._temporary(), place(node.value)
        written = [item for target in node.targets[:-1] for item in self._written(target)]
        made: Body = [assign(name, call("keep", [value, *written], at), at)]
        for target in node.targets:
            made += self._set(target, load(name, at), place(target, node.value))
        return made

    def _set(self, target: ast.expr, value: ast.expr, at: Place) -> Body:
        """Statements that assign `value` to `target` with the table of `assign`."""
        return self._store(target, value, at, "assign")

    def _bind(self, target: ast.expr, value: ast.expr) -> Body:
        """Statements that name `value`, which is kept as it is: loop variables and what `with` gives."""
        return self._store(target, value, place(target), "bind")

    def _store(self, target: ast.expr, value: ast.expr, at: Place, method: str) -> Body:
        if isinstance(target, ast.Name):
            return self._store_name(target, value, at, method)
        if isinstance(target, ast.Attribute):
            return [statement(call("set_attribute", [value, *self._attribute(target, at)], at), at)]
        if isinstance(target, ast.Subscript):
            return [statement(call("set_item", [value, *self._item(target, at)], at), at)]
        assert isinstance(target, ast.Tuple | ast.List)
        return self._unpack(target.elts, value, at, method)

    def _store_name(self, target: ast.Name, value: ast.expr, at: Place, method: str) -> Body:
        name, here = target.id, place(target)
        made = call(method, [constant(name, here), load(name, here), value], at)
        if method == "assign":  # what loops and `with` bind is certain only inside their bodies
            self.sure[-1].add(name)
        return [ast.Assign([store(name, here)], made, **at)]

    def _unpack(self, targets: Sequence[ast.expr], value: ast.expr, at: Place, method: str) -> Body:
        star = next((index for index, item in enumerate(targets) if isinstance(item, ast.Starred)), -1)
        items = self._temporary()
        counts = [value, constant(len(targets), at), constant(star, at)]
        made: Body = [assign(items, call("unpack", counts, at), at)]
        if (
            method == "assign" and len(targets) > 1
        ):  # `a, b = b, a`: all values count as they are before the first is stored
            written = [ast.Tuple(self._written(item), ast.Load(), **at) for item in targets]
            made.append(assign(items, call("at_once", [load(items, at), *written], at), at))
        for index, target in enumerate(targets):
            here = place(target)
            inner: Any = target.value if isinstance(target, ast.Starred) else target
            element = ast.Subscript(load(items, here), constant(index, here), ast.Load(), **here)
            made += self._store(inner, element, here if method == "bind" else at, method)
        return made

    def _written(self, target: ast.expr) -> list[ast.expr]:
        """What assigning to `target` may write to, as far as a name says it."""
        here = place(target)
        if isinstance(target, ast.Tuple | ast.List):
            return [found for item in target.elts for found in self._written(item)]
        if isinstance(target, ast.Starred):
            return self._written(target.value)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return [self.expr(target.value)]
        return [load(target.id, here)] if isinstance(target, ast.Name) else [constant(None, here)]

    def _attribute(self, target: ast.Attribute, at: Place) -> list[ast.expr]:
        name = target.attr
        if self.class_name and name.startswith("__") and not name.endswith("__"):
            name = f"_{self.class_name.lstrip('_')}{name}"
        return [self.expr(target.value), constant(name, at)]

    def _item(self, target: ast.Subscript, at: Place) -> list[ast.expr]:
        return [self.expr(target.value), _as_value(self.expr(target.slice), at)]

    def _ann_assign(self, node: ast.AnnAssign) -> Body:
        target = node.target
        assert isinstance(target, ast.Name)  # the checker refused the rest
        at, here = place(node), place(target)
        number = constant(node.lineno * 1000 + node.col_offset, here)
        args = [constant(target.id, here), load(target.id, here), number, self.expr(annotation(node.annotation))]
        if node.value is not None:
            args.append(self.expr(node.value))
        made = call("annotated" if node.value is not None else "declare", args, at)
        self.sure[-1].add(target.id)
        self.shadowing[-1].add(target.id)
        return [ast.Assign([store(target.id, here)], made, **at)]

    def _aug_assign(self, node: ast.AugAssign) -> Body:
        at, target = place(node), node.target
        word, value = constant(OPERATORS[type(node.op)], at), self.expr(node.value)
        if isinstance(target, ast.Name):
            old = self.expr(load(target.id, place(target)))
            return self._store_name(target, call("inplace", [old, word, value], at), at, "assign")
        if isinstance(target, ast.Attribute):
            return [statement(call("update_attribute", [*self._attribute(target, at), word, value], at), at)]
        return [statement(call("update_item", [*self._item(target, at), word, value], at), at)]

    # ---- the rest ---------------------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr) -> Body:
        if isinstance(node.value, ast.Constant):
            return []  # documentation, `...`
        at = place(node)
        return [statement(call("evaluate", [self.expr(node.value)], at), at)]

    def _assert(self, node: ast.Assert) -> Body:
        at = place(node)
        message = [self.expr(node.msg)] if node.msg is not None else []
        return [statement(call("assert_", [self.condition(node.test), *message], at), at)]

    def _definition(self, node: ast.FunctionDef) -> Body:
        """A nested function stays as it is: its decorator finds and rewrites it when it runs."""
        return [node, *self._note([node.name], place(node))]

    def _import(self, node: ast.Import | ast.ImportFrom) -> Body:
        names = [(item.asname or item.name).partition(".")[0] for item in node.names]
        return [node, *self._note(names, place(node))]

    def _note(self, names: list[str], at: Place) -> Body:
        self.sure[-1].update(names)
        return [
            assign(name, call("bind", [constant(name, at), load(name, at), load(name, at)], at), at) for name in names
        ]


def annotation(node: ast.expr) -> ast.expr:
    """An annotation, out of its quotes."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return node
    inner = ast.parse(node.value.strip(), mode="eval").body
    at = place(node)
    for item in ast.walk(inner):
        if isinstance(item, ast.expr):
            for name, value in at.items():
                setattr(item, name, value)
    return inner


def _as_value(index: ast.expr, at: Place) -> ast.expr:
    """An index as a plain expression: slices become `slice(...)`."""
    if isinstance(index, ast.Slice):
        parts = [constant(None, at) if part is None else part for part in (index.lower, index.upper, index.step)]
        return call("slice", parts, at, RUNTIME)
    if isinstance(index, ast.Tuple) and any(isinstance(item, ast.Slice) for item in index.elts):
        return ast.Tuple([_as_value(item, at) for item in index.elts], ast.Load(), **place(index))
    return index


def _has_break(body: Iterable[ast.stmt]) -> bool:
    """Whether a `break` in `body` leaves the loop that `body` belongs to."""
    for stmt in body:
        if isinstance(stmt, ast.Break):
            return True
        if isinstance(stmt, ast.For | ast.While):
            if _has_break(stmt.orelse):
                return True
        elif not isinstance(stmt, ast.FunctionDef | ast.ClassDef) and _has_break(
            inner for inner in ast.iter_child_nodes(stmt) if isinstance(inner, ast.stmt)
        ):
            return True
    return False


def _spelling(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else ast.unparse(target)
