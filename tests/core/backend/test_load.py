"""Loading, unloading, and what a plugin may do wrong in this process."""

from __future__ import annotations

import os
import shutil
import sys
import threading

import pytest

from tests.core.backend.toy import ACME, GOOD, Core, Kind
from tirx.backend import BackendError, hookimpl
from tirx.backend.candidates import State


def failure(world, code: str, **environ) -> str:
    """The error of loading a plugin with this code, which must leave everything else as it was."""
    world.install(code)
    host = world.host(**environ)
    with pytest.raises(BackendError) as caught:
        host.load("acme")
    assert list(host.registry().rows("kinds")) == ["generic"]
    assert host.info("acme").state == State.FAILED
    with pytest.raises(BackendError, match="FAILED"):  # remembered, not tried again
        host.load("acme")
    return str(caught.value)


def test_a_name_loads_just_the_backend_that_promises_it(world):
    world.install()
    world.install("raise RuntimeError", "other-toy", groups={"tirx.api.v1": {"other": "other_toy.plugin"}})
    host = world.host()
    assert host.find("kinds", "acme").name == "acme"
    assert host.is_loaded("acme")
    assert "other_toy" not in sys.modules
    assert str(host.registry().owner("kinds", "acme")) == "acme-toy 1.0"


def test_nothing_is_imported_before_it_is_asked_for(world):
    world.install("raise RuntimeError")
    host = world.host()
    assert host.available() == ("acme",)
    assert host.names("kinds") == ["acme", "generic"]
    assert host.find("kinds", "nothing") is None
    assert [item.name for item in host.providers("kind.acme")] == ["acme"]
    assert host.info("acme").state == State.NOT_LOADED
    assert "acme_toy" not in sys.modules


def test_unload_takes_the_rows_away_and_load_brings_them_back(world):
    world.install()
    host = world.host()
    host.load("acme")
    before = host.registry()
    host.unload("acme")
    assert "acme" not in host.registry().rows("kinds")
    assert "acme" in before.rows("kinds")  # a snapshot that somebody holds does not change
    assert "acme_toy.plugin" in sys.modules
    host.load("acme")
    assert host.registry().find("kinds", "acme")


def test_unloading_what_is_not_loaded_is_an_error(world):
    host = world.host()
    with pytest.raises(BackendError, match="`acme` is not loaded"):
        host.unload("acme")
    with pytest.raises(BackendError, match="core cannot be unloaded"):
        host.unload("core")


def test_raising_on_import_names_all_five_facts(world):
    message = failure(world, "x = 1\nraise ImportError('libfoo.so.9: undefined symbol: bar')")
    assert message.startswith(
        "backend `acme` cannot be used: it FAILED while it was imported: "
        "ImportError: libfoo.so.9: undefined symbol: bar\n"
        "  help: repair or upgrade it (pip install --upgrade acme-toy), or work without it: TIRX_BACKENDS=-acme\n"
    )
    assert f"note: raised at {world.site}/acme_toy/plugin.py:2" in message
    assert "note: entry point: acme = acme_toy.plugin (group tirx.api.v1)" in message
    assert f"note: distribution: acme-toy 1.0 in {world.site}" in message


def test_a_missing_dependency_is_named(world):
    message = failure(world, "import no_such_library")
    assert "help: install what acme-toy needs (pip check; the module is `no_such_library`)" in message


def test_a_missing_module_of_its_own_is_no_dependency(world):
    assert "help: repair or upgrade it (pip install" in failure(world, "import acme_toy.more")


def test_a_syntax_error_is_placed(world):
    assert f"raised at {world.site}/acme_toy/plugin.py:2" in failure(world, "x = 1\nx = = 2")


def test_raising_in_a_hook_names_the_hook(world):
    code = GOOD + "\n    @hookimpl\n    def tirx_tags():\n        raise KeyError('gone')\n"
    message = failure(world, code)
    assert "it FAILED in its hooks: KeyError: 'gone' (in hook tirx_tags of acme-toy 1.0)" in message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return None", "tirx_kinds returned None\n  help: return a list or tuple of rows"),
        ("return 'acme'", "tirx_kinds returned an object of type str"),
        ("return {'acme': 1}", "tirx_kinds returned an object of type dict"),
        ("return [Kind('acme'), 7]", "row 1 of tirx_kinds is an object of type int\n  help: its rows are Kind objects"),
        ("return [Kind]", "row 0 of tirx_kinds is the class Kind"),
        ("return [Kind('acme'), Kind('acme')]", "tirx_kinds of acme-toy 1.0 returns 'acme' twice"),
        ("return [Kind('b')]", "its manifest promises what its hooks do not give: kind.acme"),
        (
            "return [Kind('acme', -1)]",
            "ValueError: kind 'acme' has width -1 (in row 0 of hook tirx_kinds of acme-toy 1.0)",
        ),
        ("yield Kind('acme'); raise OSError('halfway')", "OSError: halfway (in hook tirx_kinds of acme-toy 1.0)"),
    ],
)
def test_bad_rows(world, body, said):
    code = f"""
        from tirx.backend import hookimpl
        from tests.core.backend.toy import Kind

        @hookimpl
        def tirx_kinds():
            {body}
    """
    assert said in failure(world, code)


