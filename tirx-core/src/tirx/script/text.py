"""Kernels from text: what the printer wrote, or any Python that defines kernels."""

from __future__ import annotations
import __future__

import linecache
import re
import sys
from types import CodeType

from ..ir import IRModule, PrimFunc
from ..support.errors import ScriptError
from ..support.span import Span, add_root_code
from .source import forget
from .traces import explained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["from_source"]

_IMPORT = re.compile(
    r"#\s*(from\s+[\w.]+\s+import\s+[\w.*]+(?:\s+as\s+\w+)?(?:\s*,\s*\w+(?:\s+as\s+\w+)?)*|import\s+[\w.]+(?:\s+as\s+\w+)?)\s*$"
)
_DEFINED = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)
_paths: dict[str, str] = {}  # of texts without a file name
_texts: dict[str, int] = {}  # how many there are of each name


def from_source(
    text: str, names: Mapping[str, Any] | None = None, *, filename: str | None = None
) -> PrimFunc | IRModule:
    """The kernel or module that `text` defines: several functions, or a class with `@I.ir_module`, give an `IRModule`.

    `T` and `Tx` are the language, `I` has `ir_module`, `Axis` the axes of layouts (`Axis.laneid`), and import lines in leading
    comments (as the printer writes them) are followed. `names` adds further ones. Spans point into the text, under `filename` or
    `<text of ...>`.
    """
    path = filename or _path_of(text)
    _remember(path, text)
    space = _namespace(names or {})
    try:
        _run(_compiled(text, path), _imports(text, path), space)
    except BaseException as error:  # noqa: BLE001 - raised again, explained
        failure = explained(error)
    else:
        return _result(space, path)
    finally:
        forget(path)  # the text stays known to messages; its tree is not needed any more
    raise failure


def _path_of(text: str) -> str:
    """`<text of name>` after the first definition, numbered where another text has that path: messages may still show it."""
    if text not in _paths:
        found = _DEFINED.search(text)
        name = f"text of {found.group(1)}" if found else "text"
        _texts[name] = number = _texts.get(name, 0) + 1
        _paths[text] = f"<{name}>" if number == 1 else f"<{name}, {number}>"
    return _paths[text]


def _remember(path: str, text: str) -> None:
    """Let error messages, tracebacks and the search for the function find the text."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)


def _compiled(text: str, path: str) -> CodeType:
    """Code of the text. Annotations stay text, so that a dimension can be used after the parameter that introduced it."""
    try:
        code: CodeType = compile(text, path, "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
    except SyntaxError as error:
        column = (error.offset or 1) - 1
        span = Span(path, error.lineno or 1, column, error.lineno or 1, column + 1)
        failure = ScriptError(f"the text is no Python: {error.msg}", span=span)
    else:
        return code
    raise failure


def _imports(text: str, path: str) -> CodeType:
    """Import lines among the leading comments."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            break
        found = _IMPORT.match(line.strip())
        lines.append(found.group(1) if found and "tirx" in found.group(1).split()[1] else "")
    return compile("\n".join(lines), path, "exec", dont_inherit=True)


def _run(code: CodeType, imports: CodeType, space: dict[str, Any]) -> None:
    exec(imports, space)  # noqa: S102 - running the given text is what this function is for
    exec(code, space)  # noqa: S102


add_root_code(_run.__code__)


def _namespace(names: Mapping[str, Any]) -> dict[str, Any]:
    from ..layout import Axis  # only text needs the axes by name
    from . import ir

    language = sys.modules[__package__]
    found: dict[str, Any] = {"__name__": "__tirx_text__", "T": language, "Tx": language, "I": ir, "Axis": Axis}
    found.update(names)
    return found


def _result(space: dict[str, Any], path: str) -> PrimFunc | IRModule:
    modules = [value for value in space.values() if isinstance(value, IRModule)]
    functions = {name: value for name, value in space.items() if isinstance(value, PrimFunc)}
    if modules:
        return modules[-1]
    if not functions:
        raise ScriptError(
            "the text defines no kernel", span=Span(path, 1), hint="decorate a function with @T.prim_func"
        )
    return next(iter(functions.values())) if len(functions) == 1 else IRModule(functions)
