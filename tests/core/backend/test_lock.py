"""The lock: what was tested, and nothing else, is imported."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

from tests.core.backend.toy import Kind, write_distribution
from tirx.backend import BackendError, hookimpl, lock
from tirx.backend.candidates import State
from tirx.backend.lock import make_lock, verify_lock, write_lock

EXTENSION = """
    from tirx.backend import hookimpl

    @hookimpl
    def tirx_tags():
        return ["acme/fast"]
"""


@pytest.fixture(autouse=True)
def core(monkeypatch):
    """Core is looked at anew in each test."""
    monkeypatch.setattr(lock, "_imported", {})


@pytest.fixture
def locked(world):
    """`acme` is installed and locked; the file of the lock."""
    world.install()
    file = str(world.folder / "a.lock")
    write_lock(make_lock(world.host()), file)
    return file


def problems(world, file):
    return {item["distribution"]: item["problem"] for item in verify_lock(world.host(), file)}


def refused(world, file, name="acme"):
    host = world.host(TIRX_BACKENDS_LOCK=file)
    with pytest.raises(BackendError) as caught:
        host.load(name)
    assert host.info(name).state == State.FAILED
    assert "acme_toy.plugin" not in sys.modules
    return str(caught.value)


def test_what_is_locked_loads(world, locked):
    assert problems(world, locked) == {}
    host = world.host(TIRX_BACKENDS_LOCK=locked)
    host.load("acme")
    assert host.find("kinds", "acme").name == "acme"
    assert "acme_toy" in sys.modules


def test_making_and_verifying_import_nothing(world, locked):
    problems(world, locked)
    assert "acme_toy" not in sys.modules


def test_the_file_says_what_is_locked(world, locked):
    core, acme = json.loads(Path(locked).read_text())["distributions"]
    assert core["distribution"] == "tirx-core"
    assert acme["distribution"] == "acme-toy"
    assert (acme["version"], acme["backends"], acme["editable"]) == ("1.0", ["acme"], False)
    assert acme["digest"].startswith("sha256:")


@pytest.mark.parametrize("file", ["__init__.py", "plugin.py", "table.csv", "deep/new.py"])
def test_a_changed_or_added_file_is_refused(world, locked, file):
    path = world.site / "acme_toy" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + "\n# changed\n")
    assert problems(world, locked) == {"acme-toy": "the files of 1.0 are not those that were locked"}
    text = refused(world, locked)
    assert f"acme-toy is not as {locked} (TIRX_BACKENDS_LOCK) has it: the files of 1.0 are not those" in text
    assert f"tirx backends lock {locked}" in text


def test_a_removed_file_is_refused(world, locked):
    (world.site / "acme_toy/__init__.py").unlink()
    assert "acme-toy" in problems(world, locked)


def test_compiled_caches_do_not_count(world, locked):
    cache = world.site / "acme_toy/__pycache__"
    cache.mkdir()
    (cache / "plugin.cpython-311.pyc").write_bytes(b"anything")
    assert problems(world, locked) == {}


def test_another_version_is_refused(world, locked):
    (world.site / "acme_toy-1.0.dist-info").rename(world.site / "acme_toy-1.1.dist-info")
    write_distribution(world.site, version="1.1")
    assert problems(world, locked) == {"acme-toy": "1.1 is installed, 1.0 is locked"}
    assert "1.1 is installed, 1.0 is locked" in refused(world, locked)


def test_what_is_not_locked_is_refused(world, locked):
    world.install("raise RuntimeError", "other-toy", groups={"tirx.api.v1": {"other": "other_toy.plugin"}})
    assert problems(world, locked) == {"other-toy": "1.0 is installed, and not locked"}
    assert "and not locked" in refused(world, locked, "other")


def test_what_is_not_installed_is_reported(world, locked):
    empty = world.folder / "empty"
    empty.mkdir()
    world.paths = [str(empty)]
    assert problems(world, locked) == {"acme-toy": "1.0 is locked, and not installed or not usable"}


def test_extensions_are_locked_too(world, locked):
    world.extension(EXTENSION)
    host = world.host(TIRX_BACKENDS_LOCK=locked)
    host.load("acme")  # a refused extension does not fail its host
    assert host.info("acme.fast").state == State.FAILED
    write_lock(make_lock(world.host()), locked)
    again = world.host(TIRX_BACKENDS_LOCK=locked)
    again.load("acme")
    assert again.info("acme.fast").state == State.OK


def test_a_copy_that_shadows_the_files_is_what_counts(world, locked, monkeypatch):
    other = world.folder / "first"
    package = other / "acme_toy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "plugin.py").write_text("raise RuntimeError('the wrong one')")
    monkeypatch.setattr(sys, "path", [str(other), *sys.path])
    assert "the files of 1.0 are not those" in refused(world, locked)


def test_every_recorded_package_counts(world):
    plugin = world.install()
    helper = world.site / "acme_helper.py"
    helper.write_text("x = 1\n")
    record = "acme_toy/plugin.py,sha256=a,1\nacme_helper.py,sha256=b,1\n../../bin/acme,,\nshare/doc.txt,,\n"
    (world.site / "acme_toy-1.0.dist-info/RECORD").write_text(record)
    assert plugin.exists()
    file = str(world.folder / "a.lock")
    write_lock(make_lock(world.host()), file)
    helper.write_text("x = 2\n")
    assert "acme-toy" in problems(world, file)


def test_an_editable_is_its_tree_or_refused(world):
    tree = world.folder / "checkout"
    package = tree / "acme_toy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "plugin.py").write_text("")
    write_distribution(world.site)
    world.monkeypatch.setattr(sys, "path", [*sys.path, str(tree)])
    made = make_lock(world.host())
    assert made["distributions"][1]["editable"]
    with pytest.raises(BackendError, match=r"installed in editable mode, so that its files may change: .*acme-toy"):
        make_lock(world.host(), editables=False)
    file = str(world.folder / "a.lock")
    write_lock(made, file)
    (package / "plugin.py").write_text("# edited\n")
    assert "acme-toy" in problems(world, file)


def test_a_namespace_package_is_the_plugin_s_part_of_it(world):
    mine, other = world.site / "company/tirx_part", world.site / "company/other_part"
    for folder in (mine, other):
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
    (mine / "plugin.py").write_text("")
    write_distribution(world.site, groups={"tirx.api.v1": {"acme": "company.tirx_part.plugin"}})
    file = str(world.folder / "a.lock")
    write_lock(make_lock(world.host()), file)
    (other / "new.py").write_text("")
    assert problems(world, file) == {}
    (mine / "new.py").write_text("")
    assert "acme-toy" in problems(world, file)


def test_a_zip_file_is_locked_whole(world):
    archive = world.folder / "site.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("acme_toy/__init__.py", "")
        made.writestr("acme_toy/plugin.py", "")
    write_distribution(world.site)
    world.monkeypatch.setattr(sys, "path", [*sys.path, str(archive)])
    file = str(world.folder / "a.lock")
    write_lock(make_lock(world.host()), file)
    assert problems(world, file) == {}
    with zipfile.ZipFile(archive, "a") as made:
        made.writestr("acme_toy/more.py", "")
    assert "acme-toy" in problems(world, file)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("", "is damaged: "),
        ("[]", "is not of format 1"),
        ('{"format": 99}', "is not of format 1"),
        ('{"format": 1, "distributions": []}', "was made with None"),
        (
            json.dumps({"format": 1, "python": sys.implementation.cache_tag, "distributions": [{"version": "1.0"}]}),
            "is damaged: entries lack their fields",
        ),
    ],
)
def test_a_lock_that_cannot_be_understood_lets_nothing_in(world, content, said):
    world.install()
    file = world.folder / "bad.lock"
    if content is not None:
        file.write_text(content)
    assert said in refused(world, str(file))
    with pytest.raises(BackendError, match=r"the lock .*bad.lock"):
        verify_lock(world.host(), str(file))


def test_a_lock_that_cannot_be_written_is_an_error(world):
    with pytest.raises(BackendError, match=r"cannot write .*: No such file or directory"):
        write_lock({}, str(world.folder / "no/such/folder/a.lock"))


def test_an_empty_setting_is_none(world):
    world.install()
    world.host(TIRX_BACKENDS_LOCK="").load("acme")


def test_what_the_program_registers_is_its_own_affair(world, locked):
    class Plugin:
        @hookimpl
        def tirx_kinds(self):
            return [Kind("mine")]

    host = world.host(TIRX_BACKENDS_LOCK=locked)
    host.register("mine", Plugin())
    host.load("mine")
    assert host.info("mine").state == State.OK


def test_another_entry_point_into_the_same_files_is_refused(world, locked):
    """The module that is loaded decides, and metadata says which."""
    (world.site / "acme_toy/other.py").write_text("raise AssertionError\n")
    write_lock(make_lock(world.host()), locked)
    write_distribution(world.site, groups={"tirx.api.v1": {"acme": "acme_toy.other"}})
    assert "are not those that were locked" in problems(world, locked)["acme-toy"]
    assert "are not those that were locked" in refused(world, locked)


def test_what_a_link_points_to_counts(world):
    world.install()
    elsewhere = world.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "__init__.py").write_text("")
    (world.site / "acme_toy/linked").symlink_to(elsewhere, target_is_directory=True)
    (world.site / "acme_toy/round").symlink_to(world.site / "acme_toy", target_is_directory=True)
    (world.site / "acme_toy/nowhere.py").symlink_to(elsewhere / "missing.py")
    file = str(world.folder / "a.lock")
    write_lock(make_lock(world.host()), file)
    assert problems(world, file) == {}
    (elsewhere / "__init__.py").write_text("# edited\n")
    assert "acme-toy" in problems(world, file)


def test_compiled_modules_without_source_count(world, locked):
    """Python imports `fast.pyc` where there is no `fast.py`."""
    (world.site / "acme_toy/fast.pyc").write_bytes(b"code")
    assert "acme-toy" in problems(world, locked)


def test_recorded_modules_of_a_namespace_count(world):
    for name in ("part", "helper", "foreign"):
        (world.site / "company" / name).mkdir(parents=True)
        (world.site / "company" / name / "__init__.py").write_text("")
    (world.site / "company/part/plugin.py").write_text("")
    metadata = write_distribution(world.site, groups={"tirx.api.v1": {"acme": "company.part.plugin"}})
    (metadata / "RECORD").write_text("company/part/plugin.py,,\ncompany/helper/__init__.py,,\n")
    file = str(world.folder / "a.lock")
    write_lock(make_lock(world.host()), file)
    (world.site / "company/foreign/new.py").write_text("")
    assert problems(world, file) == {}
    (world.site / "company/helper/new.py").write_text("")
    assert "acme-toy" in problems(world, file)


def test_files_that_run_when_python_starts_count(world):
    world.install()
    metadata = next(world.site.glob("acme_toy-*.dist-info"))
    (metadata / "RECORD").write_text("acme_toy/__init__.py,,\nacme_start.pth,,\n")
    (world.site / "acme_start.pth").write_text("import sys\n")
    file = str(world.folder / "a.lock")
    write_lock(make_lock(world.host()), file)
    assert problems(world, file) == {}
    (world.site / "acme_start.pth").write_text("import os\n")
    assert "acme-toy" in problems(world, file)


def test_a_lock_of_another_python_lets_nothing_in(world, locked):
    found = json.loads(Path(locked).read_text())
    found["python"] = "cpython-39"
    write_lock(found, locked)
    with pytest.raises(BackendError, match=r"was made with cpython-39, and this is cpython-\d+") as caught:
        verify_lock(world.host(), locked)
    assert "tirx backends lock" in str(caught.value)
    assert "was made with cpython-39" in refused(world, locked)


def test_a_core_that_differs_lets_nothing_in(world, locked):
    found = json.loads(Path(locked).read_text())
    found["distributions"][0]["digest"] = "sha256:0"
    write_lock(found, locked)
    assert "tirx-core is not as" in refused(world, locked)
