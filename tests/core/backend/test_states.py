"""What is decided about a plugin before it is imported, and how it is told."""

from __future__ import annotations

import shutil
import sys
from importlib import invalidate_caches
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest

from tests.core.backend.toy import ACME, GOOD, write_distribution
from tirx import backend
from tirx.backend import BackendError, spelling
from tirx.backend.candidates import Selection, State, gather
from tirx.backend.metadata import Distribution
from tirx.backend.spelling import MODULES, normalise, valid_name


def states(host) -> dict[str, str]:
    return {item.name: item.state for item in host.infos()}


def refused(host, name="acme") -> str:
    with pytest.raises(BackendError) as caught:
        host.load(name)
    assert not any(module.endswith("_toy") for module in sys.modules)
    return str(caught.value)


@pytest.mark.parametrize("name", ["a", "acme", "a1_b", "z_"])
def test_valid_names(name):
    assert valid_name(name)


@pytest.mark.parametrize("name", ["", "Acme", "1a", "_a", "a-b", "a.b", "a b", "é", "a\n", "aé"])
def test_invalid_names(name):
    assert not valid_name(name)


def test_names_of_distributions_compare_as_indexes_compare_them():
    assert {normalise(name) for name in ("My.Own_Toy", "my--own-toy", "MY-OWN_.TOY")} == {"my-own-toy"}


@pytest.mark.parametrize("name", ["Acme", "acme-x", "load", "report", "core", "a.b.c", "acme.Fast"])
def test_bad_names_are_incompatible(world, name):
    world.install(groups={"tirx.api.v1": {name: "acme_toy.plugin"}})
    (info,) = world.host().infos()
    assert info.state == State.INCOMPATIBLE
    assert name.split(".")[0] in info.cause
    assert info.todo == "report it to the authors of acme-toy"


@pytest.mark.parametrize("value", ["", "acme-toy", "acme_toy.", "acme toy", "acme_toy:a b", "/x.py"])
def test_bad_values_are_incompatible(world, value):
    world.install(groups={"tirx.api.v1": {"acme": value}})
    assert "which is not `package.module` or `package.module:object`" in refused(world.host())


def test_extras_in_a_value_are_ignored(world):
    world.install(groups={"tirx.api.v1": {"acme": "acme_toy.plugin [gpu]"}})
    world.host().load("acme")


@pytest.mark.parametrize(
    ("groups", "said", "upgrade"),
    [
        (["tirx.api.v2"], "it speaks plugin API 2, tirx-core 0.1 speaks 1", "tirx-core"),
        (["tirx.api.v2", "tirx.api.v3"], "it speaks plugin API 2, 3, tirx-core 0.1 speaks 1", "tirx-core"),
        (["tirx.api.v0"], "it speaks plugin API 0, tirx-core 0.1 speaks 1", "acme-toy"),
    ],
)
def test_outside_the_api_window(world, groups, said, upgrade):
    world.install("raise RuntimeError", groups={group: {"acme": "acme_toy.plugin"} for group in groups})
    host = world.host()
    assert states(host) == {"acme": State.INCOMPATIBLE}
    assert host.available() == ()
    message = refused(host)
    assert f"backend `acme` cannot be used: it is INCOMPATIBLE: {said}\n" in message
    assert f"help: upgrade it: pip install --upgrade {upgrade}\n" in message


def test_a_plugin_for_several_apis_gives_the_newest_that_core_speaks(world):
    groups = {
        "tirx.api.v0": {"acme": "old.plugin"},
        "tirx.api.v1": {"acme": "acme_toy.plugin"},
        "tirx.api.v9": {"acme": "new"},
    }
    world.install(groups=groups)
    host = world.host()
    host.load("acme")
    assert host.info("acme").entry_point == "acme = acme_toy.plugin (group tirx.api.v1)"


def test_groups_that_are_no_api_are_ignored(world):
    world.install(
        groups={
            "tirx.api.vx": {"a": "b"},
            "tirx.api.v": {"a": "b"},
            "tirx.other": {"a": "b"},
            "tirx.api.v²": {"a": "b"},
        }
    )
    assert world.host().infos() == []


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        (None, True),
        ("", False),
        ("acme", True),
        (" other , acme ", True),
        ("other", False),
        ("-acme", False),
        ("-other", True),
        ("acme,-acme", False),
        ("Acme_Toy", True),
        ("-acme-toy", False),
        (",", False),
    ],
)
def test_tirx_backends(world, setting, allowed):
    world.install()
    host = world.host(**({} if setting is None else {"TIRX_BACKENDS": setting}))
    assert states(host) == {"acme": State.NOT_LOADED if allowed else State.DISABLED}
    assert (host.find("kinds", "acme") is not None) == allowed
    assert host.find("kinds", "generic")