def test_rows_may_be_yielded(world):
    world.install(GOOD.replace("return [Kind", "yield from [Kind"))
    assert world.host().find("kinds", "acme")


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ("def tirx_kinds():", "`tirx_kinds` is not marked as a hook\n  help: put @tirx.backend.hookimpl above it"),
        ("@hookimpl\n    def tirx_kind():", "there is no hook `tirx_kind`\n  help: did you mean `tirx_kinds`"),
        ("@hookimpl\n    def kinds():", "there is no hook `kinds`\n  help: did you mean `tirx_kinds`"),
        (
            "def tirx_kidns():",
            "`tirx_kidns` is neither marked as a hook nor is there a hook of that name\n  help: did you mean",
        ),
        ("@hookimpl\n    def tirx_kinds(target):", "Argument(s) {'target'} are declared in the hookimpl"),
        (
            "@pluggy.HookimplMarker('tirx')(wrapper=True)\n    def tirx_kinds():",
            "`tirx_kinds` is a hook wrapper",
        ),
        ("def helper():", "module `acme_toy.plugin` implements no hook"),
    ],
)
def test_bad_hooks(world, definition, said):
    code = f"""
    import pluggy
    from tirx.backend import hookimpl

    {definition}
        return []
    """
    assert said in failure(world, code)


def test_pluggys_own_marker_works_too(world):
    world.install(GOOD.replace("import hookimpl", "BackendError").replace("from tirx.backend BackendError", MARKER))
    assert world.host().find("kinds", "acme")


MARKER = "import pluggy; hookimpl = pluggy.HookimplMarker('tirx')"


def test_an_entry_point_may_name_an_object(world):
    code = """
        from tests.core.backend.toy import Kind
        from tirx.backend import hookimpl

        class Plugin:
            @hookimpl
            def tirx_kinds(self):
                return [Kind("acme")]

        class holder:
            plugin = Plugin()
    """
    world.install(code, groups={"tirx.api.v1": {"acme": "acme_toy.plugin:holder.plugin"}})
    host = world.host()
    host.load("acme")
    assert host.registry().find("kinds", "acme")


def test_an_entry_point_that_names_nothing(world):
    world.install(GOOD + "\n    plugin = 1\n", groups={"tirx.api.v1": {"acme": "acme_toy.plugin:plugn"}})
    with pytest.raises(
        BackendError, match="has no `plugn`, which the entry point names\n  help: did you mean `plugin`"
    ):
        world.host().load("acme")


def test_sys_exit_is_a_failure(world):
    assert "it FAILED while it was imported: SystemExit: 0" in failure(world, "import sys; sys.exit(0)")


def test_ctrl_c_is_not_swallowed(world):
    world.install("raise KeyboardInterrupt")
    host = world.host()
    with pytest.raises(KeyboardInterrupt):
        host.load("acme")
    assert host.info("acme").state == State.NOT_LOADED
    assert sys.stdout is not sys.stderr


def test_prints_go_to_standard_error(world, capfd):
    print("before")
    world.install(GOOD + "\n    import os\n    print('chatter')\n    os.write(1, b'raw')\n")
    world.host().load("acme")
    print("after")
    out, err = capfd.readouterr()
    assert out == "before\nafter\n"
    assert "chatter\n" in err
    assert "raw" in err


