"""Extensions: they load with their host, act when enabled, and never fail it."""

from __future__ import annotations

import pytest

from tests.core.backend.toy import KINDS, Variant
from tirx.backend import BackendError, RowKind
from tirx.backend.candidates import State

FAST = """
    from tirx.backend import hookimpl
    from tests.core.backend.toy import Name, Variant

    @hookimpl
    def tirx_names():
        return [Name("fast")]

    @hookimpl
    def tirx_variants():
        return [Variant("copy", priority=10)]
"""


def variants(registry) -> list[str]:
    return [f"{owner.backend}:{row.name}" for row, owner in registry.entries("variants")]


def test_names_load_with_the_host(world):
    world.install()
    world.extension(FAST)
    host = world.host()
    host.load("acme")
    assert host.is_loaded("acme.fast")
    assert host.registry().owner("names", "fast").backend == "acme.fast"
    assert host.info("acme").extensions == ("acme.fast",)


def test_variants_act_only_when_enabled(world):
    world.install()
    world.extension(FAST)
    host = world.host()
    host.load("acme")
    assert variants(host.registry()) == []
    assert variants(host.registry(extensions=["acme.fast"])) == ["acme.fast:copy"]
    assert variants(host.registry()) == []
    assert host.registry(["acme.fast"]) is host.registry(["acme.fast"])


def test_variants_enabled_by_the_environment(world):
    world.install()
    world.extension(FAST)
    host = world.host(TIRX_EXTENSIONS=" acme.fast , acme.other ")
    with pytest.warns(RuntimeWarning, match="`acme.other` is not installed"):
        host.load("acme")
    assert variants(host.registry()) == ["acme.fast:copy"]


def test_variants_enabled_by_the_projects_file(world, monkeypatch):
    world.install()
    world.extension(FAST)
    project = world.folder / "project"
    (project / "below").mkdir(parents=True)
    file = project / "pyproject.toml"
    file.write_text('[tool.tirx]\nextensions = ["acme.fast"]\n')
    monkeypatch.chdir(project / "below")
    host = world.host()
    host.load("acme")
    assert variants(host.registry()) == ["acme.fast:copy"]
    file.write_text("[tool.other]\n")
    assert variants(host.registry()) == []
    monkeypatch.chdir(world.folder)
    assert variants(host.registry()) == []
    monkeypatch.chdir(project)
    file.write_text('[tool.tirx]\nextensions = ["acme.fast"]\n')
    host.environ["TIRX_EXTENSIONS"] = ""  # what is set in the environment replaces the file
    assert variants(host.registry()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.tirx]\nextensions = 'acme.fast'\n", "is 'acme.fast'\n  help: write a list of names: extensions ="),
        ("[tool.tirx]\nextensions = [1]\n", "`extensions` in [tool.tirx] of"),
        ("[tool.tirx]\nextensions = [\n", "cannot be read: "),
    ],
)
def test_a_projects_file_that_is_wrong(world, monkeypatch, text, said):
    world.install()
    world.extension(FAST)
    (world.folder / "pyproject.toml").write_text(text)
    monkeypatch.chdir(world.folder)
    host = world.host()
    host.load("acme")
    with pytest.raises(BackendError) as caught:
        host.registry()
    assert said in str(caught.value)
    assert str(world.folder / "pyproject.toml") in str(caught.value)


def test_a_hosts_own_variants_need_no_enabling(world):
    world.install(FAST, groups={"tirx.api.v1": {"acme": "acme_toy.plugin"}})
    host = world.host()
    host.load("acme")
    assert variants(host.registry()) == ["acme:copy"]


def test_variants_are_ordered_by_priority_then_owner_then_name(world):
    two = FAST.replace('Variant("copy", priority=10)', 'Variant("b", 5), Variant("a", 5), Variant("z", 20)')
    world.install(two, groups={"tirx.api.v1": {"acme": "acme_toy.plugin"}})
    world.extension(FAST.replace("10", "5").replace('"fast"', '"other"'))
    host = world.host()
    host.load("acme")
    assert variants(host.registry(["acme.fast"])) == ["acme:z", "acme:a", "acme:b", "acme.fast:copy"]


def test_a_promised_name_of_an_extension_loads_host_and_extension(world):
    world.install()
    world.extension(FAST, provides=["name.fast"])
    host = world.host()
    assert host.find("names", "fast")
    assert host.is_loaded("acme")


def test_a_broken_extension_never_fails_its_host(world):
    world.install()
    world.extension("raise RuntimeError('broken')")
    host = world.host()
    assert host.find("kinds", "acme")
    assert host.info("acme").state == State.OK
    assert host.info("acme.fast").state == State.FAILED
    with pytest.raises(BackendError, match=r"extension `acme.fast` cannot be used: it FAILED while it was imported"):
        host.load("acme.fast")


