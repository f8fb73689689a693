"""A whole function: from its definition to code that builds the kernel, bound to the closure of the original.

def f(A, n):                    def f(A, n):
    x = A[0] + 1                    __tx__ = __tx_start__()
                                    x = __tx__.unbound
                                    x = __tx__.assign("x", x, A[0] + 1)
"""

from __future__ import annotations

import ast
import sys
import warnings
from _weakref import ref
from types import CellType, CodeType, FunctionType

from ..source import Definition
from .names import argument_names, bound_names, free_names
from .nodes import RUNTIME, assign, attribute, call, constant, load, place, store
from .positions import compile_with_columns
from .statements import Statements

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost start-up time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .nodes import Place

__all__ = ["START", "Rewritten", "compile_expression", "is_rewritten", "rewrite_function"]

START = "__tx_start__"
"""Free variable of rewritten functions: called to make the `Scope` of one run."""

_LINES_ONLY = sys.version_info < (3, 11)
_codes: dict[int, ref[CodeType]] = {}  # by identity: hashing a code object reads all of it


class Rewritten:
    """The code of a rewritten function; `bind` makes a function of it."""

    __slots__ = ("code", "kind")

    def __init__(self, code: CodeType, kind: str) -> None:
        self.code = code
        self.kind = kind

    def bind(self, original: FunctionType, start: Callable[[], Any], extra: Mapping[str, CellType]) -> FunctionType:
        """A function that shares globals, closure and defaults with `original`; `extra` holds cells of further names."""
        cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
        cells.update(extra)
        cells[START] = CellType(start)
        closure = tuple(cells[name] if name in cells else CellType() for name in self.code.co_freevars)
        made = FunctionType(self.code, original.__globals__, original.__name__, original.__defaults__, closure)
        made.__kwdefaults__ = original.__kwdefaults__
        made.__qualname__, made.__module__ = original.__qualname__, original.__module__
        return made


def is_rewritten(code: CodeType) -> bool:
    """Whether a frame that runs `code` belongs to a kernel's own text."""
    known = _codes.get(id(code))
    return known is not None and known() is code


def rewrite_function(
    definition: Definition, kind: str, outer: Sequence[str], symbols: Sequence[str] = (), *, dynamic: bool = False
) -> Rewritten:
    """The rewritten form of a definition, compiled once.

    `kind` is `kernel` or `inline`; `outer` the names that come from the closure; `symbols` further parameters (symbolic
    dimensions); `dynamic` functions take the start values of their variables from the caller (unhygienic macros).
    """
    key = (kind, tuple(outer), tuple(symbols), dynamic)
    found: Rewritten | None = definition.compiled.get(key)
    if found is None:
        found = definition.compiled[key] = _rewrite(definition, kind, outer, symbols, dynamic)
    return found


def _rewrite(
    definition: Definition, kind: str, outer: Sequence[str], symbols: Sequence[str], dynamic: bool
) -> Rewritten:
    node = definition.node
    arguments = [*argument_names(node.args), *symbols]
    inner = [name for name in bound_names(node.body) if name not in arguments]
    rewriter = Statements({*arguments, *inner}, kind, definition.class_name)
    rewriter.sure.append(set(arguments))
    at = place(node)
    at = {**at, "end_lineno": node.lineno, "end_col_offset": node.col_offset + 3}
    body = [assign(RUNTIME, ast.Call(load(START, at), [], [], **at), at), *_start_values(inner, at, dynamic)]
    body += rewriter.suite(node.body)
    made = _function(node.name, _arguments(node.args, symbols), body, at)
    return Rewritten(_compile(definition, made, [*outer, START], at), kind)


def _start_values(names: Sequence[str], at: Place, dynamic: bool) -> list[ast.stmt]:
    """Every variable exists from the start, without a value, so that its first use can say what is wrong."""
    if not names:
        return []
    if dynamic:
        return [assign(name, call("inherited", [constant(name, at)], at), at) for name in names]
    return [ast.Assign([store(name, at) for name in names], attribute(RUNTIME, "unbound", at), **at)]


def _arguments(args: ast.arguments, symbols: Sequence[str]) -> ast.arguments:
    """The same parameters without annotations and default expressions (the values are taken from the original)."""
    nothing = ast.Constant(None, lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    return ast.arguments(
        posonlyargs=[_bare(item) for item in args.posonlyargs],
        args=[_bare(item) for item in args.args],
        vararg=args.vararg and _bare(args.vararg),
        kwonlyargs=[_bare(item) for item in args.kwonlyargs] + [_symbol(name) for name in symbols],
        kw_defaults=[item and nothing for item in args.kw_defaults] + [None for _ in symbols],
        kwarg=args.kwarg and _bare(args.kwarg),
        defaults=[nothing for _ in args.defaults],
    )


def _bare(item: ast.arg) -> ast.arg:
    return ast.arg(item.arg, None, **place(item))


def _symbol(name: str) -> ast.arg:
    return ast.arg(name, None, lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def _function(name: str, args: ast.arguments, body: list[ast.stmt], at: Place) -> ast.FunctionDef:
    fields: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}
    return ast.FunctionDef(name, args, body or [ast.Pass(**at)], [], None, None, **fields, **at)


def _compile(definition: Definition, function: ast.FunctionDef, outer: Sequence[str], at: Place) -> CodeType:
    """Code of `function` inside a function whose parameters are `outer`, inside its class when it uses private names."""
    parameters = [ast.arg(name, None, **at) for name in dict.fromkeys(outer)]
    body: list[ast.stmt] = [function]
    if function.name not in outer:  # a function that calls itself finds itself among the globals
        body.insert(0, ast.Global([function.name], **at))
    factory = _function("__tx_factory__", ast.arguments([], parameters, None, [], [], None, []), body, at)
    module = ast.Module([factory], [])
    if definition.class_name and any(name.startswith("__") for name in _private(function)):
        fields: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}
        module = ast.Module([ast.ClassDef(definition.class_name, [], [], [factory], [], **fields, **at)], [])
    code = _inner(_compile_tree(module, definition.source.path), function.name)
    _register(code)
    return code


def compile_expression(definition: Definition, tree: ast.expr) -> CodeType:
    """Code of an annotation, which knows its place in the file."""
    code = _compile_tree(ast.Expression(tree), definition.source.path)
    _register(code)
    return code


def _private(function: ast.FunctionDef) -> set[str]:
    return free_names(function) | {item.attr for item in ast.walk(function) if isinstance(item, ast.Attribute)}


def _compile_tree(module: ast.Module | ast.Expression, path: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # Python warned when it compiled the file
        if _LINES_ONLY:
            return compile_with_columns(module, path)
        mode = "exec" if isinstance(module, ast.Module) else "eval"
        code: CodeType = compile(module, path, mode, dont_inherit=True)
        return code


def _inner(code: CodeType, name: str) -> CodeType:
    """The code of function `name` inside the factory."""
    for item in code.co_consts:
        if isinstance(item, CodeType):
            return item if item.co_name == name and START in item.co_freevars else _inner(item, name)
    raise AssertionError(name)


def _register(code: CodeType) -> None:
    key, codes = id(code), _codes  # bound here: when Python ends, the module's names may go before the code does
    codes[key] = ref(code, lambda _: codes.pop(key, None))
    for item in code.co_consts:
        if isinstance(item, CodeType):
            _register(item)
