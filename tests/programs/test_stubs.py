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
EXAMPLES = HERE.parents[1] / "docs/examples"
CHECKED = ("kernels/*.py", "tutorial/*.py", "port/ported.py")  # what a reader may open in an editor
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


def examples() -> list[Path]:
    """The files that both checkers accept."""
    return sorted(file for pattern in CHECKED for file in EXAMPLES.glob(pattern))


def pyright() -> str | None:
    """The checker: Microsoft's, or the one that brings its own node (`basedpyright`), of this environment or on the PATH."""
    own = Path(sys.executable).parent
    return next((found for name in ("pyright", "basedpyright") for place in (str(own), None)
                 if (found := shutil.which(name, path=place))), None)  # fmt: skip


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
    files = [str(MISTAKES), *map(str, examples())]
    done = subprocess.run(
        [*command, "--cache-dir", str(typings.parent / "cache"), *files],
        capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(typings)}, cwd=typings.parent, check=False,
    )  # fmt: skip
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line for line in errors if MISTAKES.name not in line] == []
    found = {int(line.split(MISTAKES.name)[1].split(":")[1]) for line in errors}
    assert found == lines_with_mistakes(), done.stdout


@pytest.mark.slow
@pytest.mark.skipif(pyright() is None, reason="pyright is not installed; `nox -s types` brings it")
def test_pyright_accepts_the_examples_and_finds_every_mistake(typings: Path) -> None:
    settings = {
        "stubPath": typings.name, "typeCheckingMode": "standard", "reportInvalidTypeForm": False,
        "reportUndefinedVariable": False, "exclude": [typings.name],
    }  # fmt: skip
    folder = typings.parent
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    for file in (*examples(), MISTAKES):
        shutil.copy(file, folder)
    command = [str(pyright()), "--pythonpath", sys.executable, "--outputjson", "-p", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [
        (Path(item["file"]).name, item["range"]["start"]["line"] + 1) for item in found if item["severity"] == "error"
    ]
    assert [error for error in errors if error[0] != MISTAKES.name] == []
    assert {line for _, line in errors} == lines_with_mistakes()


def test_every_function_and_class_of_the_stubs_has_documentation(typings: Path) -> None:
    """What editors show of a name; what is imported has it where it comes from, which `tests/architecture` looks after."""
    missing = []
    for file in sorted(typings.rglob("*.pyi")):
        tree = ast.parse(file.read_text())
        top = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        missing += [f"{file.name}: {node.name}" for node in top if not ast.get_docstring(node)]
    assert missing == []


def test_objects_of_the_language_have_documentation() -> None:
    """Names that are no functions: the text below their definition, or that of their class."""
    assert [name for name in Tx.__all__ if not (getattr(Tx, name).__doc__ or "").strip()] == []
