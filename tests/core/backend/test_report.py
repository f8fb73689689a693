"""`tirx backends` and `tirx why`: complete, also about what is broken, and importing nothing."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from tests.core.backend.toy import ACME, GOOD
from tirx.backend import BackendError, default, report, why
from tirx.backend.probe import ProbeResult


@pytest.fixture
def host(world, monkeypatch):
    """The host of this process, for one test."""
    made = world.host()
    monkeypatch.setattr(default, "_host", made)
    return made


def test_no_backends(host):
    assert report.backends_text() == "No backend is installed."
    assert report.backends_data()["backends"] == []


def test_one_line_each_and_remarks_below(world, host):
    world.install(GOOD)
    world.install("raise RuntimeError", "new-toy", groups={"tirx.api.v2": {"new": "new_toy.plugin"}})
    world.install("raise RuntimeError('no luck')", "bad-toy", groups={"tirx.api.v1": {"bad": "bad_toy.plugin"}})
    with pytest.raises(BackendError):
        host.load("bad")
    assert report.backends_text() == (
        "backend  state         distribution  entry point\n"
        "acme     NOT LOADED    acme-toy 1.0  acme_toy.plugin (group tirx.api.v1)\n"
        "bad      FAILED        bad-toy 1.0   bad_toy.plugin (group tirx.api.v1)\n"
        "new      INCOMPATIBLE  new-toy 1.0   new_toy.plugin (group tirx.api.v2)\n"
        "bad: FAILED: while it was imported: RuntimeError: no luck\n"
        f"  at {world.site}/bad_toy/plugin.py:1\n"
        "  what to do: repair or upgrade it (pip install --upgrade bad-toy), or work without it: TIRX_BACKENDS=-bad\n"
        "new: INCOMPATIBLE: it speaks plugin API 2, tirx-core 0.1 speaks 1\n"
        "  what to do: upgrade it: pip install --upgrade tirx-core"
    )
    assert "acme_toy" not in sys.modules
    assert "new_toy" not in sys.modules


def test_data_is_json_and_has_the_five_facts(world, host):
    world.install("raise RuntimeError('no luck')")
    with pytest.raises(BackendError):
        host.load("acme")
    data = json.loads(json.dumps(report.backends_data()))
    (record,) = data["backends"]
    assert record["entry_point"] == "acme = acme_toy.plugin (group tirx.api.v1)"
    assert (record["distribution"], record["version"]) == ("acme-toy", "1.0")
    assert record["cause"] == "while it was imported: RuntimeError: no luck"
    assert record["todo"].startswith("repair or upgrade it")
    assert "RuntimeError: no luck" in record["traceback"]
    assert data["api"] == {"current": 1, "accepted": [1]}
    assert data["core"] == {"distribution": "tirx-core", "version": "0.1"}


def test_settings_that_match_nothing_are_noted(world, host):
    world.install(GOOD)
    host.environ.update(TIRX_BACKENDS="acme,typo", TIRX_EXTENSIONS="acme.fast")
    assert report.backends_text().endswith(
        "note: TIRX_BACKENDS names `typo`, which is not installed\n"
        "note: TIRX_EXTENSIONS names `acme.fast`, which is not installed"
    )
    assert report.backends_data()["settings"]["TIRX_BACKENDS"] == "acme,typo"


def test_enabled_extensions_are_noted_and_told(world, host):
    world.install(GOOD)
    world.extension(GOOD)
    assert "note: " not in report.backends_text()
    assert (
        "  acts          where it is enabled: TIRX_EXTENSIONS=acme.fast, [tool.tirx] of pyproject.toml"
        in report.why("acme.fast")
    )
    host.environ["TIRX_EXTENSIONS"] = "acme.fast"
    assert report.backends_text().endswith("note: TIRX_EXTENSIONS enables acme.fast")
    assert "  acts          here: TIRX_EXTENSIONS enables it" in report.why("acme.fast")


def test_probes_are_shown(world, host):
    world.install(GOOD)
    bad = {"acme": ProbeResult("acme", "FAILED", "it did not finish within 10 s", 10.0)}
    assert report.backends_text(bad) == (
        "backend  state                               distribution  entry point\n"
        "acme     NOT LOADED (probed: FAILED, 10.0 s)  acme-toy 1.0  acme_toy.plugin (group tirx.api.v1)\n"
        "acme: acme-toy 1.0 failed when probed: it did not finish within 10 s\n"
        "  what to do: repair or upgrade acme-toy, or work without it: TIRX_BACKENDS=-acme"
    ).replace("state                               dist", "state                                dist")
    assert report.backends_data(bad)["backends"][0]["probe"]["ok"] is False


def test_why_tells_the_whole_story(world, host):
    world.install(GOOD)
    expected = (
        "backend acme: NOT LOADED\n"
        "  entry point   acme = acme_toy.plugin (group tirx.api.v1)\n"
        f"  distribution  acme-toy 1.0, in {world.site}\n"
        "  promises      kind.acme\n"
        "  cause         nothing speaks against it; it is loaded when one of its names is asked for"
    )
    for name in ("acme", "acme-toy", "kind.acme"):
        assert why(name) == expected
    assert "acme_toy" not in sys.modules


def test_why_of_a_name_that_is_loaded(world, host):
    world.install(GOOD)
    world.extension(GOOD.replace('"acme"', '"quick"'), provides=["name.quick"])
    host.load("acme")
    assert why("quick") == (
        "extension acme.fast: OK\n"
        "  entry point   acme.fast = fast_toy.plugin (group tirx.extensions)\n"
        f"  distribution  fast-toy 1.0, in {world.site}\n"
        "  promises      name.quick\n"
        "  rows          1 kinds, 1 names\n"
        "  acts          where it is enabled: TIRX_EXTENSIONS=acme.fast, [tool.tirx] of pyproject.toml, "
        'extensions=["acme.fast"]\n'
        "  cause         it was asked for, and nothing spoke against it\n"
        "kinds 'quick' is given by fast-toy 1.0\n"
        "names 'quick' is given by fast-toy 1.0"
    )
    assert "  extensions    acme.fast" in why("acme")
    assert why("generic") == "kinds 'generic' is given by tirx-core 0.1"


def test_why_of_a_failure(world, host):
    world.install("raise RuntimeError('no luck')")
    with pytest.raises(BackendError):
        host.load("acme")
    assert "  cause         while it was imported: RuntimeError: no luck\n" in why("acme")
    assert f"  raised at     {world.site}/acme_toy/plugin.py:1\n" in why("acme")


def test_why_of_a_remnant(world, host):
    world.install(GOOD)
    shutil.rmtree(world.site / "acme_toy")
    assert "backend acme: UNAVAILABLE" in why("acme")
    assert "  what to do    reinstall it (pip install --force-reinstall acme-toy)" in why("acme")


def test_why_of_copies(world, host):
    world.install(GOOD)
    second = world.add_folder("second")
    world.install(GOOD, version="2.0", site=second)
    text = why("acme")
    assert text.startswith("backend acme: NOT LOADED")
    default._host = world.host()
    assert f"another copy of acme-toy comes first on the path, in {world.site}" in why("acme")


def test_why_of_nothing(world, host):
    world.install(GOOD)
    assert why("acmee") == "nothing that is installed offers `acmee`\n  did you mean `acme`?"
    assert why("opencl") == "nothing that is installed offers `opencl`\n  pip install tirx-backend-opencl"
    assert why("zzz") == "nothing that is installed offers `zzz`"


def test_why_of_something_in_the_working_directory(world, host, monkeypatch):
    world.install(GOOD, groups=ACME)
    monkeypatch.chdir(world.site)
    assert f"to use it: TIRX_PLUGIN_PATH={world.site}" in why("acme")


def test_why_knows_the_language_by_its_usual_name(world, host):
    world.install(GOOD)
    assert report.why_data("Tx.acme") == report.why_data("acme")
    assert why("Tx.zzz") == "nothing that is installed offers `zzz`"
