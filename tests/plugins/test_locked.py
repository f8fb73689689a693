"""`tirx backends lock` and `verify` on real installations."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="module")
def locked(environment):
    """Two plugins from wheels, locked."""
    made = environment("plain", "good_extension", fresh=True)
    done = tirx(made, "lock")
    assert done.returncode == 0, done.stderr
    assert "tirx-toy-plain 1.0 (plain)\n" in done.stdout
    assert done.stdout.endswith("locked in tirx-backends.lock\n")
    return made


def tirx(environment, *words, **environ):
    return environment.start([str(environment.python.parent / "tirx"), "backends", *words], **environ)


def load(environment, name, **environ):
    code = f"from tirx import backend; print(backend.load({name!r}))"
    return environment.run(code, **environ)


def test_wheels_as_they_were_locked(locked):
    done = tirx(locked, "verify")
    assert (done.returncode, done.stdout) == (0, "all is as tirx-backends.lock has it\n")
    assert json.loads(tirx(locked, "verify", "--json").stdout)["problems"] == []
    assert load(locked, "plain", TIRX_BACKENDS_LOCK="tirx-backends.lock").returncode == 0


def test_wheels_can_be_locked_without_editables(locked):
    assert tirx(locked, "lock", "other.lock", "--no-editables").returncode == 0


def test_another_plugin_and_an_edited_file(locked):
    locked.install("prints")
    (locked.site / "toy_plain.py").write_text((locked.site / "toy_plain.py").read_text() + "\n")
    done = tirx(locked, "verify", "--json")
    assert done.returncode == 1
    found = {item["distribution"]: item["problem"] for item in json.loads(done.stdout)["problems"]}
    assert found == {
        "tirx-toy-plain": "the files of 1.0 are not those that were locked",
        "tirx-toy-prints": "1.0 is installed, and not locked",
    }
    for name, said in (("plain", "the files of 1.0 are not those"), ("prints", "and not locked")):
        refused = load(locked, name, TIRX_BACKENDS_LOCK="tirx-backends.lock")
        assert said in refused.stderr
        assert "chatter" not in refused.stderr  # it was not imported
    assert load(locked, "plain").returncode == 0
    assert tirx(locked, TIRX_BACKENDS_LOCK="tirx-backends.lock").returncode == 0
