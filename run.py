#!/usr/bin/env python3
"""Set up everything on a machine that has only Python, then run: `python3 run.py demo` or `python3 run.py test`.

Needs nothing but the standard library. Makes `.venv/` beside this file (system Pythons often refuse to install
packages), installs the workspace into it, and hands over. A second call finds everything in place and starts at once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
MARKER = ".interpreter"  # the file in it that says: made by this script, with this Python
OLDEST = (3, 10)
DISTRIBUTIONS = ("tirx-core[testing]", "tirx-backend-cuda[nvrtc]", "tirx-backend-trn")

USAGE = """\
usage: python3 run.py COMMAND [ARGUMENT ...]

  demo     run the example kernels: simulate, check against NumPy, compile for real GPUs
  test     run the whole test suite (arguments go to pytest)
  nox      run nox: `python3 run.py nox -l` lists everything a contributor needs
  setup    only set up; `.venv/bin/tirx` is then the command line
  clean    remove .venv/
"""

# What each command needs of the dependency groups in pyproject.toml; the demo starts sooner with less.
COMMANDS = {"demo": ("install", "demo"), "test": ("test",), "nox": ("test",), "setup": ("test",), "clean": ()}


class SetupError(Exception):
    """Something that the person at the keyboard has to put right."""


def main(arguments: list[str]) -> int:
    """Run one command; the exit code is that of the work it starts."""
    command = arguments[0] if arguments else "help"
    if command in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0
    if command not in COMMANDS:
        print(f"unknown command {command!r}\n\n{USAGE}", end="", file=sys.stderr)
        return 2
    try:
        if command == "clean":
            remove_venv()
            return 0
        set_up(COMMANDS[command])
        return work(command, arguments[1:])
    except SetupError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def work(command: str, arguments: list[str]) -> int:
    """Start the command in the environment that is now ready."""
    python = str(python_of(VENV))
    command_lines = {
        "demo": [python, str(ROOT / "docs" / "examples" / "demo.py"), *arguments],
        "test": [python, "-m", "pytest", "-n", "2", "--dist", "worksteal", "--nothing-missing", *arguments],
        "nox": [python, "-m", "nox", *arguments],
        "setup": [python, "-c", f"print('ready: {VENV.name} holds everything')"],
    }
    return subprocess.run(command_lines[command], cwd=ROOT, env=environment(), check=False).returncode


def environment() -> dict[str, str]:
    """The environment of the venv; variables that would mix in other installations are left out."""
    path = f"{python_of(VENV).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    dropped = ("PYTHONHOME", "PYTHONPATH")
    return {
        **{name: value for name, value in os.environ.items() if name not in dropped},
        "PATH": path,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "VIRTUAL_ENV": str(VENV),
    }


def set_up(groups: tuple[str, ...]) -> None:
    """Bring `.venv/` up to date for these groups; does nothing where a stamp says that it is."""
    if sys.version_info < OLDEST:
        raise SetupError(f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed; this is {sys.version.split()[0]}")
    stamps = {group: VENV / f".ready-{group}-{fingerprint()}" for group in groups}
    if all(path.exists() for path in (python_of(VENV), *stamps.values())):
        return
    start = time.monotonic()
    make_venv()
    install(groups)
    for stamp in stamps.values():
        stamp.touch()
    print(f"run.py: set up in {time.monotonic() - start:.0f} s", flush=True)


def fingerprint() -> str:
    """Changes with the interpreter and with whatever decides what is installed."""
    parts = [sys.version.encode(), sys.executable.encode(), Path(__file__).read_bytes()]
    parts += [
        path.read_bytes() for path in sorted(ROOT.glob("pyproject.toml")) + sorted(ROOT.glob("tirx-*/pyproject.toml"))
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def make_venv() -> None:
    """Make the environment anew where there is none or it belongs to another interpreter."""
    marker = VENV / MARKER
    wanted = f"{sys.executable} {sys.version}"
    if python_of(VENV).exists() and marker.exists() and marker.read_text() == wanted:
        return
    require_venv()
    remove_venv()
    step(f"making {VENV.name} with Python {sys.version.split()[0]}")
    VENV.mkdir()
    marker.touch()  # first, so that an interrupted attempt is known as ours
    run([sys.executable, "-m", "venv", str(VENV)], "the virtual environment could not be made")
    marker.write_text(wanted)


def remove_venv() -> None:
    """Remove the environment, unless somebody else made it."""
    if VENV.exists() and not (VENV / MARKER).exists():
        raise SetupError(f"{VENV} was not made by run.py; move it away and call again")
    shutil.rmtree(VENV, ignore_errors=True)


def require_venv() -> None:
    """Debian splits what `venv` needs into a package of its own; say which, before half an environment lies there."""
    try:
        import ensurepip  # noqa: F401 - only to see whether it is there
        import venv  # noqa: F401
    except ImportError:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise SetupError(
            f"this Python cannot make virtual environments; install the missing part and call again:\n"
            f"    sudo apt install python{version}-venv"
        ) from None


def install(groups: tuple[str, ...]) -> None:
    """Install tools first, then the three distributions from the tree, so that edits count at once."""
    pip = [str(python_of(VENV)), "-m", "pip", "install", "--quiet"]
    step("upgrading pip")
    run([*pip, "--upgrade", "pip>=25.1"], "pip could not be upgraded")  # older ones know no dependency groups
    step(f"installing tools ({', '.join(groups)})")
    run([*pip, *(f"--group={group}" for group in groups)], "the tools could not be installed")
    step("installing " + ", ".join(DISTRIBUTIONS))
    editable = [argument for name in DISTRIBUTIONS for argument in ("--editable", f"./{name}")]
    run([*pip, "--no-build-isolation", *editable], "the workspace could not be installed")


def run(command: list[str], failure: str) -> None:
    """Run one step of the set-up, showing what it prints."""
    if subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode != 0:
        raise SetupError(f"{failure} (see above). Is the package index reachable? Failed: {' '.join(command)}")


def step(text: str) -> None:
    """Say what is going on, at once."""
    print(f"run.py: {text}", flush=True)


def python_of(venv: Path) -> Path:
    """The interpreter inside an environment."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