def test_a_disabled_backend_says_by_what(world):
    world.install()
    assert "it is DISABLED: TIRX_BACKENDS=-acme excludes it" in refused(world.host(TIRX_BACKENDS="-acme"))
    assert "it is DISABLED: TIRX_BACKENDS=x does not list it" in refused(world.host(TIRX_BACKENDS="x"))
    message = refused(world.host(TIRX_BACKENDS=""))
    assert "it is DISABLED: TIRX_BACKENDS is empty: it allows none" in message
    assert "help: to use it, add acme to TIRX_BACKENDS or unset that variable" in message


def test_the_setting_is_read_anew(world):
    world.install()
    host = world.host()
    assert states(host) == {"acme": State.NOT_LOADED}
    host.environ["TIRX_BACKENDS"] = ""
    assert states(host) == {"acme": State.DISABLED}


def test_parts_of_the_setting_that_match_nothing():
    home = Distribution("acme-toy", "1", "", "", [("tirx.api.v1", "acme", "a.b")])
    assert Selection("acme,acme_toy,-nothing,other").unknown(gather(home)) == ["nothing", "other"]


@pytest.mark.parametrize("reverse", [False, True])
def test_two_distributions_with_one_name_are_both_named_whatever_the_order(world, reverse):
    world.install(
        name="one-toy",
        groups={"tirx.api.v1": {"acme": "one_toy.plugin"}, "tirx.provides": {"kind.acme": "one_toy.plugin"}},
    )
    second = world.add_folder("second")
    world.install(
        name="two-toy",
        site=second,
        groups={"tirx.api.v1": {"acme": "two_toy.plugin"}, "tirx.provides": {"kind.acme": "two_toy.plugin"}},
    )
    if reverse:
        world.paths.reverse()
    host = world.host()
    message = refused(host)
    assert (
        "backend `acme` cannot be used: it is SHADOWED: 2 distributions are called 'acme': "
        f"one-toy 1.0 ({world.site}) and two-toy 1.0 ({second})\n"
        "  help: uninstall one of them, or keep one out: TIRX_BACKENDS=-one-toy or TIRX_BACKENDS=-two-toy\n"
    ) in message
    assert [item.state for item in host.infos()] == [State.SHADOWED, State.SHADOWED]
    assert host.find("kinds", "acme") is None
    chosen = world.host(TIRX_BACKENDS="-one-toy")
    assert chosen.find("kinds", "acme")
    assert str(chosen.registry().owner("kinds", "acme")) == "two-toy 1.0"


def test_the_same_distribution_twice_is_the_first_on_the_path(world):
    world.install(version="1.0")
    second = world.add_folder("second")
    world.install("raise RuntimeError", version="2.0", site=second)
    host = world.host()
    host.load("acme")
    assert [(item.version, item.state) for item in host.infos()] == [("1.0", State.OK), ("2.0", State.SHADOWED)]
    assert host.infos()[1].cause == f"another copy of acme-toy comes first on the path, in {world.site}"
    assert host.info("acme").state == State.OK


def test_two_backends_that_promise_one_name(world):
    for name in ("one", "two"):
        world.install(
            GOOD,
            f"{name}-toy",
            groups={"tirx.api.v1": {name: f"{name}_toy.plugin"}, "tirx.provides": {"kind.acme": f"{name}_toy.plugin"}},
        )
    host = world.host()
    with pytest.raises(BackendError) as caught:
        host.find("kinds", "acme")
    assert str(caught.value) == (
        "`kind.acme` is promised by one-toy 1.0 (backend one) and two-toy 1.0 (backend two)\n"
        "  help: keep one out: TIRX_BACKENDS=-one or TIRX_BACKENDS=-two"
    )
    host.load("two")  # whoever is asked for by name works, the second of them does not
    with pytest.raises(
        BackendError, match=r"two distributions give 'acme' of kinds: one-toy 1.0 .* and two-toy 1.0"
    ) as caught:
        host.load("one")
    assert "keep one out: TIRX_BACKENDS=-one or TIRX_BACKENDS=-two" in str(caught.value)
    assert host.find("kinds", "acme")


