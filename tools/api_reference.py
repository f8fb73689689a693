"""Write one Markdown page for each package from its modules' `__all__` and docstrings; docs/conf.py calls this."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

PACKAGES = ("tirx", "tirx_cuda", "tirx_trn")
MEMBERS = (FunctionType, property, classmethod, staticmethod)
LINE = 100  # a signature that is longer stands on several lines
FIRST = (
    "tirx",
    "tirx.script",
    "tirx.layout",
    "tirx.target",
    "tirx.runtime",
    "tirx.sim",
    "tirx.support",
    "tirx.testing",
)
INDEX = """# Python names

What the packages offer. Whoever writes and runs kernels needs the first table, and of `tirx.script` rather
[the language](../language.md). The others are for authors of backends and passes: everything that stands here may be relied on.

{tables}

```{{toctree}}
:hidden:

{names}
```
"""


class Section(NamedTuple):
    """A module, and those of its names that nothing before it describes."""

    module: ModuleType
    names: tuple[str, ...]


def version(pyproject: Path) -> str:
    """The version of a distribution of the workspace."""
    found = re.search(r'^version = "([^"]+)"', pyproject.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{pyproject} has no version")
    return found.group(1)


def write(folder: Path) -> None:
    """Write all pages and their index; what did not change is left alone, so that it is not built again."""
    texts = {f"{name}.md": text_of(name, sections) for name, sections in all_pages().items()}
    texts["index.md"] = index(list(all_pages()))
    folder.mkdir(parents=True, exist_ok=True)
    for old in set(folder.iterdir()) - {folder / name for name in texts}:
        old.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def index(pages: list[str]) -> str:
    """The page that leads to the others."""
    groups = {
        "For kernels": [name for name in FIRST if name in pages],
        "Core": [name for name in pages if name.startswith("tirx.") and name not in FIRST],
        **{f"`{package}`": [name for name in pages if root(name) == package] for package in PACKAGES[1:]},
    }
    tables = [
        f"## {title}\n\n| package | |\n|---|---|\n" + "\n".join(map(line_of, names)) for title, names in groups.items()
    ]
    return INDEX.format(tables="\n\n".join(tables), names="\n".join(pages))


def line_of(page: str) -> str:
    """A row of the index: the page and the first sentence of its package."""
    about = inspect.getdoc(importlib.import_module(page)) or ""
    return f"| [`{page}`]({page}.md) | {' '.join(about.partition(chr(10) * 2)[0].split())} |"


def root(name: str) -> str:
    """The package at the top."""
    return name.partition(".")[0]


def all_pages() -> dict[str, list[Section]]:
    """The sections of each package; a name is described where the shortest path leads to it."""
    described: set[int] = set()
    pages: dict[str, list[Section]] = {}
    found = [name for package in PACKAGES for name in public_modules(package)]
    for name in sorted(found, key=lambda name: (name.count("."), name)):
        module = importlib.import_module(name)
        names = tuple(n for n in getattr(module, "__all__", ()) if is_new(getattr(module, n), described))
        described.update(id(getattr(module, n)) for n in names)
        if names:
            page = name if hasattr(module, "__path__") else name.rpartition(".")[0]
            pages.setdefault(page, []).append(Section(module, names))
    return dict(sorted(pages.items()))


def is_new(value: object, described: set[int]) -> bool:
    """Whether a value is still to be described; modules have pages of their own."""
    return id(value) not in described and not inspect.ismodule(value)


def public_modules(package: str) -> Iterator[str]:
    """The dotted names of a package and everything public below it."""
    yield package
    for entry in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not any(part.startswith("_") for part in entry.name.split(".")):
            yield entry.name


# ---- text -----------------------------------------------------------------------------------------------------------


def text_of(page: str, sections: list[Section]) -> str:
    """One page of Markdown."""
    parts = [f"# {page}", inspect.getdoc(importlib.import_module(page)) or ""]
    for module, names in sections:
        own = module.__name__ == page
        if not own:
            parts += [f"## {module.__name__}", inspect.getdoc(module) or ""]
        values = [name for name in names if not is_callable(getattr(module, name))]
        for name in names:
            if name not in values:
                parts += entry(name, getattr(module, name), "##" if own else "###")
        if values:
            parts.append(listed([(name, getattr(module, name)) for name in values]))
    return "\n\n".join(part for part in parts if part) + "\n"


def is_callable(value: object) -> bool:
    """Whether a name is a class or a function; the others are listed by their types."""
    return inspect.isclass(value) or inspect.isroutine(value)


def listed(values: list[tuple[str, object]]) -> str:
    """Values, by their types."""
    types: dict[str, list[str]] = {}
    for name, value in values:
        types.setdefault(type(value).__name__, []).append(f"`{name}`")
    lines = [f"* {', '.join(names)}: `{kind}`" for kind, names in sorted(types.items())]
    return "Values\n\n" + "\n".join(lines)


def entry(name: str, value: object, heading: str) -> Iterator[str]:
    """A heading with the signature, the docstring, and the documented methods of a class."""
    yield f"{heading} {name}"
    yield f"```text\n{name}{signature(value, LINE)}\n```"
    yield without_headings(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        for member, attribute in vars(value).items():
            if not member.startswith("_") and isinstance(attribute, MEMBERS) and documentation(attribute):
                yield method(member, getattr(value, member))


def method(name: str, value: object) -> str:
    """A definition: the call, and below it what it does."""
    called = "" if isinstance(value, property) else signature(value).replace("(self, ", "(").replace("(self)", "()")
    about = re.sub(r"\n(?!\n)", "\n  ", without_headings(documentation(value)))
    return f"`{name}{called}`\n: {about}"


def documentation(value: object) -> str:
    """The docstring; that of a plain value's type (`int`, `tuple`) says nothing about the value."""
    own = inspect.isclass(value) or isinstance(value, MEMBERS) or inspect.isroutine(value)
    return (inspect.getdoc(value) or "") if own or root(type(value).__module__) in PACKAGES else ""


