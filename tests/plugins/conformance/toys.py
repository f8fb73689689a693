"""The toy backends as installed distributions in this process, as they are or with a fault in them."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.architecture.tree import toml
from tests.plugins.conftest import DISTRIBUTIONS
from tirx import backend

_numbers = itertools.count()


class Edit(NamedTuple):
    """In `file` of a toy, `old` becomes `new`; an empty `old` puts `new` at the end."""

    file: str
    old: str
    new: str


def plant(toy: str, folder: Path, *edits: Edit) -> Path:
    """A folder with the toy installed in it, under a package name of its own: several may be imported in one process."""
    package, source = f"toy_{toy}", DISTRIBUTIONS / toy
    fresh = f"{package}_{next(_numbers)}"
    place = folder / fresh
    shutil.copytree(source / "src" / package, place / fresh, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source / "pyproject.toml", place / fresh)
    for edit in edits:
        apply(place / fresh / edit.file, edit)
    for file in [*(place / fresh).glob("*.py"), place / fresh / "pyproject.toml"]:
        file.write_text(file.read_text().replace(package, fresh))
    describe(place, toml(place / fresh / "pyproject.toml")["project"])
    return place


def apply(file: Path, edit: Edit) -> None:
    text = file.read_text()
    assert edit.old in text, f"{edit.old!r} is not in {file.name} any more"
    file.write_text(text.replace(edit.old, edit.new, 1) if edit.old else f"{text}\n{edit.new}\n")


def describe(place: Path, project: dict) -> None:
    """The metadata that an installer would have written."""
    metadata = place / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    needs = "".join(f"Requires-Dist: {item}\n" for item in project["dependencies"])
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n{needs}"
    metadata.joinpath("METADATA").write_text(head)
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in found.items()) for group, found in groups]
    metadata.joinpath("entry_points.txt").write_text("\n".join(lines))


@contextmanager
def installed(*places: Path) -> Iterator[None]:
    """These folders are searched for backends, before those where a toy may be installed; then all is as before."""
    path, folders = list(sys.path), [str(place) for place in places]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(folders), prepend=os.pathsep)  # for processes that are started
        sys.path[:0] = folders
        backend.refresh()
        try:
            yield
        finally:
            for name in backend.default_host().loaded():
                if name.partition(".")[0] in ("wavefront", "dataflow"):
                    backend.unload(name)
            sys.path[:] = path
    backend.refresh()
