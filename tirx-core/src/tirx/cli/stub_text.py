"""Typing stubs of what is installed: `Tx` with core's names and those of every backend, for editors and type checkers.

Type checkers cannot know what a backend adds to `Tx`, since that is found at run time. The stubs say it: whatever has a home in a
typed package is imported from there (so "go to definition" leads to the source); the rest is written out from its row or signature.
"""

from __future__ import annotations

import ast
import inspect
import keyword
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

from .. import script
from ..backend import registry
from ..intrinsic import Intrinsic
from ..script import builder
from ..script.builder.types import DtypeConstructor
from ..script.namespaces import LAZY, load_lazy
from ..script.row import Namespace
from ..support.late import load_object

__all__ = ["stub_files"]

_HEAD = "# Written by `tirx stubs` for what is installed here; run it again after installing something else.\n"
_VARIOUS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class _Line(NamedTuple):
    """What a stub says of one name: an import, or a definition with the imports that it needs."""

    imports: frozenset[str]
    text: str = ""


def stub_files() -> dict[str, str]:
    """Every file of the typings folder, by its path below it. All backends that can be used must be loaded."""
    root = import_module("tirx")
    # `tirx.layout` is found below the real package: checkers look there only for what the stub names
    packages = [name for _, name, is_package in iter_modules(root.__path__) if is_package and name != "script"]
    offered = [_Line(frozenset({f"import tirx.{name} as {name}"})) for name in packages]
    public = list(dict.fromkeys([*packages, "script", *_reexports(root)]))
    listed = _Line(frozenset(), f"__all__ = {public!r}\n__version__: str\n")
    offered += [*(line for name, line in _reexports(root).items() if name not in packages), listed]
    files = {"tirx/__init__.pyi": _file(root.__doc__, offered)}
    lines = list(_core_names())
    for row in registry().rows("namespaces").values():
        line, members = _namespace(row)
        lines.append(line)
        if members:
            files[f"tirx/script/_{row.name}.pyi"] = members
    constructor = "from tirx.script.builder.types import DtypeConstructor as DtypeConstructor"
    lines += [_annotation(name, f"{name}: DtypeConstructor", constructor) for name in registry().rows("dtypes")]
    files["tirx/script/__init__.pyi"] = _file(script.__doc__, lines)
    files["tirx/script/tile.pyi"] = _tile()
    files["tirx/script/builder/__init__.pyi"] = _file(builder.__doc__, _reexports(builder).values())
    return files


def _tile() -> str:
    """`Tx.tile` and the scopes; the functions have a stub of their own beside the module."""
    module = import_module("tirx.script.tile")
    names = [name for name in module.__all__ if not isinstance(getattr(module, name), type)]
    scopes = "".join(
        f'{name}: TileScope\n"""Tile operations that the threads of a {name} do together."""\n' for name in names
    )
    text = f"class TileScope(TileFunctions):\n{_doc(module.TileScope.__doc__, '    ')}\n{scopes}"
    functions = "from tirx.script.tile_functions import *"
    return _file(
        module.__doc__, [_Line(frozenset({functions, "from tirx.script.tile_functions import TileFunctions"}), text)]
    )


# ---- core ---------------------------------------------------------------------------------------------------------


def _core_names() -> Iterator[_Line]:
    known = _reexports(script)
    rows = registry().rows("intrinsics")
    for name in sorted({*script.__all__, *LAZY}):
        value = load_lazy(name) if name in LAZY else getattr(script, name)
        row = rows.get(name)
        if row is not None and _is_made(value):
            yield _of_row(name, value, row)
        elif _is_named_later(value):
            yield _described(name, value, "tirx.script")
        elif name in _IDENTITY:
            yield _Line(frozenset({"from typing import TypeVar"}), _IDENTITY[name])
        elif name in _ANNOTATIONS or isinstance(value, DtypeConstructor):
            line = known.get(name) or _described(name, value, "tirx.script")
            yield _annotation(name, line.text.rstrip() or min(line.imports), *(line.imports if line.text else ()))
        else:
            yield known.get(name) or _described(name, value, "tirx.script")


