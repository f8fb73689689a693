"""What is found on the path, what it costs to ask again, and when the cache must not be believed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.machinery import PathFinder
from pathlib import Path

import importlib_metadata
import pytest

from tests.core.backend.toy import ACME, age, write_distribution
from tirx.backend import cache, discovery
from tirx.backend.discovery import Discovery
from tirx.backend.metadata import parse_entry_points


class Counter:
    """How often folders are scanned."""

    def __init__(self, monkeypatch) -> None:
        self.scans: list[str] = []
        real = discovery.scan_folder
        monkeypatch.setattr(discovery, "scan_folder", lambda path: self.scans.append(path) or real(path))


@pytest.fixture
def counter(monkeypatch):
    return Counter(monkeypatch)


def look(*paths: Path, cache: Path | None = None, **environ) -> Discovery:
    environ.setdefault("TIRX_PLUGIN_CACHE", str(cache or "0"))
    return Discovery(lambda: [str(path) for path in paths], environ)


def names(found: Discovery) -> list[str]:
    return [str(item.distribution) + (" shadowed" if item.shadowed_by else "") for item in found.find()]


def test_entry_points_of_other_groups_are_left_out():
    text = "# comment\n[console_scripts]\na = b:c\n\n[tirx.api.v1]\n acme = x.plugin\n"
    text += "[ tirx.provides ]\nkind.acme=x.plugin:y\n"
    assert parse_entry_points(text) == [
        ("tirx.api.v1", "acme", "x.plugin"),
        ("tirx.provides", "kind.acme", "x.plugin:y"),
    ]


def test_only_distributions_with_our_groups_are_found(tmp_path):
    write_distribution(tmp_path, "other", groups={"console_scripts": {"a": "b:c"}})
    write_distribution(tmp_path, "Acme.Toy", "2.1rc1")
    (found,) = look(tmp_path).find()
    assert str(found.distribution) == "Acme.Toy 2.1rc1"
    assert found.distribution.location == str(tmp_path)


@pytest.mark.parametrize("suffix", ["dist-info", "egg-info"])
def test_wheels_and_eggs(tmp_path, suffix):
    write_distribution(tmp_path, suffix=suffix)
    assert names(look(tmp_path)) == ["acme-toy 1.0"]


def test_an_unzipped_egg(tmp_path):
    egg = tmp_path / "acme_toy-1.0-py3.egg"
    metadata = write_distribution(egg, suffix="egg-info")
    metadata.rename(egg / "EGG-INFO")
    assert names(look(egg)) == ["acme-toy 1.0"]


def test_nothing_is_scanned_twice(tmp_path, counter):
    write_distribution(tmp_path)
    finder = look(tmp_path)
    assert finder.find() is finder.find()
    assert len(counter.scans) == 1


def test_install_upgrade_and_uninstall_are_seen(tmp_path):
    finder = look(tmp_path)
    assert names(finder) == []
    old = write_distribution(tmp_path)
    assert names(finder) == ["acme-toy 1.0"]
    for file in old.iterdir():
        file.unlink()
    old.rmdir()
    write_distribution(tmp_path, version="0.9")
    assert names(finder) == ["acme-toy 0.9"]


@pytest.mark.parametrize("suffix", ["dist-info", "egg-info"])
def test_an_edit_in_place_is_seen(tmp_path, suffix, counter):
    metadata = write_distribution(
        tmp_path, groups={"console_scripts": {}} if suffix == "egg-info" else ACME, suffix=suffix
    )
    age(tmp_path)
    look(tmp_path, cache=tmp_path / "c").find()
    finder = look(tmp_path, cache=tmp_path / "c")
    finder.find()
    (metadata / "entry_points.txt").write_text("[tirx.api.v1]\nother = acme_toy.plugin\n")
    for place in (finder, look(tmp_path, cache=tmp_path / "c")):
        assert [item.distribution.entries for item in place.find()] == [(("tirx.api.v1", "other", "acme_toy.plugin"),)]


def test_a_new_process_reads_the_cache(tmp_path, counter):
    site = tmp_path / "site"
    write_distribution(site)
    age(site)
    first = look(site, cache=tmp_path / "cache").find()
    second = look(site, cache=tmp_path / "cache").find()
    assert len(counter.scans) == 1
    assert [item.distribution.entries for item in first] == [item.distribution.entries for item in second]
    assert first[0].distribution.metadata == second[0].distribution.metadata


def test_a_folder_that_changed_just_now_is_not_cached(tmp_path, counter):
    site = tmp_path / "site"
    write_distribution(site)
    look(site, cache=tmp_path / "cache").find()
    look(site, cache=tmp_path / "cache").find()
    assert len(counter.scans) == 2


def test_turning_the_cache_off(tmp_path, counter, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    site = tmp_path / "site"
    write_distribution(site)
    age(site)
    look(site, TIRX_PLUGIN_CACHE="0").find()
    look(site, TIRX_PLUGIN_CACHE="0").find()
    assert len(counter.scans) == 2
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("damage", ["", "rubbish", "truncate", "binary", "folder"])
def test_a_damaged_cache_means_a_scan(tmp_path, damage):
    site, place = tmp_path / "site", tmp_path / "cache"
    write_distribution(site)
    age(site)
    look(site, cache=place).find()
    (file,) = place.iterdir()
    text = file.read_bytes()
    file.unlink()
    if damage == "folder":
        file.mkdir()
    else:
        file.write_bytes({"truncate": text[:-5], "binary": b"\xff\x00\t" * 50}.get(damage, damage.encode()))
    assert names(look(site, cache=place)) == ["acme-toy 1.0"]


def test_a_cache_that_cannot_be_written(tmp_path):
    site = tmp_path / "site"
    write_distribution(site)
    age(site)
    (tmp_path / "cache").write_text("a file, not a folder")
    assert names(look(site, cache=tmp_path / "cache")) == ["acme-toy 1.0"]
    assert names(look(site, cache=tmp_path / "cache" / "below")) == ["acme-toy 1.0"]


def test_a_cache_of_another_folder_under_the_same_number(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "crc32", lambda data: 1)
    for name in ("one", "two"):
        write_distribution(tmp_path / name, name, groups=ACME)
        age(tmp_path / name)
    for _ in range(2):
        assert names(look(tmp_path / "one", cache=tmp_path / "c")) == ["one 1.0"]
        assert names(look(tmp_path / "two", cache=tmp_path / "c")) == ["two 1.0"]


def test_names_that_would_break_the_cache_format(tmp_path, counter):
    write_distribution(tmp_path, groups={"tirx.api.v1": {"acme\tx": "a\tb"}})
    age(tmp_path)
    first = look(tmp_path, cache=tmp_path.parent / "cache").find()
    second = look(tmp_path, cache=tmp_path.parent / "cache").find()
    assert first[0].distribution.entries == second[0].distribution.entries


def test_processes_that_write_the_cache_at_once(tmp_path):
    site = tmp_path / "site"
    for number in range(50):
        write_distribution(site, f"toy-{number}")
    age(site)
    code = (
        "import os; from tirx.backend.discovery import Discovery\n"
        f"finder = Discovery(lambda: [{str(site)!r}], {{'TIRX_PLUGIN_CACHE': {str(tmp_path / 'cache')!r}}})\n"
        "for _ in range(20):\n    assert len(finder.find()) == 50\n    finder.forget()\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0, 0, 0, 0]
    assert len(look(site, cache=tmp_path / "cache").find()) == 50
    assert not [file for file in (tmp_path / "cache").iterdir() if file.suffix != ".txt"]


def test_the_cache_goes_to_the_users_cache_folder(tmp_path):
    assert cache.cache_folder({"XDG_CACHE_HOME": str(tmp_path)}) == str(tmp_path / "tirx" / "plugins")
    assert cache.cache_folder({"TIRX_PLUGIN_CACHE": str(tmp_path)}) == str(tmp_path)
    assert cache.cache_folder({"TIRX_PLUGIN_CACHE": "0"}) is None


def test_the_same_distribution_twice_is_the_first(tmp_path):
    write_distribution(tmp_path / "a", "acme-toy", "1.0")
    write_distribution(tmp_path / "b", "Acme_Toy", "2.0")
    assert names(look(tmp_path / "a", tmp_path / "b")) == ["acme-toy 1.0", "Acme_Toy 2.0 shadowed"]
    assert names(look(tmp_path / "b", tmp_path / "a")) == ["Acme_Toy 2.0", "acme-toy 1.0 shadowed"]


def test_a_copy_without_entry_points_shadows_too(tmp_path, counter):
    write_distribution(tmp_path / "a", groups={})
    write_distribution(tmp_path / "b")
    for folder in ("a", "b"):
        age(tmp_path / folder)
    for _ in range(2):  # scanned, then from the cache
        assert names(look(tmp_path / "a", tmp_path / "b", cache=tmp_path / "c")) == ["acme-toy 1.0 shadowed"]
    assert len(counter.scans) == 2


def test_one_folder_under_two_names_is_searched_once(tmp_path):
    write_distribution(tmp_path / "site")
    (tmp_path / "link").symlink_to(tmp_path / "site")
    assert names(look(tmp_path / "site", tmp_path / "link", tmp_path / "site")) == ["acme-toy 1.0"]


def test_a_zip_file_on_the_path(tmp_path):
    metadata = write_distribution(tmp_path / "in")
    archive = tmp_path / "bundle.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for member in metadata.iterdir():
            file.write(member, f"{metadata.name}/{member.name}")
    age(archive)
    assert names(look(archive, cache=tmp_path / "c")) == ["acme-toy 1.0"]
    assert names(look(archive, cache=tmp_path / "c")) == ["acme-toy 1.0"]


def test_folders_that_are_not_there(tmp_path):
    assert names(look(tmp_path / "none", Path("/none/lib.zip"), Path("relative"))) == []


def test_the_working_directory_is_not_searched(tmp_path, monkeypatch):
    write_distribution(tmp_path)
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", str(tmp_path)):
        finder = Discovery(lambda path=path: [path], {"TIRX_PLUGIN_CACHE": "0"})
        assert names(finder) == []
        assert [item.name for item in finder.not_searched()] == ["acme-toy"]


def test_naming_the_working_directory(tmp_path, monkeypatch):
    write_distribution(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert names(look(TIRX_PLUGIN_PATH=str(tmp_path))) == ["acme-toy 1.0"]
    assert names(look(TIRX_PLUGIN_PATH=f"{os.pathsep}.{os.pathsep}/none")) == ["acme-toy 1.0"]


def test_a_site_folder_is_searched_even_from_inside(tmp_path, monkeypatch):
    write_distribution(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("site.getsitepackages", lambda: [str(tmp_path)])
    assert names(look(tmp_path)) == ["acme-toy 1.0"]


def test_the_directory_of_the_script_is_not_searched(tmp_path):
    write_distribution(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(
        "from tirx.backend.discovery import Discovery\n"
        "import os; finder = Discovery(environ={'TIRX_PLUGIN_CACHE': '0'})\n"
        "print([i.distribution.name for i in finder.find() if i.distribution.name == 'acme-toy'], finder.not_searched())\n"
    )
    done = subprocess.run([sys.executable, script], cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout == f"[] (<Distribution acme-toy 1.0 in {tmp_path}>,)\n"


def test_a_deleted_working_directory(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    write_distribution(tmp_path / "site")
    assert names(look(tmp_path / "site")) == ["acme-toy 1.0"]


class Foreign:
    """A finder that knows distributions which lie on no path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        return None

    def find_distributions(self, context):
        inner = importlib_metadata.DistributionFinder.Context(path=[str(self.folder)])
        return importlib_metadata.MetadataPathFinder.find_distributions(inner)


