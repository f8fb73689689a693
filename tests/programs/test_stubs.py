"""The stubs of `tirx stubs` as type checkers see them: no complaint about the examples, every mistake found."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tirx import script as Tx

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "docs/examples/kernels"
MISTAKES = HERE / "stub_mistakes.py"
NOT_TYPES = (
    "valid-type",
    "type-arg",
    "name-defined",
)  # annotations of kernels are values, dimensions are names in them
pytestmark = [pytest.mark.needs("tirx-backend-cuda"), pytest.mark.needs("tirx-backend-trn")]


@pytest.fixture(scope="module")
def typings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `tirx stubs` writes."""
    folder = tmp_path_factory.mktemp("stubs") / "typings"
    done = subprocess.run(
        [sys.executable, "-m", "tirx.cli", "stubs", "-o", str(folder), "--json"],
        capture_output=True, text=True, check=True, cwd=folder.parent,
    )  # fmt: skip
    assert len(json.loads(done.stdout)["files"]) == len(list(folder.rglob("*.pyi")))
    return folder


def names_of(file: Path) -> set[str]:
    """What a stub defines or passes on."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def lines_with_mistakes() -> set[int]:
    """The statements of the file of mistakes that are wrong: all but the definitions of what they use."""
    wrong = (
        "y()",
        "sqrtt",
        "sqrt(x[tx], ",
        "syncc",
        "shfl",
        "ldd",
        "b63",
        "loadd",
        "load(x)",
        "copy(x)",
        "dispatchh",
        "compilee",
    )
    lines = MISTAKES.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if any(part in line for part in wrong)}


def test_every_name_is_there(typings: Path) -> None:
    names = names_of(typings / "tirx/script/__init__.pyi")
    assert set(Tx.__all__) <= names
    assert {"cuda", "ptx", "nki", "nvshmem", "SMEMPool"} <= names
    assert set(Tx.cuda.__all__) <= names_of(typings / "tirx/script/_cuda.pyi")
    assert set(Tx.nki.__all__) <= names_of(typings / "tirx/script/_nki.pyi")


def test_the_stubs_know_operands_and_documentation(typings: Path) -> None:
    text = (typings / "tirx/script/__init__.pyi").read_text()
    assert re.search(r'def fma\(x: Any, y: Any, z: Any, /\) -> Call:\n    """\n    \S', text)


@pytest.mark.slow
def test_mypy_accepts_the_examples_and_finds_every_mistake(typings: Path) -> None:
    pytest.importorskip("mypy")
    off = [word for code in NOT_TYPES for word in ("--disable-error-code", code)]
    command = [sys.executable, "-m", "mypy", "--check-untyped-defs", *off, "--config-file", os.devnull]
    files = [str(MISTAKES), *map(str, sorted(EXAMPLES.glob("*.py")))]
    done = subprocess.run(
        [*command, "--cache-dir", str(typings.parent / "cache"), *files],
        capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(typings)}, cwd=typings.parent, check=False,
    )  # fmt: skip
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line for line in errors if MISTAKES.name not in line] == []
    found = {int(line.split(MISTAKES.name)[1].split(":")[1]) for line in errors}
    assert found == lines_with_mistakes(), done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_accepts_the_examples_and_finds_every_mistake(typings: Path) -> None:
    settings = {"stubPath": typings.name, "reportInvalidTypeForm": False, "reportUndefinedVariable": False}
    folder = typings.parent
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    shutil.copytree(EXAMPLES, folder / "kernels")
    shutil.copy(MISTAKES, folder)
    command = ["pyright", "--pythonpath", sys.executable, "--outputjson", "-p", str(folder), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [item for item in json.loads(done.stdout)["generalDiagnostics"] if item["severity"] == "error"]
    errors = [item for item in errors if "/typings/" not in item["file"]]
    assert [item for item in errors if not item["file"].endswith(MISTAKES.name)] == []
    assert {item["range"]["start"]["line"] + 1 for item in errors} == lines_with_mistakes()
