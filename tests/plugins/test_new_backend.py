"""What `tirx new-backend` writes: it builds, installs beside core alone, passes its own tests and the kit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import toml
from tests.core.cli.commands import Shell
from tests.plugins.conftest import BUILD, _required, must_run


@pytest.fixture
def tirx(tmp_path, monkeypatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path)


@pytest.fixture(scope="session")
def with_pytest(tmp_path_factory) -> Path:
    """A folder with links to pytest and what it needs."""
    folder = tmp_path_factory.mktemp("with-pytest")
    for item in _required("pytest", {}).values():
        site = Path(str(item.locate_file("")))
        for top in {file.parts[0] for file in item.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (folder / top).symlink_to(site / top)
    return folder


@pytest.mark.slow
def test_it_installs_beside_core_alone_and_passes(environment, with_pytest, tirx, tmp_path) -> None:
    tirx("new-backend", "acme")
    source = tmp_path / "tirx-backend-acme"
    place = environment(fresh=True)
    must_run([sys.executable, "-c", BUILD, str(tmp_path / "wheels"), str(tmp_path / "editable"), str(source)])
    (wheel,) = (tmp_path / "wheels").glob("tirx_backend_acme-0.1.0-*.whl")
    place.install(wheel)
    (place.site / "pytest.pth").write_text(f"{with_pytest}\n")
    tested = place.start([str(place.python), "-m", "pytest", "-q", "-rf"], cwd=source, timeout=300)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    report = place.start([str(place.python.with_name("tirx")), "conform", "acme", "--only", "manifest", "--json"])
    assert json.loads(report.stdout)["counts"] == {"passed": 4, "gap": 0, "failed": 0}, report.stderr
    listed = place.start([str(place.python.with_name("tirx")), "backends", "--json"])
    assert [item["name"] for item in json.loads(listed.stdout)["backends"]] == ["acme"]


def test_names_and_versions_are_filled_in(tirx, tmp_path) -> None:
    data = json.loads(tirx("new-backend", "wide_load", "-o", "here", "--json").out)
    assert data["folder"] == "here"
    assert sorted(data["files"]) == sorted(
        path.relative_to(tmp_path / "here").as_posix() for path in (tmp_path / "here").rglob("*") if path.is_file()
    )
    project = toml(tmp_path / "here/pyproject.toml")["project"]
    assert project["name"] == "tirx-backend-wide-load"
    assert project["dependencies"] == ["numpy>=1.26", "tirx-core>=0.1.0,<0.2"]
    assert project["entry-points"]["tirx.api.v1"] == {"wide_load": "tirx_wide_load.plugin"}
    left = [
        path
        for path in (tmp_path / "here").rglob("*.*")
        if path.is_file()
        and "@"
        in path.read_text().replace("@hookimpl", "").replace("@Tx", "").replace("actions/", "").replace("@v", "")
    ]
    assert not left


def test_it_is_tested_with_the_oldest_and_the_newest_core(tirx, tmp_path) -> None:
    tirx("new-backend", "acme")
    tox = (tmp_path / "tirx-backend-acme/tox.ini").read_text()
    assert "coreoldest: {env:TIRX_CORE_OLDEST:tirx-core==0.1.0}" in tox
    assert "corenewest: {env:TIRX_CORE_NEWEST:tirx-core}" in tox
    assert "core: [oldest, newest]" in (tmp_path / "tirx-backend-acme/.github/workflows/test.yml").read_text()


def test_what_it_writes_is_formatted_and_typed(tirx, tmp_path) -> None:
    tirx("new-backend", "acme")
    source = tmp_path / "tirx-backend-acme/src"
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length=120", "--check", str(source.parent)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("Acme",), "'Acme' is no name for a backend"),
        (("9lives",), "'9lives' is no name for a backend"),
        (("generic",), "the name 'generic' is taken by core"),
        (("registry",), "the name 'registry' is taken by core"),
        (("acme", "-o", "full"), "full is not empty"),
    ],
)
def test_mistakes_are_told_before_anything_is_written(tirx, tmp_path, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    assert message in tirx("new-backend", *words, status=2).err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full"]
