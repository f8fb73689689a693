"""The three distributions: what their metadata promise, and what their archives hold."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import tirx
from tests.architecture.tree import PACKAGES, ROOT, toml

DISTRIBUTIONS = {"tirx-core": "tirx", "tirx-backend-cuda": "tirx_cuda", "tirx-backend-trn": "tirx_trn"}
BACKENDS = [name for name in DISTRIBUTIONS if name.startswith("tirx-backend-")]


def project(distribution: str) -> dict[str, object]:
    return toml(ROOT / distribution / "pyproject.toml")["project"]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_it_has_what_its_readers_and_authors_need(distribution: str) -> None:
    folder = ROOT / distribution
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert (folder / "tox.ini").exists()
    assert (PACKAGES[DISTRIBUTIONS[distribution]] / "py.typed").exists()
    assert project(distribution)["license"] == "Apache-2.0"
    assert project(distribution)["requires-python"] == ">=3.10"


@pytest.mark.parametrize("distribution", BACKENDS)
def test_entry_points_name_the_plugin_module(distribution: str) -> None:
    package = DISTRIBUTIONS[distribution]
    groups = project(distribution)["entry-points"]
    assert set(groups) == {"tirx.api.v1", "tirx.provides"}
    assert {target for group in groups.values() for target in group.values()} == {f"{package}.plugin"}
    assert (PACKAGES[package] / "plugin.py").exists()


def test_core_says_its_version() -> None:
    assert tirx.__version__ == project("tirx-core")["version"]


@pytest.mark.parametrize("distribution", BACKENDS)
def test_a_backend_admits_the_core_beside_it(distribution: str) -> None:
    core = project("tirx-core")["version"]
    assert any(requirement.startswith(f"tirx-core>={core}") for requirement in project(distribution)["dependencies"])


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and source archive of each distribution."""
    out = tmp_path_factory.mktemp("dist")
    for distribution in DISTRIBUTIONS:
        build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT / distribution)]
        done = subprocess.run(build, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.mark.slow
def test_archives_pass_twine(archives: Path) -> None:
    files = sorted(str(path) for path in archives.iterdir())
    assert len(files) == 2 * len(DISTRIBUTIONS)
    check = [sys.executable, "-m", "twine", "check", "--strict", *files]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_wheel_holds_every_file_of_its_package_and_nothing_else(distribution: str, archives: Path) -> None:
    package = DISTRIBUTIONS[distribution]
    tracked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."]
    listed = subprocess.run(tracked, cwd=PACKAGES[package], capture_output=True, text=True, check=True).stdout.split()
    (wheel,) = archives.glob(f"{distribution.replace('-', '_')}-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
    code = {name.removeprefix(f"{package}/") for name in names if ".dist-info/" not in name}
    assert code == {name for name in listed if (PACKAGES[package] / name).exists()}
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_source_archive_can_be_built_and_tested_from(distribution: str, archives: Path) -> None:
    (archive,) = archives.glob(f"{distribution.replace('-', '_')}-*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "tox.ini", f"src/{DISTRIBUTIONS[distribution]}/py.typed"} <= names
