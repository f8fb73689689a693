"""What people type wrong: each ends with 1 or 2 and a short message, never with a traceback, whatever the words are."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.core.cli.commands import Shell

FILES = {
    "binary.py": bytes(range(256)) * 20,
    "raises.py": b"raise RuntimeError('boom')\n",
    "endless.py": b"def f(): f()\nf()\n",
    "deep.py": b"x = " + b"(" * 500 + b")" * 500 + b"\n",
    "wide.py": b"x = '" + b"a" * 100_000 + b"\n",
    "ends.py": b"import sys\nsys.exit(3)\n",
    "imports.py": b"import not_there_at_all\n",
}
ODD = (
    "nothing.py",
    "folder",
    "",
    "dangling.py",
    "circle.py",
    "a" * 300 + ".py",
    "scale",
    "scale.py:nothing",
    "::",
    *FILES,
)

FAULTS = [
    *(f"{command} {file}" for command in ("check", "compile -t generic", "run", "explain") for file in map(repr, ODD)),
    "check scale.py -t nothing", "check scale.py -t 'generic -width=x'", "check scale.py -t 'generic width=3'",
    "compile scale.py -t generic", "compile scale.py -t generic --emit binary", "compile scale.py -t generic --print-after x",
    "compile scale.py -t generic --set a=1", "compile scale.py -t generic --emit ir -o empty.py/in",
    "run scale.py --arg x", "run scale.py --arg x=random:0", "run scale.py --arg x=random:-1", "run scale.py --arg x=random:4x4",
    "run scale.py --arg x=nothing.npy", "run scale.py --arg x=folder", "run scale.py --arg x=scale.py", "run scale.py --arg a=b",
    "run scale.py --arg a=", "run scale.py --arg =3", "run scale.py --arg q=3", "run scale.py --arg x=random:4",
    "run scale.py --arg x=random:4 --arg a=1 --checks x", "run scale.py --arg x=random:4 --arg a=1 --checks ''",
    "run scale.py --on device --arg x=random:4 --arg a=1", "run scale.py --arg x=random:4 --arg a=1 -o empty.py/in",
    "layout ''", "layout 'S['", "layout 'S[-8]'", "layout 'S[0]'", "layout 'S[8'", "layout 'open(1)'", "layout 'S[8,8]' --shape 3",
    "layout 'S[8,8]' -o folder/none/x.svg", "layout " + "S[" * 300, "layout " + "+".join(["S[8]"] * 2000),
    "targets nothing", "targets nothing --json", "backends verify nothing", "backends verify binary.py", "backends verify folder",
    "stubs -o empty.py/in", "conform nobody", "conform ../x", "new-backend acme -o empty.py/in",
]  # fmt: skip

USAGE = [
    "", "nothing", "chekc scale.py", "--nothing", "check", "check scale.py more", "check scale.py -t", "check scale.py -t ''",
    "check scale.py --time-limit -1", "check scale.py --time-limit nan", "check scale.py --time-limit 1e400",
    "compile scale.py --emit nothing", "compile scale.py -t generic --set a", "compile scale.py -t generic --set =1",
    "compile scale.py -t generic -o scale.py", "run scale.py --seed x", "run scale.py --seed -5", "run scale.py --arg",
    "run scale.py --on moon", "explain tiles.py --size n", "explain tiles.py --cost --size n=x", "explain tiles.py:a -f b",
    "layout", "layout 'S[8]' --dtype nothing", "layout 'S[8]' --banks 0", "layout 'S[8]' --limit 3", "layout 'S[8]' -o x.png",
    "backends nothing", "why", "stubs -o scale.py", "cache nothing", "cache info more", "completion", "completion tcsh", "conform",
    "new-backend", "new-backend 1x", "new-backend é", "new-backend ../x", "doctor more",
]  # fmt: skip


@pytest.fixture
def odd(tirx: Shell) -> Shell:
    """A folder with files that are no kernels."""
    for name, content in FILES.items():
        Path(name).write_bytes(content)
    Path("folder").mkdir()
    os.symlink("nowhere", "dangling.py")
    os.symlink("circle.py", "circle.py")
    return tirx


def words(line: str) -> list[str]:
    return shlex.split(line)


@pytest.mark.parametrize("line", FAULTS, ids=lambda line: line[:60])
def test_faults(odd: Shell, line: str) -> None:
    shown = odd(*words(line), status=1)
    said = shown.err + shown.out
    assert said.strip()
    assert "Traceback" not in said
    assert max(map(len, said.splitlines())) < 1000
    assert len(said.splitlines()) < 60


@pytest.mark.parametrize("line", USAGE, ids=str)
def test_wrong_usage(odd: Shell, line: str) -> None:
    shown = odd(*words(line), status=2)
    assert "Traceback" not in shown.err
    assert shown.err.startswith(("Usage: tirx", "Error: ")), shown.err
