"""Who may import whom: the contracts of pyproject.toml, and the ways around them that import-linter does not see."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from importlinter.cli import lint_imports

from tests.architecture.tree import CORE, PACKAGES, ROOT, Module, imports, modules, toml

LAYERS = [
    layer.strip("()")
    for contract in toml(ROOT / "pyproject.toml")["tool"]["importlinter"]["contracts"]
    if contract["id"] == "layers"
    for layer in contract["layers"]
]


def every_module() -> list[Module]:
    return [module for package in PACKAGES for module in modules(package)]


def test_import_linter_keeps_every_contract(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename="pyproject.toml", no_cache=True, no_logo=True)
    assert status == 0, capfd.readouterr().out


def test_every_part_of_core_has_a_layer() -> None:
    parts = {path.stem for path in CORE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__", "__main__"} <= set(LAYERS)


def layer_of(module: str) -> int | None:
    """The height of a module of tirx, 0 on top; None for what is no part of a layer."""
    parts = module.split(".")
    return LAYERS.index(parts[1]) if parts[0] == "tirx" and len(parts) > 1 and parts[1] in LAYERS else None


def hidden_imports(module: Module) -> Iterator[str]:
    """Modules above this one that it names to `import_module` or `__import__`."""
    own = layer_of(module.name)
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or called(node) not in {"import_module", "__import__"} or not node.args:
            continue
        name = node.args[0]
        wanted = layer_of(name.value) if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
        if own is not None and wanted is not None and wanted < own:
            yield f"{module.where}:{node.lineno}: reaches up to {ast.unparse(name)}"


def called(node: ast.Call) -> str | None:
    """The last part of the name that is called."""
    function = node.func
    return (
        function.attr
        if isinstance(function, ast.Attribute)
        else function.id
        if isinstance(function, ast.Name)
        else None
    )


def test_no_string_import_reaches_up() -> None:
    assert not [problem for module in modules("tirx") for problem in hidden_imports(module)]


def test_a_string_import_that_reaches_up_is_noticed() -> None:
    bad = Module("tirx.ir.expr", CORE / "ir/expr.py", "import importlib\nimportlib.import_module('tirx.cli.main')\n")
    assert len(list(hidden_imports(bad))) == 1


def root_imports(module: Module) -> Iterator[str]:
    """Names that a module of tirx takes from its own package root, which itself imports half the tree."""
    for entry in imports(module):
        own = entry.name is not None and (entry.name == "__version__" or layer_of(f"tirx.{entry.name}") is not None)
        if module.name != "tirx" and entry.module == "tirx" and not own:
            yield f"{module.where}:{entry.line}: import {entry.name or 'tirx'} from the module that owns it"


def test_core_does_not_import_its_own_root() -> None:
    assert not [problem for module in modules("tirx") for problem in root_imports(module)]


@pytest.mark.parametrize(
    ("text", "problems"), [("from tirx import compile", 1), ("import tirx", 1), ("from tirx import script", 0)]
)
def test_an_import_of_the_root_is_noticed(text: str, problems: int) -> None:
    assert len(list(root_imports(Module("tirx.sim.x", CORE / "sim/x.py", text)))) == problems


def unexplained_imports(module: Module) -> Iterator[str]:
    """Imports of our own modules inside functions with no comment on their line or just above."""
    lines = module.text.splitlines()
    for entry in imports(module):
        ours = entry.module.split(".")[0] in PACKAGES
        if entry.inside and ours and not is_explained(lines, entry.line):
            yield f"{module.where}:{entry.line}: say in a comment why this import waits, or move it to the top"


def is_explained(lines: list[str], line: int) -> bool:
    """Whether there is a comment on a line, or above the block of imports it stands in."""
    if "#" in lines[line - 1]:
        return True
    above = line - 2
    while above >= 0 and lines[above].strip().startswith(("import ", "from ")):
        if "#" in lines[above]:
            return True
        above -= 1
    return above >= 0 and lines[above].strip().startswith("#")


def test_imports_inside_functions_say_why() -> None:
    problems = [problem for module in every_module() for problem in unexplained_imports(module)]
    assert not problems, "\n".join(problems)


def test_an_import_inside_a_function_is_noticed() -> None:
    bad = (
        "def f():\n    import json\n    from .a import b\n    return json, b\n"
        "def g():\n    # slow to start\n    import tirx.c\n    from .d import e\n    return e\n"
    )
    problems = list(unexplained_imports(Module("tirx.x", CORE / "x.py", bad)))
    assert [problem.split(":")[1] for problem in problems] == ["3"]
