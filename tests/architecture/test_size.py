"""Files that can be read in one sitting, functions that fit on a screen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture import reviewed
from tests.architecture.tree import CORE, PACKAGES, Module, modules

FILE_LINES = 600
FUNCTION_LINES = 60


def long_functions(module: Module) -> Iterator[tuple[str, int]]:
    """Every function over the limit with its length, decorators and docstring not counted."""
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
            length = (node.end_lineno or node.lineno) - body[0].lineno + 1
            if length > FUNCTION_LINES:
                yield f"{module.where}:{node.name}", length


@pytest.mark.parametrize("package", PACKAGES)
def test_files_are_short(package: str) -> None:
    lengths = {module.where: module.text.count("\n") for module in modules(package)}
    long = {
        where: length for where, length in lengths.items() if length > FILE_LINES and where not in reviewed.LONG_FILES
    }
    assert not long, f"over {FILE_LINES} lines; split by idea, or say in reviewed.py why not: {long}"


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_are_short(package: str) -> None:
    found = dict(entry for module in modules(package) for entry in long_functions(module))
    long = {where: length for where, length in found.items() if where not in reviewed.LONG_FUNCTIONS}
    assert not long, f"over {FUNCTION_LINES} lines: {long}"


def test_a_long_function_is_noticed() -> None:
    text = "def f():\n" + "    x = 1\n" * (FUNCTION_LINES + 1)
    assert list(long_functions(Module("tirx.x", CORE / "x.py", text))) == [
        ("tirx-core/src/tirx/x.py:f", FUNCTION_LINES + 1)
    ]


def test_exceptions_are_still_needed() -> None:
    every = [module for package in PACKAGES for module in modules(package)]
    long_files = {module.where for module in every if module.text.count("\n") > FILE_LINES}
    functions = {where for module in every for where, _ in long_functions(module)}
    assert set(reviewed.LONG_FILES) <= long_files
    assert set(reviewed.LONG_FUNCTIONS) <= functions
