"""Finding the syntax tree of a function that Python has already compiled.

A file is parsed once per version of it; its functions are looked up by the line where their first decorator stands. Text
that has no file (notebooks, doctests, `from_source`) is found in `linecache`, where those tools put it.
"""

from __future__ import annotations

import ast
import os
from types import CellType, CodeType, FunctionType

from ..support.errors import ScriptError
from ..support.span import Span

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost start-up time
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["Definition", "Source", "find_definition", "forget", "is_set", "source_of"]


CO_COROUTINE, CO_ASYNC_GENERATOR = 0x80, 0x200


class Definition:
    """One function of a source file: its syntax tree, the class whose private names it sees, what was compiled from it."""

    __slots__ = ("class_name", "compiled", "node", "source")

    def __init__(self, source: Source, node: ast.FunctionDef, class_name: str | None) -> None:
        self.source = source
        self.node = node
        self.class_name = class_name
        self.compiled: dict[Any, Any] = {}

    def span(self, node: ast.AST) -> Span:
        """The place of a node of this function."""
        return self.source.span(node)

    @property
    def head(self) -> Span:
        """The name of the function in its `def` line."""
        node = self.node
        line = self.source.lines[node.lineno - 1] if node.lineno <= len(self.source.lines) else ""
        start = line.encode().find(node.name.encode(), node.col_offset + 3)
        column = start if start >= 0 else node.col_offset
        return Span(self.source.path, node.lineno, column, node.lineno, column + len(node.name.encode()))


class Source:
    """The parsed text of one file."""

    __slots__ = ("functions", "lines", "path", "tree", "version")

    def __init__(self, path: str, text: str, version: object) -> None:
        self.path = path
        self.version = version
        self.lines = text.split("\n")
        self.tree = ast.parse(text, path)
        self.functions: dict[tuple[int, str], list[Definition]] = {}
        for definition in _definitions(self, self.tree, None):
            node = definition.node
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            self.functions.setdefault((first, node.name), []).append(definition)

    def span(self, node: Any) -> Span:
        """The place of a node."""
        return Span(self.path, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _definitions(source: Source, node: ast.AST, class_name: str | None) -> Iterator[Definition]:
    """Functions below `node`. Only statements can hold one, so expressions are not searched."""
    for child in _statements(node):
        if isinstance(child, ast.FunctionDef):
            yield Definition(source, child, class_name)
        yield from _definitions(source, child, child.name if isinstance(child, ast.ClassDef) else class_name)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, name, None) or ():
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                yield child


_sources: dict[str, Source] = {}


def source_of(path: str, module_globals: dict[str, Any] | None = None) -> Source | None:
    """The parsed file at `path`, None when there is no text."""
    try:
        status = os.stat(path)
        version: object = (status.st_mtime_ns, status.st_size)
    except (OSError, ValueError):
        return _from_linecache(path, module_globals)
    found = _sources.get(path)
    if found is None or found.version != version:
        if found is not None:
            import linecache  # shows the lines of errors; it must not show those of the older version

            linecache.checkcache(path)
        found = _parsed(path, _read(path), version)
    return found


def forget(path: str) -> None:
    """Drop the parsed form of a file; it is parsed again when somebody asks."""
    _sources.pop(path, None)


def _read(path: str) -> str:
    with open(path, "rb") as file:
        data = file.read()
    if b"coding" in b"\n".join(data.split(b"\n", 2)[:2]):
        import tokenize  # knows the encoding that a file declares; slow to import, and rarely needed

        with tokenize.open(path) as text:
            return text.read()
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def _from_linecache(path: str, module_globals: dict[str, Any] | None) -> Source | None:
    import linecache  # only for text that has no file

    text = "".join(linecache.getlines(path, module_globals))
    if not text:
        return None
    found = _sources.get(path)
    return found if found is not None and found.version == text else _parsed(path, text, text)


def _parsed(path: str, text: str, version: object) -> Source:
    found = _sources[path] = Source(path, text, version)
    return found


def is_set(cell: CellType) -> bool:
    """Whether a variable of a closure has a value yet."""
    try:
        cell.cell_contents  # noqa: B018 - raises when empty
    except ValueError:
        return False
    return True


def find_definition(function: FunctionType) -> Definition:
    """The definition that `function` was compiled from; `ScriptError` when its text cannot be found."""
    code = function.__code__
    source = source_of(code.co_filename, function.__globals__)
    found = [] if source is None else source.functions.get((code.co_firstlineno, code.co_name), [])
    if not found:
        raise (
            _no_text(function, code) if source is None or code.co_filename.startswith("<") else _missing(function, code)
        )
    return found[0] if len(found) == 1 else _same_line(found, code)


def _same_line(found: list[Definition], code: CodeType) -> Definition:
    """Several functions of one name on one line: the one with the same parameters."""
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for definition in found:
        args = definition.node.args
        if names == tuple(item.arg for item in (*args.posonlyargs, *args.args, *args.kwonlyargs)):
            return definition
    return found[0]


def _no_text(function: FunctionType, code: CodeType) -> ScriptError:
    return ScriptError(
        f"the source of `{function.__name__}` is not available ({code.co_filename} is no file)",
        hint="put the kernel in a file, or build it from its text with tirx.script.from_source(text)",
    )


def _missing(function: FunctionType, code: CodeType) -> ScriptError:
    if function.__name__ == "<lambda>":
        return ScriptError(
            "a lambda cannot be a kernel", span=Span(code.co_filename, code.co_firstlineno), hint="write it with `def`"
        )
    if code.co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR):
        span = Span(code.co_filename, code.co_firstlineno)
        return ScriptError("an `async` function cannot be a kernel", span=span, hint="write a plain `def`")
    return ScriptError(
        f"`{function.__name__}` is not at line {code.co_firstlineno} of {code.co_filename} any more",
        hint="the file changed after it was imported; start Python again (or reload the module)",
    )
