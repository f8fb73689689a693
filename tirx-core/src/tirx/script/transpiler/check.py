"""Constructs that a kernel cannot contain, found before it runs: all of them are reported at once."""

from __future__ import annotations

import ast

from ...support.errors import Diagnostic, ScriptError
from ...support.span import Span
from ..source import Definition

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost start-up time
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["check_kernel", "check_syntax"]

REFUSED: dict[str, tuple[str, str]] = {
    "Try": ("`try` is not possible in a kernel", "check conditions with `if` or `assert`; devices raise no exceptions"),
    "TryStar": ("`try` is not possible in a kernel", "check conditions with `if` or `assert`; devices raise no exceptions"),
    "Delete": ("`del` is not possible in a kernel", "storage lives to the end of its block; remove the statement"),
    "Global": ("`global` is not possible in a kernel", "pass the value as a parameter or read the global without assigning to it"),
    "ClassDef": ("a class cannot be defined in a kernel", "define it outside, with @Tx.meta_class when it holds kernel values"),
    "Match": ("`match` is not possible in a kernel", "write `if` / `elif` / `else`"),
    "NamedExpr": ("`:=` is not possible in a kernel", "assign on a line of its own before this one"),
    "Await": ("`await` is not possible in a kernel", "kernels are plain functions; asynchronous copies have waits of their own"),
    "AsyncFor": ("`async for` is not possible in a kernel", "write `for`"),
    "AsyncWith": ("`async with` is not possible in a kernel", "write `with`"),
    "AsyncFunctionDef": ("`async def` is not possible in a kernel", "write `def` with @Tx.inline"),
    "Yield": ("`yield` is not possible in a kernel", "return a list of values from an inline function"),
    "YieldFrom": ("`yield` is not possible in a kernel", "return a list of values from an inline function"),
    "TypeAlias": ("`type` is not possible in a kernel", "define the alias outside"),
}  # fmt: skip
"""Node name -> what is wrong, what to write instead."""


def check_syntax(definition: Definition, kind: str) -> None:
    """Raise one `ScriptError` with every construct in the function's text that is not possible; `kind` as in `Statements`."""
    problems = syntax_problems(definition, kind)
    if problems:
        raise ScriptError(diagnostics=problems)


def syntax_problems(definition: Definition, kind: str) -> list[Diagnostic]:
    """What `check_syntax` would raise."""
    found = _Checker(definition, kind)
    found.suite(definition.node.body)
    return found.problems


class _Checker:
    """Walks a body, with the loops and the `nonlocal` rule of the place."""

    def __init__(self, definition: Definition, kind: str, *, expressions: bool | None = None) -> None:
        self.definition = definition
        self.kind = kind
        self.expressions = _has_refused_expressions(definition) if expressions is None else expressions
        self.problems: list[Diagnostic] = []

    def suite(self, body: list[ast.stmt]) -> None:
        for stmt in body:
            self.visit(stmt)

    def visit(self, node: ast.AST) -> None:
        name = type(node).__name__
        if name in REFUSED:
            self.refuse(node, *REFUSED[name])
            if name in ("ClassDef", "AsyncFunctionDef"):
                return
        special = getattr(self, f"_{name}", None)
        if special is not None:
            special(node)
        if name != "FunctionDef":
            for child in ast.iter_child_nodes(node) if self.expressions else _inner_statements(node):
                self.visit(child)

    def refuse(self, node: Any, message: str, hint: str) -> None:
        span = _keyword_span(self.definition, node) if isinstance(node, ast.stmt) else self.definition.span(node)
        self.problems.append(Diagnostic(message, span, hint))

    def _FunctionDef(self, node: ast.FunctionDef) -> None:  # noqa: N802 - named as the node
        if not node.decorator_list:
            self.refuse(
                node,
                f"the nested function `{node.name}` has no decorator",
                "put @Tx.inline above it: it is then expanded where it is called; helpers that are plain Python "
                "(traced, not rewritten) belong outside the kernel",
            )
        inner = _Checker(self.definition, "inline", expressions=self.expressions)
        inner.suite(node.body)
        self.problems += inner.problems

    def _Nonlocal(self, node: ast.Nonlocal) -> None:  # noqa: N802
        if self.kind != "inline":
            self.refuse(
                node,
                "`nonlocal` is not possible in a kernel",
                "the kernel runs later, on a device; pass values as parameters",
            )

    def _AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        if not isinstance(node.target, ast.Name):
            self.refuse(node, "only a plain name can be annotated", "declare a variable first, then store it")
        text = node.annotation.value if isinstance(node.annotation, ast.Constant) else None
        if isinstance(text, str) and not _is_expression(text):
            self.refuse(node.annotation, f"the annotation {text!r} is no expression", "write a type such as Tx.int32")


def _has_refused_expressions(definition: Definition) -> bool:
    """Whether the text may contain one of the refused expressions; if not, only statements are looked at."""
    node = definition.node
    text = "\n".join(definition.source.lines[node.lineno - 1 : node.end_lineno])
    return any(word in text for word in (":=", "yield", "await"))


def _inner_statements(node: Any) -> Iterator[ast.AST]:
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        yield from getattr(node, name, None) or ()


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def _keyword_span(definition: Definition, node: Any) -> Span:
    """The first line of a statement up to its colon or end, not the whole block below it."""
    if node.end_lineno == node.lineno:
        return definition.span(node)
    line = definition.source.lines[node.lineno - 1].encode()
    return Span(definition.source.path, node.lineno, node.col_offset, node.lineno, len(line.split(b"#")[0].rstrip()))


def check_kernel(definition: Definition, *, defaults: bool) -> None:
    """Raise one `ScriptError` with everything that is wrong with a kernel's parameter list and text."""
    problems = signature_problems(definition, defaults=defaults) + syntax_problems(definition, "kernel")
    if problems:
        raise ScriptError(diagnostics=sorted(problems, key=lambda item: _order(item.span)))


def signature_problems(definition: Definition, *, defaults: bool) -> list[Diagnostic]:
    """Everything that is wrong with a kernel's parameter list."""
    problems: list[Diagnostic]
    args, problems = definition.node.args, []
    for star, item in (("*", args.vararg), ("**", args.kwarg)):
        if item is not None:
            problems.append(Diagnostic(
                f"a kernel has no `{star}{item.arg}` parameter", definition.span(item), "name every parameter, or pass a buffer",
            ))  # fmt: skip
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        if arg.annotation is None:
            problems.append(Diagnostic(
                f"the parameter `{arg.arg}` has no annotation", definition.span(arg),
                "kernels are functions, not methods: leave it out, and use variables of the enclosing scope" if arg.arg in ("self", "cls")
                else f'write `{arg.arg}: Tx.Buffer((n,), "float32")`, `{arg.arg}: Tx.int32` or `{arg.arg}: Tx.handle`',
            ))  # fmt: skip
    if not defaults:
        problems += [
            Diagnostic(
                "a kernel's parameter has no default value", definition.span(item),
                "pass the value at the call, or use @Tx.jit with a Tx.constexpr parameter",
            )
            for item in (*args.defaults, *args.kw_defaults) if item is not None
        ]  # fmt: skip
    return problems


def _order(span: Span | None) -> tuple[int, int]:
    return (span.line, span.column or 0) if span is not None else (0, 0)
