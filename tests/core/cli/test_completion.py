"""Completion, asked as the shells ask: the scripts run in real shells where these are installed."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from tests.core.cli.commands import shell_in

BASH = """
source ./script
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_tirx_completion tirx
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

# `compdef` is what zsh's completion system calls a script's function by; the function is run with what zsh gives it.
ZSH = """
compdef() {{ : }}
_describe() {{ shift 2; print -l -- ${{(P)1}} }}
compadd() {{ print -l -- ${{(P)@[-1]}} }}
source ./script
words=({words})
CURRENT=${{#words}}
_tirx_completion
"""

FISH = """
source ./script
complete --do-complete "{line}"
"""

SHELLS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
LINES = {
    "tirx co": {"compile", "conform", "completion"},
    "tirx cache c": {"clear"},
    "tirx compile scale.py --emit so": {"source"},
    "tirx check scale.py --target ge": {"generic"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with kernel files and a `tirx` command of this environment."""
    made = tmp_path_factory.mktemp("completion")
    shell_in(made)
    command = made / "bin/tirx"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tirx.cli "$@"\n')
    command.chmod(0o755)
    return made


@cache
def script_of(shell: str) -> str:
    """What `tirx completion SHELL` writes."""
    command = [sys.executable, "-m", "tirx.cli", "completion", shell]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def asked(shell: str, line: str, folder: Path) -> set[str]:
    """What a shell offers for the last word of a line."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    settings = {**os.environ, "PATH": path, "TIRX_BACKENDS": "", "HOME": str(folder)}
    (folder / "script").write_text(script_of(shell))
    program = SHELLS[shell].format(line=line, words=line)
    command = [shell, "-f"] if shell == "zsh" else [shell]
    done = subprocess.run(
        [*command, "-c", program], cwd=folder, env=settings, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return {word.split("\t")[0].partition(":")[0] for word in done.stdout.splitlines() if word}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete(shell: str, line: str, folder: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert asked(shell, line, folder) == LINES[line]


def test_descriptions_are_whole() -> None:
    if shutil.which("fish") is not None:
        assert "split -m 1" in script_of("fish")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_files_when_somebody_types(folder: Path) -> None:
    """The tab key in an interactive shell, with the words of another command before."""
    (folder / "script").write_text(script_of("bash"))
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    settings = {**os.environ, "PATH": path, "TIRX_BACKENDS": "", "TERM": "dumb", "PS1": "$ ", "HOME": str(folder)}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["bash", "--noprofile", "--norc", "-i"], cwd=folder, env=settings, stdin=theirs, stdout=theirs, stderr=theirs
    ) as shell:
        os.close(theirs)
        os.write(ours, b". ./script\ntirx check scal\t\n")
        shown = read_until(ours, b"scale  generic  ok")
        os.write(ours, b"exit\n")
        shell.wait(timeout=60)
    os.close(ours)
    assert b"tirx check scale.py" in shown


def read_until(terminal: int, wanted: bytes) -> bytes:
    """What a terminal shows until something stands there, or a minute is over."""
    shown, end = b"", time.monotonic() + 60
    while wanted not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 1.0)[0]:
            shown += os.read(terminal, 4096)
    assert wanted in shown, shown.decode()
    return shown
