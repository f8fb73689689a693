"""The functions of `tirx.backend`, which speak for the host of this process."""

from __future__ import annotations

import pickle
import sys

import pytest

from tests.core.backend import toy_wiring
from tests.core.backend.toy import GOOD, Kind, Variant
from tirx import backend
from tirx.backend import BackendError, default


@pytest.fixture
def host(world, monkeypatch):
    """The host of this process, for one test."""
    made = world.host()
    monkeypatch.setattr(default, "_host", made)
    return made


def test_load_gives_the_package(world, host):
    world.install(GOOD)
    assert backend.load("acme") is sys.modules["acme_toy"]
    assert backend.is_loaded("acme")
    assert backend.is_loaded("core")
    backend.unload("acme")
    assert not backend.is_loaded("acme")


def test_an_attribute_is_the_package_of_that_backend(world, host):
    world.install(GOOD)
    assert backend.acme is sys.modules["acme_toy"]
    assert backend.is_loaded("acme")


def test_an_unknown_attribute_has_hints(world, host):
    world.install(GOOD)
    with pytest.raises(AttributeError) as caught:
        _ = backend.acmee
    assert str(caught.value) == (
        "module 'tirx.backend' has no attribute 'acmee'\nthere is no backend `acmee`\n  help: did you mean `acme`?"
    )
    assert not hasattr(backend, "__wrapped__")
    assert not backend.is_loaded("acme")


def test_the_attribute_of_a_broken_backend_is_a_backend_error(world, host):
    world.install("raise RuntimeError('broken')")
    with pytest.raises(BackendError, match="broken"):
        _ = backend.acme


def test_dir_loads_nothing(world, host):
    world.install("raise RuntimeError")
    assert "load" in dir(backend)
    assert "acme_toy" not in sys.modules


def test_looking_up(world, host):
    world.install(GOOD)
    assert backend.available() == ("acme",)
    assert backend.names("kinds") == ["acme", "generic"]
    assert backend.provides("kind", "acme") == ("acme",)
    assert backend.find("kinds", "acme").name == "acme"
    assert "acme" in backend.registry().rows("kinds")
    assert backend.info("acme").rows == {"kinds": 1, "names": 1}
    assert not backend.load_provider("kind", "acme")  # loaded already
    backend.refresh()
    assert backend.is_loaded("acme")


def test_hints_for_what_is_missing(world, host):
    world.install(GOOD)
    assert backend.hint_for("kinds", "acmee") == "did you mean `acme`?"
    assert backend.hint_for("kinds", "acmee", alike=False) is None
    assert backend.hint_for("kinds", "opencl", alike=False) == "pip install tirx-backend-opencl"
    assert backend.hint_for("kinds", "opencl") == "pip install tirx-backend-opencl"
    assert backend.hint_for("kinds", "zzz") is None
    world.install(GOOD, name="tirx_backend_opencl", groups={"tirx.api.v1": {"other": "tirx_backend_opencl.plugin"}})
    assert backend.hint_for("kinds", "opencl") == (
        "tirx_backend_opencl 1.0 is installed and does not have it; another version may"
    )
    host.environ["TIRX_BACKENDS"] = ""
    assert backend.hint_for("kinds", "acme") == (
        "acme-toy 1.0 offers it, but is DISABLED: TIRX_BACKENDS is empty: it allows none; "
        "to use it, add acme to TIRX_BACKENDS or unset that variable"
    )


def test_register(host):
    backend.register("acme", type("Plugin", (), {"tirx_kinds": staticmethod(backend.hookimpl(lambda: [Kind("acme")]))}))
    backend.load("acme")
    assert backend.find("kinds", "acme")


class Stored(Kind):
    """A row that pickles as every row should."""

    def __reduce__(self):
        return backend.row_reference("kinds", self.name)


def test_rows_pickle_as_references(world, host):
    world.install(
        GOOD.replace("toy import Kind,", "test_api import Stored as Kind\n    from tests.core.backend.toy import")
    )
    row = backend.find("kinds", "acme")
    text = pickle.dumps(row)
    assert b"width" not in text
    assert pickle.loads(text) is row
    backend.unload("acme")
    assert pickle.loads(text).name == "acme"  # loads its owner


def test_a_row_of_nobody_does_not_pickle(host):
    with pytest.raises(BackendError, match="'acme' is not among the kinds of any loaded backend"):
        pickle.dumps(Stored("acme"))


def test_a_reference_to_a_row_that_is_gone(world, host):
    world.install(GOOD)
    with pytest.raises(
        BackendError, match="`acme` has no 'gone' among its kinds\n  help: it was stored with another version"
    ):
        backend.resolve_row("acme", "kinds", "gone")
    assert backend.resolve_row("core", "kinds", "generic").name == "generic"


def test_a_reference_to_a_row_that_waits_for_enabling(world, host):
    world.install(GOOD)
    world.extension(
        "from tirx.backend import hookimpl\nfrom tests.core.backend.toy import Variant\n\n"
        "@hookimpl\ndef tirx_variants():\n    return [Variant('copy')]\n"
    )
    (row,) = backend.resolve_row("acme.fast", "variants", "copy")
    assert isinstance(row, Variant)


def test_wiring_makes_the_host_at_first_need(monkeypatch):
    monkeypatch.setattr(default, "_host", None)
    monkeypatch.setattr(default, "_wiring", "")
    with pytest.raises(BackendError, match="no row kinds are wired"):
        backend.registry()
    with pytest.raises(AttributeError):
        _ = backend.acme
    backend.wire("tests.core.backend.toy_wiring")
    assert backend.registry().find("kinds", "generic")
    assert backend.default_host().core_owner.version == toy_wiring.CORE_VERSION
