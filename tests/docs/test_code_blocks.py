"""Every code block in README and docs runs, and shows what really comes out.

| block | what happens |
|---|---|
| `python` | all such blocks of a page run in order, as one program; so does a comment `<!-- python`, unseen by readers |
| `<!-- plugins: NAME -->` | the distribution `NAME` of `tests/plugins/distributions` or `docs/examples` is installed for this page |
| `python error` | runs after those above it, must raise an error of TIRx; a `text` block right below is its text |
| `console`, `bash` | lines with `$ tirx` or `$ python docs/` run; what stands below is the output, `...` any text |
| `console exit=1` | the same, for commands that fail with that status |
"""

from __future__ import annotations

import doctest
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import toml
from tests.docs.blocks import ROOT, Block, blocks, commands, name_of, pages, program

DISTRIBUTIONS = (ROOT / "tests/plugins/distributions", ROOT / "docs/examples")
RUN = re.compile(r"(tirx|python docs/)")


def found_in(page: Path) -> list[Block]:
    return list(blocks(page.read_text(encoding="utf-8")))


def is_program(block: Block) -> bool:
    return block.info == ("python",)


def pages_with(kind: str) -> list[Path]:
    return [page for page in pages() if any(" ".join(block.info) == kind for block in found_in(page))]


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_python_blocks_run(page: Path, tmp_path: Path) -> None:
    script = tmp_path / f"{page.stem}.py"
    script.write_text(program([block for block in found_in(page) if is_program(block)]), encoding="utf-8")
    plugins = "".join(f"{install(name, tmp_path)}{os.pathsep}" for name in plugins_of(page))
    done = run(f'"{sys.executable}" -W error "{script}"', tmp_path, PYTHONPATH=plugins)
    assert done.returncode == 0, done.stderr.replace(str(script), name_of(page))


def plugins_of(page: Path) -> list[str]:
    """The distributions that a page wants installed."""
    wanted = re.findall(r"^<!-- plugins: (.*) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return " ".join(wanted).split()


def install(name: str, folder: Path) -> Path:
    """A folder that holds a distribution as an editable installation would: its metadata and its package."""
    source = next(place / name for place in DISTRIBUTIONS if (place / name).is_dir())
    project = toml(source / "pyproject.toml")["project"]
    target = folder / "plugins" / name
    metadata = target / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    metadata.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        + "".join(f"Requires-Dist: {requirement}\n" for requirement in project["dependencies"])
    )
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    metadata.joinpath("entry_points.txt").write_text("\n".join(lines))
    package = next(path for path in (source / "src").iterdir() if path.is_dir())
    (target / package.name).symlink_to(package)
    return target


@pytest.mark.parametrize("page", pages_with("python error"), ids=name_of)
def test_python_error_blocks_raise_what_they_show(page: Path, tmp_path: Path) -> None:
    found = found_in(page)
    for position, block in enumerate(found):
        if block.info == ("python", "error"):
            above = [earlier for earlier in found[:position] if is_program(earlier)]
            below = found[position + 1] if position + 1 < len(found) else None
            script = tmp_path / f"{page.stem}.py"
            script.write_text(program([*above, block]), encoding="utf-8")
            shown = below.text if below is not None and below.info == ("text",) else "...\n"
            check_output(*map(as_here, (raised_by(script), shown)), page)


def as_here(message: str) -> str:
    """A message as this Python can place it: 3.10 keeps no columns of code outside of kernels."""
    if sys.version_info >= (3, 11):
        return message
    return re.sub(r"\n *\| *\^+", "", re.sub(r"(\.py:\d+):\d+", r"\1", message))


def raised_by(script: Path) -> str:
    """The text of the error that a script raises."""
    from tirx.support.errors import TirxError  # the blocks are found without it

    with pytest.raises(TirxError) as caught:
        runpy.run_path(str(script))
    return str(caught.value).replace(str(script), script.name) + "\n"


def console_blocks() -> list[tuple[Path, Block]]:
    return [(page, block) for page in pages() for block in found_in(page) if block.language in {"console", "bash"}]


def place(value: Path | Block) -> str:
    return name_of(value) if isinstance(value, Path) else str(value.line)


@pytest.mark.parametrize(("page", "block"), console_blocks(), ids=place)
def test_console_blocks_run(page: Path, block: Block, tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    status = next((int(word.removeprefix("exit=")) for word in block.info if word.startswith("exit=")), 0)
    for command, shown in commands(block):
        if RUN.match(command):
            done = run(command, tmp_path)
            assert done.returncode == status, f"{name_of(page)}:{block.line}: {command}\n{done.stdout}{done.stderr}"
            check_output(done.stdout + done.stderr, shown or "...\n", page)


def run(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command line with this environment's programs first on the PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "120", **more}
    return subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def check_output(got: str, shown: str, page: Path) -> None:
    """Compare what came out with what the page shows; `...` stands for any text."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, got, flags), (
        f"{name_of(page)} shows\n{shown}\nbut this came:\n{got}"
    )


def test_blocks_keep_their_line_numbers() -> None:
    text = "one\n\n```python\nx = 1\n```\n\n- item\n  ```console exit=1\n  $ tirx x\n  out\n  ```\n<!-- note -->\n<!-- python\ny = 2\n-->\n"
    first, second, hidden = blocks(text)
    assert hidden == Block(("python",), "y = 2\n", 14)
    assert first == Block(("python",), "x = 1\n", 4)
    assert program([first]) == "\n\n\nx = 1\n"
    assert commands(second) == [("tirx x", "out\n")]


def test_a_wrong_output_is_noticed() -> None:
    with pytest.raises(AssertionError, match="but this came"):
        check_output("2\n", "1\n", ROOT / "README.md")