def test_a_promise_from_an_object_that_no_entry_point_names(world):
    world.install(
        groups={"tirx.api.v1": {"acme": "acme_toy.plugin"}, "tirx.provides": {"kind.acme": "acme_toy.plugni"}}
    )
    assert "the manifest promises `kind.acme` from acme_toy.plugni, which none of its entry points names" in refused(
        world.host()
    )


def test_a_promise_of_an_unknown_sort(world):
    world.install(groups={**ACME, "tirx.provides": {"kin.acme": "acme_toy.plugin"}})
    with pytest.raises(BackendError) as caught:
        world.host().load("acme")
    assert (
        "it FAILED when its promises were checked: its manifest promises what its hooks do not give: kin.acme"
        in str(caught.value)
    )
    assert "help: did you mean `kind`?" in str(caught.value)


def test_a_stale_editable_install_is_unavailable(world):
    world.install()
    shutil.rmtree(world.site / "acme_toy")
    host = world.host()
    info = host.info("acme")
    assert info.state == State.UNAVAILABLE
    assert (
        info.cause == "its module `acme_toy` is not there: the distribution is a remnant, or a moved editable install"
    )
    assert info.todo == "reinstall it (pip install --force-reinstall acme-toy) or remove it (pip uninstall acme-toy)"
    assert "it is UNAVAILABLE: its module `acme_toy` is not there" in refused(host)


def test_an_editable_install_through_an_import_hook(world, monkeypatch):
    hidden = world.folder / "source"
    hidden.mkdir()
    world.install(site=hidden)
    write_distribution(world.site)

    class Hook:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "acme_toy":
                folder = str(hidden / "acme_toy")
                return spec_from_file_location(name, f"{folder}/__init__.py", submodule_search_locations=[folder])
            return None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Hook])
    host = world.host()
    assert host.info("acme").state == State.NOT_LOADED
    assert host.find("kinds", "acme")


def test_a_plugin_module_that_is_not_there(world):
    world.install().unlink()
    host = world.host()
    assert host.info("acme").cause == "its module `acme_toy.plugin` is not there"
    assert "acme_toy" not in sys.modules


def test_a_plugin_may_call_itself_unavailable(world):
    world.install("from tirx.backend import UnavailableError\nraise UnavailableError('no driver', hint='install one')")
    host = world.host()
    with pytest.raises(BackendError, match="it is UNAVAILABLE: no driver\n  help: install one"):
        host.load("acme")
    assert host.info("acme").state == State.UNAVAILABLE


def test_an_unknown_backend_names_the_nearest(world):
    world.install()
    assert refused(world.host(), "acmee") == "there is no backend `acmee`\n  help: did you mean `acme`?"
    assert refused(world.host(), "zzz") == "there is no backend `zzz`\n  help: installed: acme"


def test_a_well_known_backend_that_is_not_installed(world):
    assert "pip install tirx-backend-opencl" in refused(world.host(), "opencl")


def test_a_backend_in_the_working_directory_is_mentioned(world, monkeypatch):
    world.install()
    monkeypatch.chdir(world.site)
    message = refused(world.host())
    assert f"note: acme-toy 1.0 in {world.site} has `acme`, but the working directory" in message
    assert f"to use it: TIRX_PLUGIN_PATH={world.site}" in message


def test_a_folder_of_tirx_plugin_path_need_not_be_importable(world):
    hidden = world.folder / "hidden"
    world.install(site=hidden)
    host = world.host(TIRX_PLUGIN_PATH=str(hidden))
    assert host.info("acme").state == State.NOT_LOADED
    assert host.find("kinds", "acme")
    assert sys.path[-1] == str(hidden)


def test_a_failure_belongs_to_one_version(world):
    world.install("raise RuntimeError", version="1.0")
    host = world.host()
    with pytest.raises(BackendError):
        host.load("acme")
    shutil.rmtree(world.site)
    world.install(version="1.1")
    invalidate_caches()
    sys.modules.pop("acme_toy")
    host.load("acme")
    assert host.info("acme").state == State.OK


def test_no_module_hides_a_function_of_the_same_name():
    assert not MODULES & set(backend.__all__)


def test_the_list_of_own_modules_is_complete():
    assert {path.stem for path in Path(spelling.__file__).parent.glob("*.py")} - {"__init__"} == MODULES