def test_a_foreign_finder_is_asked_and_nothing_is_cached(tmp_path, monkeypatch, counter):
    write_distribution(tmp_path / "hidden", "hidden-toy")
    write_distribution(tmp_path / "site")
    age(tmp_path / "site")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Foreign(tmp_path / "hidden")])
    finder = look(tmp_path / "site", cache=tmp_path / "cache")
    assert sorted(names(finder)) == ["acme-toy 1.0", "hidden-toy 1.0"]
    write_distribution(tmp_path / "hidden", "second-toy")
    assert sorted(names(finder)) == ["acme-toy 1.0", "hidden-toy 1.0", "second-toy 1.0"]
    assert not (tmp_path / "cache").exists()
    assert counter.scans == []


def test_finders_that_only_import_do_not_slow_discovery_down(tmp_path, monkeypatch, counter):
    write_distribution(tmp_path)
    finder = type("ImportOnly", (), {"find_spec": lambda *_: None})()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder, PathFinder])
    assert names(look(tmp_path)) == ["acme-toy 1.0"]
    assert len(counter.scans) == 1


def test_forgetting_scans_again(tmp_path, counter):
    site = tmp_path / "site"
    write_distribution(site)
    age(site)
    finder = look(site, cache=tmp_path / "cache")
    finder.find()
    finder.forget()
    finder.find()
    assert len(counter.scans) == 2
