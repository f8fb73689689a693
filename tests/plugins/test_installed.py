"""Ways in which a distribution can be there, or seem to be."""

from __future__ import annotations

import shutil

import pytest

from tests.plugins.conftest import DISTRIBUTIONS

LOOK = """
    import json
    from tirx import backend
    try:
        found = backend.find("namespaces", "plain")
        error = ""
    except backend.BackendError as problem:
        found, error = None, str(problem)
    print(json.dumps([found and found.name, [item.state for item in backend.default_host().infos()], error]))
"""


@pytest.fixture(scope="module")
def bare(environment):
    """Core alone."""
    return environment()


def test_core_alone(bare):
    assert bare.ask(LOOK) == [None, [], ""]


def test_an_installed_wheel(environment):
    assert environment("plain").ask(LOOK) == ["plain", ["OK"], ""]


def test_an_editable_install_and_what_is_left_of_it(environment, tmp_path):
    place = environment(fresh=True)
    (wheel,) = (place.wheels / "editable").glob("*.whl")
    place.install(wheel)
    assert place.ask(LOOK) == ["plain", ["OK"], ""]
    for file in place.site.glob("*tirx_toy_plain*.pth"):  # as if the source had been moved
        file.write_text(f"{tmp_path}\n")
    found, states, error = place.ask(LOOK)
    assert (found, states) == (None, ["UNAVAILABLE"])
    assert "its module `toy_plain` is not there: the distribution is a remnant, or a moved editable install" in error
    assert "pip install --force-reinstall tirx-toy-plain" in error


def test_installing_and_removing_between_runs(environment):
    place = environment(fresh=True)
    assert place.ask(LOOK)[0] is None
    place.install("plain")
    assert place.ask(LOOK)[0] == "plain"
    place.pip("uninstall", "--yes", "tirx-toy-plain")
    assert place.ask(LOOK) == [None, [], ""]


def test_installing_in_a_running_session(environment):
    place = environment(fresh=True)
    found = place.ask(
        """
        import json, zipfile
        from tirx import backend
        before = backend.find("namespaces", "plain")
        zipfile.ZipFile(WHEEL).extractall(SITE)
        print(json.dumps([before, backend.find("namespaces", "plain").name]))
        """.replace("WHEEL", repr(str(place.wheel("plain")))).replace("SITE", repr(str(place.site)))
    )
    assert found == [None, "plain"]


def test_a_zipped_wheel_on_the_path(bare):
    assert bare.ask(LOOK, PYTHONPATH=str(bare.wheel("plain"))) == ["plain", ["OK"], ""]


def test_two_copies_of_one_distribution(environment, tmp_path):
    place = environment("plain")
    place.pip("install", "--no-index", "--no-deps", "--quiet", "--target", str(tmp_path), str(place.wheel("plain")))
    assert place.ask(LOOK, PYTHONPATH=str(tmp_path)) == ["plain", ["OK", "SHADOWED"], ""]


@pytest.fixture
def lying_around(bare, tmp_path):
    """A folder with an installed distribution in it."""
    bare.pip("install", "--no-index", "--no-deps", "--quiet", "--target", str(tmp_path), str(bare.wheel("plain")))
    return tmp_path


def test_a_distribution_in_the_working_directory_is_left_alone(bare, lying_around):
    assert bare.ask(LOOK, cwd=lying_around) == [None, [], ""]
    assert bare.ask(LOOK, cwd=lying_around, PYTHONPATH=str(lying_around)) == [None, [], ""]


def test_a_distribution_beside_the_script_is_left_alone(bare, lying_around):
    script = lying_around / "script.py"
    script.write_text("from tirx import backend\nprint(backend.find('namespaces', 'plain'), backend.available())\n")
    done = bare.start([str(bare.python), str(script)])
    assert done.stdout == "None ()\n"


def test_naming_the_working_directory_uses_it(bare, lying_around):
    assert bare.ask(LOOK, cwd=lying_around, TIRX_PLUGIN_PATH=".") == ["plain", ["OK"], ""]


def test_asking_for_what_lies_around_says_how_to_use_it(bare, lying_around):
    done = bare.run("from tirx import backend; backend.load('plain')", cwd=lying_around)
    assert "there is no backend `plain`" in done.stderr
    assert f"TIRX_PLUGIN_PATH={lying_around}" in done.stderr


def test_no_metadata_at_all(bare):
    folder = str(DISTRIBUTIONS / "no_metadata")
    assert bare.ask(
        """
        import json
        from tirx import backend
        before = backend.find("namespaces", "no_metadata")
        backend.register("frozen", "toy_no_metadata", provides=["namespace.no_metadata"])
        print(json.dumps([before, backend.find("namespaces", "no_metadata").name, backend.frozen.__name__]))
        """,
        PYTHONPATH=folder,
    ) == [None, "no_metadata", "toy_no_metadata"]


def test_a_read_only_cache(environment, tmp_path):
    place = environment("plain")
    blocked = tmp_path / "file"
    blocked.write_text("")
    for setting in ("0", str(blocked), "/proc/none", ""):
        assert place.ask(LOOK, TIRX_PLUGIN_CACHE=setting)[0] == "plain"


def test_a_zip_application(environment, tmp_path):
    place = environment(fresh=True)
    app = tmp_path / "app"
    place.pip("install", "--no-index", "--no-deps", "--quiet", "--target", str(app), str(place.wheel("plain")))
    (app / "__main__.py").write_text("from tirx import backend\nprint(backend.find('namespaces', 'plain').name)\n")
    archive = shutil.make_archive(str(tmp_path / "app"), "zip", app)
    done = place.start([str(place.python), archive])
    assert done.stdout == "plain\n", done.stderr


def test_importing_core_imports_no_plugin_machinery(environment):
    done = environment("plain").run(
        """
        import sys
        before = set(sys.modules)
        import tirx
        heavy = {"numpy", "pluggy", "importlib.metadata", "importlib_metadata", "inspect", "toy_plain", "tirx.wiring"}
        print(sorted(heavy & set(sys.modules) - before))
        """
    )
    assert done.stdout == "[]\n"
