"""`tirx new-backend NAME`."""

from __future__ import annotations

from pathlib import Path

import click

from ..backend.spelling import RESERVED, valid_name
from ..support.version import VERSION
from .output import json_option, print_json

__all__ = ["command", "write_backend"]

TEMPLATE = Path(__file__).with_name("template")

# Template -> where it goes. Templates end in .txt, so that nobody takes them for parts of core.
FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "tox.ini": "tox.ini",
    "gitignore": ".gitignore",
    "workflows/test.yml": ".github/workflows/test.yml",
    "src/__init__.py": "src/@package@/__init__.py",
    "src/plugin.py": "src/@package@/plugin.py",
    "src/kind.py": "src/@package@/kind.py",
    "src/op.py": "src/@package@/op.py",
    "src/script.py": "src/@package@/script.py",
    "src/codegen.py": "src/@package@/codegen.py",
    "src/sim.py": "src/@package@/sim.py",
    "src/tile.py": "src/@package@/tile.py",
    "src/py.typed": "src/@package@/py.typed",
    "tests/test_conformance.py": "tests/test_conformance.py",
    "tests/test_first_kernel.py": "tests/test_first_kernel.py",
    "tests/kernels.py": "tests/kernels.py",
}


@click.command("new-backend")
@click.argument("name")
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIRECTORY",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write into this new or empty folder (default: tirx-backend-NAME).",
)
@json_option
def command(name: str, folder: Path | None, as_json: bool) -> None:
    """Write a distribution with a backend to start from.

    It installs, its tests pass, and so does the conformance kit: a target kind, a first intrinsic with its emission and
    meaning, a first variant, tests, tox.ini against the oldest and newest core, a CI workflow.

    \b
    tirx new-backend acme
    tirx new-backend acme -o work/acme
    """  # noqa: D301 - click reads the backspace
    place = folder or Path(f"tirx-backend-{name.replace('_', '-')}")
    _check_name(name)
    if place.exists() and any(place.iterdir()):
        raise click.UsageError(f"{place} is not empty; name another folder with -o")
    written = write_backend(name, place)
    if as_json:
        print_json({"folder": str(place), "files": written})
        return
    for file in written:
        click.echo(f"{place}/{file}")
    click.echo(f'\npip install -e "{place}[testing]"\ntirx conform {name} --samples {place}/tests/kernels.py')


def _check_name(name: str) -> None:
    if not name or not valid_name(name):
        raise click.UsageError(f"{name!r} is no name for a backend: small letters, digits and `_`, a letter first")
    if name in RESERVED or name == "generic":
        raise click.UsageError(f"the name {name!r} is taken by core")


def write_backend(name: str, place: Path, width: int = 32) -> list[str]:
    """Write the distribution of backend `name`; the files, below `place`."""
    words = _words(name, width)
    written = []
    for template, goal in FILES.items():
        target = place / _filled(goal, words)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_filled((TEMPLATE / f"{template}.txt").read_text(encoding="utf-8"), words), encoding="utf-8")
        written.append(target.relative_to(place).as_posix())
    return written


def _words(name: str, width: int) -> dict[str, str]:
    major, minor, *_ = VERSION.split(".")
    return {
        "name": name,
        "package": f"tirx_{name}",
        "distribution": f"tirx-backend-{name.replace('_', '-')}",
        "core": VERSION,
        "next": f"{major}.{int(minor) + 1}",
        "width": str(width),
    }


def _filled(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text
