"""What people see: each case is a command line, all that comes out, and the exit status.

    $ tirx check mistake.py
    <standard output and standard error>
    -- exit 1

`pytest --update-golden` writes what came out.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.core.cli.commands import Shell
from tirx.cli import main

HERE = Path(__file__).parent / "transcripts"
CASE = re.compile(r"^\$ tirx ?(.*)\n((?:(?!\$ tirx|-- exit).*\n)*)(?:-- exit (\d+)\n)?\n?", re.MULTILINE)


def cases() -> list[tuple[Path, str, str, str]]:
    """File, command line, expected output and status of each case."""
    return [
        (path, *found.groups(default="0"))
        for path in sorted(HERE.glob("*.txt"))
        for found in CASE.finditer(path.read_text())
    ]


CASES = cases()


@pytest.mark.parametrize(("path", "command", "output", "status"), CASES, ids=[f"{p.stem}: {c}" for p, c, _, _ in CASES])
def test_transcript(
    path: Path,
    command: str,
    output: str,
    status: str,
    tirx: Shell,
    capfd: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(shlex.split(command))
    out, err = capfd.readouterr()
    got = tirx.readable(out + err).rstrip() + "\n"
    if request.config.getoption("--update-golden"):
        update(path, command, got, int(caught.value.code or 0))
        return
    assert (got, int(caught.value.code or 0)) == (output.rstrip() + "\n", int(status))


def update(path: Path, command: str, output: str, status: int) -> None:
    """Write what came out into the file of cases."""

    def replaced(match: re.Match[str]) -> str:
        if match[1] != command:
            return match[0]
        return f"$ tirx {command}\n{output}" + (f"-- exit {status}\n" if status else "") + "\n"

    path.write_text(CASE.sub(replaced, path.read_text()).rstrip() + "\n")


def test_no_output_shows_a_traceback() -> None:
    assert not [command for _, command, output, _ in CASES if "Traceback" in output]


def test_every_error_says_what_to_do_or_where_it_is() -> None:
    faults = [(c, o) for p, c, o, status in CASES if p.stem in ("files", "kernels") and status == "1"]
    assert len(faults) > 10
    assert not [
        command
        for command, output in faults
        if not re.search(r"help: |note: at |\.py:\d+|is not valid Python|is not a power", output)
    ]
