"""What is public is listed and documented, and a backend uses nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from types import MappingProxyType

import pytest

from tests.architecture.tree import BACKENDS, PACKAGES, Module, declared, imports, is_public, modules


@cache
def public_names() -> MappingProxyType[str, frozenset[str]]:
    """Every public module of core with the names it offers: its `__all__`, and its public submodules."""
    names = {module.name for module in modules("tirx")}
    offered = {}
    for module in modules("tirx"):
        listed = declared(module.tree)
        if listed is not None and is_public(module.name):
            below = {name.rpartition(".")[2] for name in names if name.rpartition(".")[0] == module.name}
            offered[module.name] = frozenset(listed) | {name for name in below if is_public(name)}
    return MappingProxyType(offered)


def private_uses(module: Module, public: MappingProxyType[str, frozenset[str]]) -> Iterator[str]:
    """What a backend takes from core without core offering it."""
    for entry in imports(module):
        if entry.module.split(".")[0] != "tirx":
            continue
        offered = public.get(entry.module)
        if offered is None:
            yield f"{module.where}:{entry.line}: {entry.module} is no public module of core (it has no __all__)"
        elif entry.name is not None and entry.name not in offered:
            yield f"{module.where}:{entry.line}: {entry.module} does not offer {entry.name}"


def own_private_names(package: tuple[Module, ...]) -> frozenset[str]:
    """The private names that a package defines itself: functions, classes, attributes, fields, slots."""
    found: set[str] = set()
    for node in (node for module in package for node in ast.walk(module.tree)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return frozenset(name for name in found if name.startswith("_"))


def private_attributes(module: Module, own: frozenset[str]) -> Iterator[str]:
    """Private attributes that the package does not define, so that they must be core's."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own:
            yield f"{module.where}:{node.lineno}: {ast.unparse(node)} is somebody else's private name"


def is_private(name: str) -> bool:
    """Whether a name starts with one underscore."""
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_uses_only_public_names_of_core(backend: str) -> None:
    public = public_names()
    problems = [problem for module in modules(backend) for problem in private_uses(module, public)]
    own = own_private_names(modules(backend))
    problems += [problem for module in modules(backend) for problem in private_attributes(module, own)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("from tirx.ir import Buffer", 0),
        ("from tirx import ir", 0),
        ("import tirx.ir", 0),
        ("from tirx.ir import Secret", 1),
        ("from tirx.ir._impl import Buffer", 1),
        ("import tirx.hidden", 1),
        ("import numpy", 0),
    ],
)
def test_a_private_use_is_noticed(text: str, problems: int) -> None:
    public = MappingProxyType({"tirx": frozenset({"ir"}), "tirx.ir": frozenset({"Buffer"})})
    assert len(list(private_uses(Module("tirx_cuda.x", PACKAGES["tirx_cuda"] / "x.py", text), public))) == problems


def test_a_private_attribute_of_core_is_noticed() -> None:
    text = "class A:\n    def _f(self): ...\ndef g(a, buffer):\n    return a._f() + buffer._secret\n"
    module = Module("tirx_cuda.x", PACKAGES["tirx_cuda"] / "x.py", text)
    assert [
        problem.split(": ")[1].split()[0] for problem in private_attributes(module, own_private_names((module,)))
    ] == ["buffer._secret"]


def undocumented(module: Module) -> Iterator[str]:
    """What a module with `__all__` leaves without a docstring: itself, its listed names, their public methods."""
    listed = declared(module.tree)
    if ast.get_docstring(module.tree) is None:
        yield f"{module.where}:1: the module has no docstring"
    for node in module.tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in (listed or ()):
            yield from without_docstring(module, node)


def without_docstring(module: Module, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """A public definition and, for a class, its public methods."""
    if is_overload(node):
        return
    if ast.get_docstring(node) is None:
        yield f"{module.where}:{node.lineno}: {node.name} has no docstring"
    if isinstance(node, ast.ClassDef):
        for member in node.body:
            if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_public(member.name):
                yield from without_docstring(module, member)


def is_overload(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether this is a signature or a setter whose first definition carries the docstring."""
    marks = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return bool(marks & {"overload", "setter", "deleter", "override"})


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_documented(package: str) -> None:
    problems = [problem for module in modules(package) for problem in undocumented(module)]
    assert not problems, "\n".join(problems)


def test_a_missing_docstring_is_noticed() -> None:
    text = '"""M."""\n__all__ = ["C", "f"]\nclass C:\n    """C."""\n    def m(self): ...\ndef f(): ...\ndef g(): ...\n'
    problems = list(undocumented(Module("tirx.x", PACKAGES["tirx"] / "x.py", text)))
    assert [problem.split(": ")[1].split()[0] for problem in problems] == ["m", "f"]


def unknown_names(module: Module) -> Iterator[str]:
    """Names in `__all__` that the module does not define, import or make lazily."""
    listed = declared(module.tree)
    bound = {
        node.name
        for node in module.tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    }
    bound |= {
        node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    bound |= {
        alias.asname or alias.name
        for node in ast.walk(module.tree)
        for alias in getattr(node, "names", [])
        if isinstance(alias, ast.alias)
    }
    if "__getattr__" not in bound and "*" not in bound:
        yield from (
            f"{module.where}: __all__ lists {name}, which is not there" for name in listed or () if name not in bound
        )


@pytest.mark.parametrize("package", PACKAGES)
def test_listed_names_exist(package: str) -> None:
    submodules = {module.name for module in modules(package)}
    problems = [
        problem
        for module in modules(package)
        for problem in unknown_names(module)
        if f"{module.name}.{problem.split('lists ')[1].split(',')[0]}" not in submodules
    ]
    assert not problems, "\n".join(problems)