def test_a_slow_plugin_is_named(world, capfd):
    world.install(GOOD + "\n    import time; time.sleep(0.3)\n")
    world.host(slow_after=0.1).load("acme")
    assert capfd.readouterr().err == (
        "tirx: backend `acme` (acme-toy 1.0) has been loading for 0.1 s; "
        "if it hangs, interrupt and work without it: TIRX_BACKENDS=-acme\n"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_fork_is_a_failure_and_the_child_ends(world):
    marker = world.folder / "child"
    waited = f"pathlib.Path({str(marker)!r}).write_text(str(os.waitpid(child, 0)[1] >> 8))"
    code = GOOD + f"\n    import os, pathlib\n    child = os.fork()\n    if child: {waited}\n"
    assert "it FAILED while it was loaded: it forked a process" in failure(world, code)
    assert marker.read_text() == "70"


def test_asking_for_itself_while_loading(world):
    world.install("import builtins\nbuiltins.tirx_toy_host.load('acme')")
    host = world.host()
    world.monkeypatch.setattr("builtins.tirx_toy_host", host, raising=False)
    with pytest.raises(BackendError, match="asks for itself while it is being loaded"):
        host.load("acme")


def test_refresh_tries_again(world):
    plugin = world.install("raise RuntimeError('not yet')")
    host = world.host()
    with pytest.raises(BackendError, match="not yet"):
        host.load("acme")
    world.install(GOOD)
    os.utime(plugin, (1, 1))  # or the interpreter takes the old byte code for this source
    with pytest.raises(BackendError, match="not yet"):
        host.load("acme")
    host.refresh()
    host.load("acme")
    assert host.info("acme").state == State.OK


def test_what_is_uninstalled_while_loaded_is_still_listed(world):
    world.install()
    host = world.host()
    host.load("acme")
    shutil.rmtree(world.site)
    info = host.info("acme")
    assert (info.state, info.cause) == (State.OK, "it is loaded, but no longer installed")
    assert info.rows == {"kinds": 1, "names": 1}
    assert host.available() == ("acme",)


def test_an_upgrade_while_loaded_waits_for_the_next_process(world):
    world.install(version="1.0")
    host = world.host()
    host.load("acme")
    shutil.rmtree(world.site)
    world.install(version="2.0")
    assert [(item.version, item.state, item.cause) for item in host.infos()] == [
        ("2.0", State.NOT_LOADED, "acme-toy 1.0 is loaded in this process"),
        ("1.0", State.OK, "it is loaded, but no longer installed"),
    ]
    host.load("acme")
    assert host.info("acme").version == "1.0"


def test_a_broken_provider_is_an_error_not_a_miss(world):
    world.install("raise RuntimeError('broken')")
    host = world.host()
    for _ in range(2):
        with pytest.raises(BackendError, match="broken"):
            host.find("kinds", "acme")


def test_names_of_core_cannot_be_replaced(world):
    world.install(GOOD.replace('Kind("acme")', 'Kind("acme"), Kind("generic")'))
    with pytest.raises(BackendError) as caught:
        world.host().load("acme")
    assert "two distributions give 'generic' of kinds: tirx-core 0.1 (backend core) and acme-toy 1.0" in str(
        caught.value
    )
    assert "names of tirx-core cannot be replaced" in str(caught.value)


def test_threads_load_once(world):
    world.install(
        GOOD + "\n    import time; time.sleep(0.05)\n    import builtins; builtins.tirx_toy_loads.append(1)\n"
    )
    loads: list[int] = []
    world.monkeypatch.setattr("builtins.tirx_toy_loads", loads, raising=False)
    host = world.host()
    found = []
    threads = [threading.Thread(target=lambda: found.append(host.find("kinds", "acme"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_a_check_across_rows_fails_the_plugin_that_breaks_it(world):
    def at_most_one(registry):
        if len(registry.rows("kinds")) > 1:
            raise ValueError("too many kinds")

    kinds = list(world.host().kinds.values())
    kinds[0] = type(kinds[0])(
        "kinds",
        "tirx_kinds",
        doc="",
        key=lambda row: row.name,
        validate=lambda row, owner: None,
        provides=("kind",),
        verify=at_most_one,
    )
    world.install()
    with pytest.raises(
        BackendError, match="FAILED when its rows joined those of the others: ValueError: too many kinds"
    ):
        world.host(kinds=kinds).load("acme")


def test_core_asking_for_the_registry_in_a_hook_is_an_error(world):
    class Selfish(Core):
        @hookimpl
        def tirx_kinds(self):
            return [Kind(str(len(host.registry().rows("kinds"))))]

    host = world.host(core=Selfish)
    with pytest.raises(BackendError, match="core's hooks ask for the registry"):
        host.registry()


def test_registered_without_metadata(world):
    host = world.host()
    plugin = type("Plugin", (), {"tirx_kinds": staticmethod(hookimpl(lambda: [Kind("frozen")]))})()
    host.register("frozen", plugin, distribution="app", version="3", provides=["kind.frozen"])
    assert host.find("kinds", "frozen").name == "frozen"
    assert str(host.registry().owner("kinds", "frozen")) == "app 3"
    assert host.info("frozen").entry_point == "frozen = Plugin object (group registered by the program)"


def test_registered_by_module_name_is_imported_late(world):
    world.install(groups={"console_scripts": {}})
    host = world.host()
    host.register("acme", "acme_toy.plugin", provides=["kind.acme"])
    assert "acme_toy" not in sys.modules
    assert host.find("kinds", "acme")


def test_a_registered_copy_comes_before_the_installed_one(world):
    world.install("raise RuntimeError", groups=ACME)
    host = world.host()
    plugin = type("Plugin", (), {"tirx_kinds": staticmethod(hookimpl(lambda: [Kind("acme")]))})()
    host.register("acme", plugin, distribution="acme-toy", provides=["kind.acme"])
    assert host.find("kinds", "acme")
    assert [item.state for item in host.infos()] == [State.OK, State.SHADOWED]