class Source(str):
    """A part of a signature as it stands in the source, without quotes around it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def signature(value: object, width: int | None = None) -> str:
    """The parameters, where Python knows them; one a line where they are wider than `width`."""
    try:
        found = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(...)"
    parameters = [
        each.replace(annotation=unquoted(each.annotation), default=readable(each.default))
        for each in found.parameters.values()
    ]
    found = found.replace(parameters=parameters, return_annotation=unquoted(found.return_annotation))
    return str(found) if width is None or len(str(found)) <= width else on_lines(found)


def on_lines(found: inspect.Signature) -> str:
    """A signature with one parameter a line."""
    result = "" if found.return_annotation is inspect.Signature.empty else f" -> {found.return_annotation!r}"
    return "(\n" + "".join(f"    {part},\n" for part in pieces(found)) + f"){result}"


def pieces(found: inspect.Signature) -> Iterator[str]:
    """The parameters, and the marks `/` and `*` between their kinds."""
    before = None
    for each in found.parameters.values():
        if before is each.POSITIONAL_ONLY != each.kind:
            yield "/"
        if each.kind is each.KEYWORD_ONLY and before not in {each.KEYWORD_ONLY, each.VAR_POSITIONAL}:
            yield "*"
        yield str(each)
        before = each.kind


def unquoted(annotation: object) -> object:
    """An annotation that prints without quotes."""
    return Source(annotation) if isinstance(annotation, str) else annotation


def readable(default: object) -> object:
    """A default as a person would write it: functions and classes by name, never an address."""
    if default is inspect.Parameter.empty:
        return default
    if is_callable(default):
        return Source(getattr(default, "__name__", "..."))
    return Source("...") if " at 0x" in repr(default) else default


def without_headings(text: str) -> str:
    """Docstrings do not disturb the outline of the page."""
    return re.sub(r"^#+ (.*)$", r"**\1**", text, flags=re.MULTILINE)
