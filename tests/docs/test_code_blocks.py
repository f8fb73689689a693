"""Every code block in README and docs runs, and shows what really comes out.

| block | what happens |
|---|---|
| `python` | all such blocks of a page run in order, as one program; so does a comment `<!-- python`, unseen by readers |
| `text` | what the program prints, in the order of the page, `...` any text |
| `<!-- plugins: NAME -->` | the distribution `NAME` of `tests/plugins/distributions` or `docs/examples` is installed for this page |
| `python error` | runs after those above it, must raise an error of TIRx; a `text` block right below is its text |
| `console`, `bash` | lines with `$ tirx` or `$ python docs/` run; what stands below is the output, `...` any text |
| `console exit=1` | the same, for commands that fail with that status |

What nothing of this is tried by stands in `not_run.py`, with the reason.
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
from tests.docs.not_run import NOT_RUN

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
    printed = as_here(done.stdout.replace(str(script), script.name))
    for shown in outputs_of(page):
        found = re.search(pattern(as_here(shown)), printed)
        assert found, f"{name_of(page)} shows\n{shown}\nbut this came, or what is left of it:\n{printed}"
        printed = printed[found.end() :]


def outputs_of(page: Path) -> list[str]:
    """The blocks of text that show what the program of a page prints."""
    found = found_in(page)
    shown = []
    for before, block in zip([None, *found], found, strict=False):
        error = before is not None and before.info == ("python", "error")
        if block.info == ("text",) and not error and reason_not_to_run(page, block) is None:
            shown.append(block.text)
    return shown


def pattern(shown: str) -> str:
    """A pattern that finds this text, however it is broken into lines."""
    return r"\s+".join(re.escape(word).replace(re.escape("..."), "[^\0]*?") for word in shown.split())


def reason_not_to_run(page: Path, block: Block) -> str | None:
    """Why a block is not tried, if it is not."""
    listed = NOT_RUN.get(name_of(page), {})
    return next((reason for start, reason in listed.items() if block.text.startswith(start)), None)


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


STRUCTURE = ("{toctree}", "{literalinclude}", "{include}")  # what Sphinx itself reads


def is_tried(block: Block) -> bool:
    """Whether a test above runs a block or compares it."""
    if block.language in {"console", "bash"}:
        found = commands(block)
        return bool(found) and all(RUN.match(command) for command, _ in found)
    return is_program(block) or block.info in {("python", "error"), ("text",)} or block.language in STRUCTURE


def is_generated(page: Path) -> bool:
    return page.read_text(encoding="utf-8").startswith("% Generated")


def test_every_block_is_tried_or_listed_with_a_reason() -> None:
    skipped = [
        f"{name_of(page)}:{block.line}: {block.text.partition(chr(10))[0]}"
        for page in pages()
        if not is_generated(page)
        for block in found_in(page)
        if not is_tried(block) and reason_not_to_run(page, block) is None
    ]
    assert not skipped, "no test tries these blocks; make them run, or list them in tests/docs/not_run.py"


def test_every_listed_block_is_there() -> None:
    texts = {name_of(page): [block.text for block in found_in(page)] for page in pages()}
    missing = [
        f"{page}: {start}"
        for page, listed in NOT_RUN.items()
        for start in listed
        if not any(text.startswith(start) for text in texts.get(page, ()))
    ]
    assert not missing


def test_a_shown_output_may_leave_out_text() -> None:
    assert re.search(pattern("a ... d"), "x a b\nc d")
    assert not re.search(pattern("a ... d"), "a b c")


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