def _is_named_later(value: Any) -> bool:
    """Whether a function is an assigned one, of which checkers would see no documentation: `add = BINARY["add"]`."""
    return inspect.isfunction(value) and value.__code__.co_name != value.__name__


# What kernels write as annotations, for Python a value of some class: mypy wants a type there, pyright the value.
_ANNOTATIONS = frozenset({"let", "constexpr"})
_IDENTITY = {
    "meta_var": '_Value = TypeVar("_Value")\n\ndef meta_var(value: _Value, /) -> _Value:\n'
    '    """Keep a value as it is in Python: it is named, and no scalar is made for it."""\n'
}


def _annotation(name: str, line: str, *imports: str) -> _Line:
    text = f"if MYPY:\n    {name}: TypeAlias = Any\nelse:\n    {line}\n"
    return _Line(_ANY | {"from typing_extensions import TypeAlias", *imports}, text)


def _reexports(module: ModuleType) -> dict[str, _Line]:
    """The imports of a package, under the names that it offers."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    blocks = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.If))]
    listed = frozenset(module.__all__)
    found: dict[str, _Line] = {}
    for node in (node for block in blocks for node in block if isinstance(node, ast.ImportFrom)):
        parts = module.__name__.split(".")
        base = parts[: len(parts) + 1 - node.level] if node.level else []
        origin = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            name = alias.asname or alias.name
            if name in listed:
                # a submodule of the package itself: checkers look for it beside the stub that we are writing
                found[name] = _import("." if node.level == 1 and not node.module else origin, alias.name, name)
    for assigned in tree.body:  # `IRBuilder = Builder`
        if isinstance(assigned, ast.Assign) and isinstance(assigned.value, ast.Name):
            names = [target.id for target in assigned.targets if isinstance(target, ast.Name) and target.id in listed]
            found.update((name, _Line(frozenset(), f"{ast.unparse(assigned)}\n")) for name in names)
    return found


# ---- backends -----------------------------------------------------------------------------------------------------


def _namespace(row: Namespace) -> tuple[_Line, str]:
    """The line for `Tx.<name>`, and the text of a stub for its members where it has some."""
    value = load_object(row.load)
    home = row.load.partition(":")[0]
    if isinstance(value, type) or inspect.isroutine(value):
        return _described(row.name, value, home), ""
    typed = _typed_home(row.name, value, home)
    if typed is not None:
        return typed, ""
    names = getattr(value, "__all__", None) or [name for name in dir(value) if not name.startswith("_")]
    place = home if isinstance(value, ModuleType) else ""
    members = [_described(name, getattr(value, name), place) for name in sorted(names)]
    return _import(".", f"_{row.name}", row.name), _file(row.doc, members)


def _typed_home(name: str, value: Any, home: str) -> _Line | None:
    """Backends offer their namespaces typed in `<package>.script`."""
    package = home.partition(".")[0]
    if isinstance(value, ModuleType) or not _is_typed(package):
        return None
    try:
        place = import_module(f"{package}.script")
    except ImportError:
        return None
    return _import(place.__name__, name, name) if getattr(place, name, None) is value else None


# ---- one name -----------------------------------------------------------------------------------------------------


def _described(name: str, value: Any, home: str) -> _Line:
    """A name of module `home` (empty: an attribute of some object)."""
    if isinstance(value, ModuleType):
        above, _, last = value.__name__.rpartition(".")
        return _import(above, last, name) if _is_typed(above) else _Line(_ANY, f"{name}: Any\n")
    place = _place_of(value) or (home, name)
    if _is_named_later(value):
        return _written_out(name, value)
    if inspect.isroutine(value) or isinstance(value, type):
        if (
            place[0] != script.__name__
            and _is_typed(place[0])
            and getattr(import_module(place[0]), place[1], None) is value
        ):
            return _import(*place, name)
        return _written_out(name, value)
    if home != "tirx.script" and _is_typed(home):
        return _import(home, name, name)
    return _instance(name, value)


def _instance(name: str, value: Any) -> _Line:
    cls = type(value)
    place = _place_of(cls)
    if place is None or cls.__module__ == "builtins" or not _is_typed(place[0]):
        return _Line(_ANY, f"{name}: Any\n")
    imports = frozenset({f"from {place[0]} import {place[1]} as {place[1]}"})
    return _Line(imports, f"{name}: {place[1]}\n{_doc(inspect.getdoc(value), '')}")


def _place_of(value: Any) -> tuple[str, str] | None:
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    return (module, name) if isinstance(module, str) and isinstance(name, str) and name.isidentifier() else None


def _written_out(name: str, value: Any) -> _Line:
    """A class or function of a package without types: its parameters and documentation."""
    if isinstance(value, type):
        members = [
            _function(item, getattr(value, item), "    ")
            for item in sorted(vars(value))
            if inspect.isroutine(vars(value)[item]) and (item == "__init__" or not item.startswith("_"))
        ]
        return _Line(
            _ANY,
            f"class {name}:\n{_doc(value.__doc__, '    ')}{''.join(members)}    def __getattr__(self, name: str) -> Any: ...\n",
        )
    return _Line(_ANY, _function(name, value, ""))


def _function(name: str, value: Any, indent: str) -> str:
    try:
        found = inspect.signature(value)
        bare = [
            each.replace(annotation=inspect.Parameter.empty, default=_default(each))
            for each in found.parameters.values()
        ]
        parameters = str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty)).replace(
            "=Ellipsis", "=..."
        )
    except (TypeError, ValueError):
        parameters = "(*args, **keywords)"
    doc = None if name == "__init__" else inspect.getdoc(value)
    body = _doc(doc, f"{indent}    ") or f"{indent}    ...\n"
    return f"{indent}def {name}{parameters}:\n{body}"


def _default(parameter: inspect.Parameter) -> Any:
    return parameter.default if parameter.default is inspect.Parameter.empty else ...


def _is_made(value: Any) -> bool:
    """Whether a function was made from its row: it stands nowhere under its name, and its own signature says nothing."""
    place = _place_of(value)
    return inspect.isfunction(value) and place is not None and not hasattr(import_module(place[0]), place[1])


def _of_row(name: str, value: Any, row: Intrinsic) -> _Line:
    first = [each.name for each in inspect.signature(value).parameters.values() if each.kind not in _VARIOUS]
    operands = [
        f"{_identifier(item.name)}: Any{'' if item.default is item.REQUIRED else ' = ...'}" for item in row.operands
    ]
    parameters = [*(f"{each}: Any" for each in first), *operands]
    parameters += ["/"] if operands else []
    parameters += ["*more: Any"] if row.variadic else []
    parameters += ["**attrs: Any"] if row.attrs or first else []
    imports = _ANY | {"from tirx.ir import Call as Call"}
    return _Line(imports, f"def {name}({', '.join(parameters)}) -> Call:\n{_doc(row.doc, '    ')}")


def _identifier(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


# ---- text ---------------------------------------------------------------------------------------------------------

_ANY = frozenset({"from typing import Any"})
_MYPY = "MYPY = False  # mypy takes it as true\n"


def _import(module: str, name: str, alias: str) -> _Line:
    return _Line(frozenset({f"from {module} import {name} as {alias}"}))


def _doc(text: str | None, indent: str) -> str:
    if not text:
        return ""
    safe = inspect.cleandoc(text).replace("\\", "\\\\").replace('"""', "'''")
    lines = "\n".join(f"{indent}{line}" if line else "" for line in safe.splitlines())
    return f'{indent}"""\n{lines}\n{indent}"""\n'


def _file(doc: str | None, lines: Iterable[_Line]) -> str:
    lines = list(lines)
    imports = sorted({text for line in lines for text in line.imports})
    definitions = "".join(line.text for line in lines)
    return (
        f"{_HEAD}{_doc(doc, '')}\n"
        + "\n".join(imports)
        + f"\n\n{_MYPY if 'if MYPY' in definitions else ''}{definitions}"
    )


@cache
def _is_typed(module: str) -> bool:
    """Whether the package that a module lies in says that it has types."""
    top = module.partition(".")[0]
    try:
        folders = import_module(top).__path__
    except (AttributeError, ImportError, ValueError):  # no package, or no module at all
        return False
    return any(Path(folder, "py.typed").is_file() for folder in folders)
