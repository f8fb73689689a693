"""Write one Markdown page for each public module from its `__all__` and docstrings; docs/conf.py calls this."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

PACKAGES = ("tirx", "tirx_cuda", "tirx_trn")
MEMBERS = (FunctionType, property, classmethod, staticmethod)
INDEX = """# Python names

What the packages offer, module by module.

```{{toctree}}
:maxdepth: 1

{names}
```
"""


class Page(NamedTuple):
    """A module, and those of its names that no earlier page describes."""

    module: ModuleType
    names: tuple[str, ...]


def version(pyproject: Path) -> str:
    """The version of a distribution of the workspace."""
    found = re.search(r'^version = "([^"]+)"', pyproject.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{pyproject} has no version")
    return found.group(1)


def write(folder: Path) -> None:
    """Write all pages and their index anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = list(all_pages())
    for page in pages:
        (folder / f"{page.module.__name__}.md").write_text(text_of(page), encoding="utf-8")
    names = "\n".join(page.module.__name__ for page in pages)
    (folder / "index.md").write_text(INDEX.format(names=names), encoding="utf-8")


def all_pages() -> Iterator[Page]:
    """Public modules, outer before inner; a name is described where the shortest path leads to it."""
    described: set[int] = set()
    found = [name for package in PACKAGES for name in public_modules(package)]
    for name in sorted(found, key=lambda name: (name.count("."), name)):
        module = importlib.import_module(name)
        names = tuple(n for n in getattr(module, "__all__", ()) if id(getattr(module, n)) not in described)
        described.update(id(getattr(module, n)) for n in names)
        if names:
            yield Page(module, names)


def public_modules(package: str) -> Iterator[str]:
    """The dotted names of a package and everything public below it."""
    yield package
    root = importlib.import_module(package)
    for entry in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not any(part.startswith("_") for part in entry.name.split(".")):
            yield entry.name


def text_of(page: Page) -> str:
    """One page of Markdown."""
    sections = [f"# {page.module.__name__}", inspect.getdoc(page.module) or ""]
    for name in page.names:
        sections += entry(name, getattr(page.module, name), "##")
    return "\n\n".join(section for section in sections if section) + "\n"


def entry(name: str, value: object, heading: str) -> Iterator[str]:
    """A heading with the signature, the docstring, and the public methods of a class."""
    if inspect.ismodule(value):
        return
    yield f"{heading} `{name}`"
    if inspect.isclass(value) or inspect.isroutine(value):
        yield f"```text\n{name}{signature(value)}\n```"
    yield without_headings(documentation(value))
    if inspect.isclass(value):
        for member, attribute in vars(value).items():
            if not member.startswith("_") and isinstance(attribute, MEMBERS):
                yield from entry(f"{name}.{member}", getattr(value, member), f"{heading}#")


def documentation(value: object) -> str:
    """The docstring; that of a plain value's type (`int`, `tuple`) says nothing about the value."""
    own = inspect.isclass(value) or isinstance(value, MEMBERS) or inspect.isroutine(value)
    return (inspect.getdoc(value) or "") if own or type(value).__module__.partition(".")[0] in PACKAGES else ""


class Source(str):
    """An annotation as it stands in the source, without quotes around it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def signature(value: object) -> str:
    """The parameters, where Python knows them."""
    try:
        found = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(...)"
    parameters = [each.replace(annotation=unquoted(each.annotation)) for each in found.parameters.values()]
    return str(found.replace(parameters=parameters, return_annotation=unquoted(found.return_annotation)))


def unquoted(annotation: object) -> object:
    """An annotation that prints without quotes."""
    return Source(annotation) if isinstance(annotation, str) else annotation


def without_headings(text: str) -> str:
    """Docstrings do not disturb the outline of the page."""
    return re.sub(r"^#+ (.*)$", r"**\1**", text, flags=re.MULTILINE)