def test_enabling_a_broken_extension_is_told(world):
    world.install()
    world.extension("raise RuntimeError('broken')")
    host = world.host(TIRX_EXTENSIONS="acme.fast")
    with pytest.warns(RuntimeWarning, match="an enabled extension is missing: extension `acme.fast` cannot be used"):
        host.load("acme")
    assert host.is_loaded("acme")
    with pytest.raises(BackendError, match="broken"):
        host.registry(extensions=["acme.fast"])


def test_enabling_what_is_not_installed_is_told(world):
    world.install()
    host = world.host(TIRX_EXTENSIONS="acme.fast,other.thing")
    with pytest.warns(RuntimeWarning, match="an enabled extension is missing: extension `acme.fast` is not installed"):
        host.load("acme")
    assert host.is_loaded("acme")


def test_a_check_across_rows_sees_what_does_not_act_yet(world):
    def no_copies(registry):
        if "copy" in registry.rows("variants"):
            raise ValueError("no copies here")

    kinds = [
        RowKind(
            "variants", "tirx_variants", doc="", key=lambda row: row.name, validate=lambda row, owner: None, multi=True,
            opt_in=True, verify=no_copies,
        ) if kind.name == "variants" else kind
        for kind in KINDS
    ]  # fmt: skip
    world.install()
    world.extension(FAST)
    host = world.host(kinds=kinds)
    host.load("acme")
    assert host.info("acme.fast").cause == "when its rows joined those of the others: ValueError: no copies here"


def test_a_later_attempt_at_the_host_leaves_the_failed_extension_alone(world):
    world.install()
    world.extension("raise RuntimeError('broken')")
    host = world.host()
    host.load("acme")
    host.unload("acme")
    host.load("acme")
    assert host.info("acme.fast").state == State.FAILED


def test_unloading_the_host_unloads_its_extensions(world):
    world.install()
    world.extension(FAST)
    host = world.host()
    host.load("acme.fast")
    host.unload("acme")
    assert not host.is_loaded("acme.fast")
    assert "fast" not in host.registry().rows("names")


def test_an_extension_can_be_unloaded_alone(world):
    world.install()
    world.extension(FAST)
    host = world.host()
    host.load("acme")
    host.unload("acme.fast")
    assert host.is_loaded("acme")


def test_an_extension_of_nobody(world):
    world.extension(FAST)
    host = world.host()
    info = host.info("acme.fast")
    assert (info.state, info.cause) == (State.UNAVAILABLE, "it extends the backend `acme`, which is not installed")
    with pytest.raises(BackendError, match="it is UNAVAILABLE: it extends the backend `acme`, which is not installed"):
        host.load("acme.fast")


def test_an_extension_of_an_unusable_backend(world):
    world.install(groups={"tirx.api.v9": {"acme": "acme_toy.plugin"}})
    world.extension(FAST)
    assert "which is INCOMPATIBLE: it speaks plugin API 9" in world.host().info("acme.fast").cause


def test_an_extension_of_a_backend_that_fails(world):
    world.install("raise RuntimeError('the host broke')")
    world.extension(FAST)
    with pytest.raises(BackendError, match=r"backend `acme` cannot be used: it FAILED .*the host broke"):
        world.host().load("acme.fast")


@pytest.mark.parametrize(
    ("setting", "state"),
    [
        ("acme", State.DISABLED),  # what is listed limits what may be imported
        ("acme,acme.fast", State.OK),
        ("acme,fast-toy", State.OK),
        ("-acme.fast", State.DISABLED),
        ("-fast_toy", State.DISABLED),
    ],
)
def test_extensions_and_tirx_backends(world, setting, state):
    world.install()
    world.extension(FAST)
    host = world.host(TIRX_BACKENDS=setting)
    host.load("acme")
    assert host.info("acme.fast").state == state


def test_an_extension_states_its_api_like_a_backend(world):
    world.install()
    groups = {"tirx.api.v2": {"acme.fast": "fast_toy.plugin"}, "tirx.extensions": {"acme.fast": "fast_toy.plugin"}}
    world.install(FAST, "fast-toy", groups=groups)
    assert world.host().info("acme.fast").state == State.INCOMPATIBLE


def test_two_distributions_with_one_extension(world):
    world.install()
    world.extension(FAST)
    world.extension(FAST, distribution="faster-toy")
    host = world.host()
    host.load("acme")
    assert not host.is_loaded("acme.fast")
    assert "2 distributions are called 'acme.fast': fast-toy 1.0" in host.info("acme.fast").cause


def test_an_extension_must_not_replace_what_its_host_gives(world):
    world.install()
    world.extension(FAST.replace('"fast"', '"acme"'))
    host = world.host()
    host.load("acme")
    assert (
        "two distributions give 'acme' of names: acme-toy 1.0 (backend acme) and fast-toy"
        in host.info("acme.fast").cause
    )
    assert host.registry().owner("names", "acme").backend == "acme"


def test_rows_that_do_not_act_still_keep_promises(world):
    world.install()
    world.extension(FAST, provides=["name.fast"])
    assert Variant("copy").priority == 0
    world.host().load("acme.fast")
