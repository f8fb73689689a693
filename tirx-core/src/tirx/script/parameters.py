"""The parameters of a parsed kernel: annotations evaluated where the function was defined, turned into parameters.

Annotations that Python already evaluated are taken as they are. Those that are text (`from __future__ import annotations`,
quotes) are evaluated from the syntax tree: in the defining frame, with constexpr values, earlier scalar parameters and the
symbolic dimensions of earlier parameters in scope.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FrameType, FunctionType

from ..ir import VOID, DType, Var
from ..support.errors import ScriptError
from ..support.span import Span
from .builder.function import FunctionFrame, quoted_name
from .builder.state import refuse
from .builder.types import DtypeConstructor
from .source import Definition, is_set
from .transpiler.function import compile_expression
from .transpiler.statements import annotation as unquoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Annotations", "ParsedFrame", "defining_names", "make_parameters", "result_type"]


class Annotations:
    """Evaluates the annotations of one function."""

    __slots__ = ("constants", "definition", "function", "names")

    def __init__(
        self, definition: Definition, function: FunctionType, names: Mapping[str, Any], constants: Mapping[str, Any]
    ) -> None:
        self.definition = definition
        self.function = function
        self.names = names
        self.constants = constants

    def value(self, name: str, node: ast.expr, known: Mapping[str, Any]) -> Any:
        """The annotation of parameter `name` (or `return`); `known` are names of the signature itself."""
        value = self.function.__annotations__.get(name)
        if not isinstance(value, str):
            return value
        tree = unquoted(node)
        found = self._evaluate(tree, known)
        return self._evaluate(unquoted(tree), known) if isinstance(found, str) and not _is_dtype(found) else found

    def marker(self, node: ast.expr) -> Any:
        """What an annotation that is text is made with: `Tx.constexpr`, `Tx.Optional`, `Tx.Buffer`."""
        tree = unquoted(node)
        if isinstance(tree, ast.Call | ast.Subscript):
            tree = tree.func if isinstance(tree, ast.Call) else tree.value
        return self._evaluate(tree, {})

    def dimension(self, text: str, frame: FunctionFrame) -> Any:
        """A quoted dimension that is no plain name: an expression of symbols and what the definition sees."""
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError:
            return text
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        known = {**self.names, **self.constants, **dict(zip(frame.names, frame.params, strict=True))}
        symbols = {name: frame.symbol(name) for name in sorted(names - known.keys() - self.function.__globals__.keys())}
        code = compile(tree, self.definition.source.path, "eval", dont_inherit=True)
        return eval(code, self.function.__globals__, {**known, **frame.symbols, **symbols})  # noqa: S307 - the author's own text

    def _evaluate(self, tree: ast.expr, known: Mapping[str, Any]) -> Any:
        code = compile_expression(self.definition, tree)
        return eval(code, self.function.__globals__, {**self.names, **self.constants, **known})  # noqa: S307 - the author's own text


def _is_dtype(text: str) -> bool:
    try:
        DType(text)
    except ValueError:
        return False
    return True


class ParsedFrame(FunctionFrame):
    """The frame of a parsed kernel: quoted dimensions may name compile-time values, and be expressions."""

    __slots__ = ("annotations",)

    def __init__(self, annotations: Annotations, options: Mapping[str, Any]) -> None:
        super().__init__(annotations.function.__name__, **options)
        self.annotations = annotations

    def dim(self, item: Any) -> Any:
        """A dimension with quoted names resolved."""
        text = quoted_name(item)
        if text is not None:
            if text in self.annotations.constants:
                return self.annotations.constants[text]
            if not text.isidentifier():
                item = self.annotations.dimension(text, self)
        return super().dim(item)


def make_parameters(frame: ParsedFrame, skip: Mapping[str, Any]) -> dict[str, Any]:
    """Declare the parameters in `frame`; what each stands for in the body. Those in `skip` have a value already."""
    annotations, made = frame.annotations, dict(skip)
    definition = annotations.definition
    args = definition.node.args
    for item in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        if item.arg in skip:
            continue
        assert item.annotation is not None  # the checker refused parameters without one
        kind = annotations.value(item.arg, item.annotation, _known(frame, made))
        kind = getattr(kind, "__tirx_annotation__", kind)
        if getattr(kind, "__tirx_constexpr__", False):
            refuse(
                f"`{item.arg}` is a Tx.constexpr, which a plain kernel cannot have",
                "decorate the function with @Tx.jit and call .specialize(...)",
                definition.span(item),
            )
        try:
            made[item.arg] = param = frame.add_param(item.arg, kind)
        except ScriptError as error:
            raise error.placed(definition.span(item.annotation)) from None
        param.span = definition.span(item)
    returns = definition.node.returns
    if returns is not None:
        frame.result = result_type(annotations.value("return", returns, _known(frame, made)), definition.span(returns))
    return made


def _known(frame: FunctionFrame, made: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in made.items() if isinstance(value, Var)}, **frame.symbols}


def result_type(kind: Any, span: Span) -> DType:
    """The type that the annotation of a result means."""
    if kind is None:
        return VOID
    if isinstance(kind, Var | DtypeConstructor):
        kind = kind.dtype
    try:
        return DType(kind)
    except ValueError:
        refuse(
            f"{kind!r} is not the type of a result",
            "write a scalar type, e.g. -> Tx.int32",
            span,
        )


def defining_names(function: FunctionType, frame: FrameType | None) -> dict[str, Any]:
    """Variables of the functions around the definition, innermost last, that its closure may lack (used only in annotations)."""
    found: list[dict[str, Any]] = []
    inner = function.__code__
    while frame is not None and frame.f_locals is not frame.f_globals:
        if inner in frame.f_code.co_consts or not found:
            found.append(dict(frame.f_locals))
            inner = frame.f_code
        frame = frame.f_back
    names: dict[str, Any] = {}
    for variables in reversed(found):
        names.update(variables)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if is_set(cell):
            names[name] = cell.cell_contents
    return names
