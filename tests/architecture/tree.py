"""The source tree as the architecture tests see it: files, modules, syntax trees."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CORE = ROOT / "tirx-core/src/tirx"
PACKAGES = {
    "tirx": CORE,
    "tirx_cuda": ROOT / "tirx-backend-cuda/src/tirx_cuda",
    "tirx_trn": ROOT / "tirx-backend-trn/src/tirx_trn",
    "tirx_opencl": ROOT / "docs/examples/tirx-backend-opencl/src/tirx_opencl",
}
BACKENDS = ("tirx_cuda", "tirx_trn", "tirx_opencl")


class Module(NamedTuple):
    """One source file: its dotted name, path and text."""

    name: str
    path: Path
    text: str

    @property
    def where(self) -> str:
        """The path as a person types it."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]

    @property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return parse(self.text)


@cache
def parse(text: str) -> ast.Module:
    """Parse once per text."""
    return ast.parse(text)


@cache
def modules(package: str) -> tuple[Module, ...]:
    """Every module of an import package, by name."""
    folder = PACKAGES[package]
    files = sorted(folder.rglob("*.py"))
    return tuple(Module(dotted(package, folder, path), path, path.read_text(encoding="utf-8")) for path in files)


def dotted(package: str, folder: Path, path: Path) -> str:
    """The import name of a file below a package's folder."""
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join([package, *(parts[:-1] if parts[-1] == "__init__" else parts)])


class Import(NamedTuple):
    """One imported name: `from module import name`, or `import module` with no name."""

    module: str
    name: str | None
    line: int
    inside: bool  # a function


def imports(module: Module) -> Iterator[Import]:
    """Every import of a module with absolute names, wherever it stands."""
    for node, inside in walk(module.tree, inside=False):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, None, node.lineno, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = absolute(module, node)
            yield from (Import(origin, alias.name, node.lineno, inside) for alias in node.names)


def walk(node: ast.AST, *, inside: bool) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes below, each with whether it stands in a function."""
    yield node, inside
    inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    for child in ast.iter_child_nodes(node):
        yield from walk(child, inside=inside)


def absolute(module: Module, node: ast.ImportFrom) -> str:
    """The module that a `from` import names, relative dots resolved."""
    if node.level == 0:
        return node.module or ""
    base = module.package.split(".")
    base = base[: len(base) - (node.level - 1)]
    return ".".join([*base, *([node.module] if node.module else [])])


def declared(tree: ast.Module) -> list[str] | None:
    """The names in a module's `__all__`, or None where it has none."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return [
                item.value for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)
            ]
    return None


def is_public(name: str) -> bool:
    """Whether no part of a dotted name is private."""
    return not any(part.startswith("_") for part in name.split("."))


def toml(path: Path) -> dict[str, Any]:
    """A TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
