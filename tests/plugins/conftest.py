"""Fresh environments with real distributions in them, to look at from outside.

Every distribution in `distributions/` and tirx-core itself is built into a wheel once for the whole run; pip installs
wheels into virtual environments that share the libraries of the running one and nothing else of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import venv
from collections.abc import Callable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
DISTRIBUTIONS = HERE / "distributions"
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"

BUILD = """
import os, sys
from hatchling.build import build_editable, build_wheel
out, editables, *folders = sys.argv[1:]
for folder in folders:
    os.chdir(folder)
    build_wheel(out)
os.chdir(folders[-1])
build_editable(editables)
"""


def must_run(command: list[str], env: dict[str, str] | None = None) -> None:
    """Run a command; fail with what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


class Environment:
    """A virtual environment with tirx-core and some distributions."""

    def __init__(self, folder: Path, wheels: Path, libraries: Path) -> None:
        self.folder = folder
        self.wheels = wheels
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        venv.create(folder / "venv", symlinks=True, with_pip=False)
        self.python = folder / "venv" / "bin" / "python"
        self.site = folder / "venv" / "lib" / f"python{VERSION}" / "site-packages"
        (self.site / "shared_libraries.pth").write_text(f"{libraries}\n")

    def install(self, *names: str | Path) -> None:
        """Install wheels: by the folder's name below `distributions/`, or files."""
        files = [name if isinstance(name, Path) else self.wheel(name) for name in names]
        self.pip("install", "--no-index", "--no-deps", "--no-compile", "--quiet", *map(str, files))

    def wheel(self, name: str) -> Path:
        """The wheel of a distribution."""
        stem = "tirx_core" if name == "tirx-core" else f"tirx_toy_{name}"
        (file,) = self.wheels.glob(f"{stem}-*.whl")
        return file

    def version(self, name: str) -> str:
        """The version of an installed distribution."""
        return self.wheel(name).name.split("-")[1]

    def pip(self, *arguments: str) -> None:
        """Run the running environment's pip on this one."""
        command = [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check", *arguments]
        must_run(command, env=self.environ())

    def environ(self, **more: str) -> dict[str, str]:
        """The environment of processes: of the tests' own settings only what is given."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TIRX_", "PYTHON", "XDG_"))}
        return {**kept, "HOME": str(self.home), **more}

    def run(self, code: str, *, cwd: Path | None = None, timeout: float = 60, **environ: str):
        """Run Python code; the finished process."""
        return self.start([str(self.python), "-c", textwrap.dedent(code)], cwd=cwd, timeout=timeout, **environ)

    def start(self, command: list[str], *, cwd: Path | None = None, timeout: float = 60, **environ: str):
        """Run a command; the finished process."""
        place, settings = cwd or self.home, self.environ(**environ)
        return subprocess.run(
            command, cwd=place, env=settings, capture_output=True, text=True, timeout=timeout, check=False
        )

    def ask(self, code: str, **options):
        """Run Python code that must succeed and print one JSON value; that value."""
        done = self.run(code, **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def _required(name: str, seen: dict[str, Distribution]) -> dict[str, Distribution]:
    """The installed distributions that one needs, itself included."""
    if name in seen:
        return seen
    try:
        seen[name] = distribution(name)
    except PackageNotFoundError:  # only on other Pythons or systems
        return seen
    for text in seen[name].requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            _required(requirement.name, seen)
    return seen


@pytest.fixture(scope="session")
def libraries(tmp_path_factory) -> Path:
    """A folder with links to the libraries that tirx-core needs."""
    folder = tmp_path_factory.mktemp("libraries")
    needed = _required("tirx-core", {})
    del needed["tirx-core"]
    for item in needed.values():
        site = Path(str(item.locate_file("")))
        for top in {file.parts[0] for file in item.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (folder / top).exists():
                (folder / top).symlink_to(site / top)
    return folder


@pytest.fixture(scope="session")
def wheels(tmp_path_factory) -> Path:
    """A folder with the wheels of tirx-core and all distributions; `editable/` in it has an editable one of `plain`."""
    folder = tmp_path_factory.mktemp("wheels")
    folders = sorted(str(path.parent) for path in DISTRIBUTIONS.glob("*/pyproject.toml") if path.parent.name != "plain")
    sources = [str(ROOT / "tirx-core"), *folders, str(DISTRIBUTIONS / "plain")]
    command = [sys.executable, "-c", BUILD, str(folder), str(folder / "editable"), *sources]
    (folder / "editable").mkdir()
    must_run(command)
    return folder


@pytest.fixture(scope="session")
def environment(tmp_path_factory, wheels, libraries) -> Callable[..., Environment]:
    """Make an environment with these distributions; the same ones give the same environment."""
    made: dict[tuple[str, ...], Environment] = {}

    def make(*names: str, fresh: bool = False) -> Environment:
        if names in made and not fresh:
            return made[names]
        new = Environment(tmp_path_factory.mktemp("environment"), wheels, libraries)
        new.install("tirx-core", *names)
        if not fresh:
            made[names] = new
        return new

    return make
