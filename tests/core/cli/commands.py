"""The command line run inside the test's process, in a folder that holds the kernel files of `files/`."""

from __future__ import annotations

import io
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tirx.cli import main

FILES = Path(__file__).parent / "files"
NO_PYTHON = {
    "not_python.py": b"kernel scale(x) { y = x; }\n",
    "latin.py": b'x = "\xff\xfe"\n',
    "zero_byte.py": b"x = 1\0\n",
}


class Result:
    """What a command left: its status, standard output, standard error."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err


class Shell:
    """Runs commands in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str, status: int = 0) -> Result:
        """Run `tirx` with these words; fail when it ends with another status."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as caught:
            main(list(words))
        result = Result(int(caught.value.code or 0), self.readable(out.getvalue()), self.readable(err.getvalue()))
        assert result.status == status, f"{result.status}\n{result.out}\n{result.err}"
        return result

    def readable(self, text: str) -> str:
        """Text without the path of this folder."""
        return text.replace(f"{self.folder}/", "")


def shell_in(folder: Path) -> Shell:
    """A shell in `folder`, with copies of the kernel files."""
    for file in FILES.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    for name, content in NO_PYTHON.items():
        (folder / name).write_bytes(content)
    return Shell(folder)
