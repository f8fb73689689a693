"""Plugins that reach beyond their rows: they change core, register others, block, come in crowds, or vanish."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time

import pytest

from tests.core.backend.toy import GOOD, Kind
from tirx.backend import BackendError, hookimpl
from tirx.backend.candidates import State
from tirx.backend.rows import Contribution
from tirx.support import suggest
from tirx.support.late import load_object
from tirx.support.suggest import did_you_mean

PATCHES = """
    from tirx.backend import hookimpl
    from tirx.backend.rows import Contribution
    from tirx.support import suggest

    from tests.core.backend.toy import Kind

    {patch}

    @hookimpl
    def tirx_kinds():
        return [Kind("acme")]
"""


@pytest.mark.parametrize(
    ("patch", "names"),
    [
        ("suggest.did_you_mean = lambda *_: 'mine'", "tirx.support.suggest.did_you_mean"),
        ("Contribution.counts = lambda self: {}", "tirx.backend.rows.Contribution.counts"),
        ("Contribution.extra = lambda self: {}", "tirx.backend.rows.Contribution.extra"),
        ("del Contribution.counts", "tirx.backend.rows.Contribution.counts"),
        (
            "suggest.did_you_mean = Contribution.counts = None",
            "tirx.backend.rows.Contribution.counts, tirx.support.suggest.did_you_mean",
        ),
    ],
)
def test_what_a_plugin_replaces_in_core_is_put_back_and_it_fails(world, patch, names):
    counts = Contribution.counts
    world.install(PATCHES.format(patch=patch))
    host = world.host()
    with pytest.raises(BackendError, match=f"it replaced names of core, which were put back: {names}\n") as caught:
        host.load("acme")
    assert "plugins add rows and change nothing; report it to the authors of acme-toy" in str(caught.value)
    assert suggest.did_you_mean is did_you_mean
    assert Contribution.counts is counts
    assert not hasattr(Contribution, "extra")
    assert host.info("acme").state == State.FAILED


def test_what_a_plugin_replaced_before_it_failed_is_put_back(world):
    world.install(PATCHES.format(patch="suggest.did_you_mean = None; raise RuntimeError('later')"))
    with pytest.raises(BackendError, match="RuntimeError: later"):
        world.host().load("acme")
    assert suggest.did_you_mean is did_you_mean


def test_a_plugin_that_imports_more_of_core_has_changed_nothing(world):
    sys.modules.pop("tirx.backend.probe", None)
    world.install(PATCHES.format(patch="import tirx.backend.probe"))
    world.host().load("acme")


class Plugin:
    def __init__(self, name: str) -> None:
        self.name = name

    @hookimpl
    def tirx_kinds(self):
        return [Kind(self.name)]


def test_registering_late_changes_nothing_that_is_loaded(world):
    """Somebody registers a rival of a loaded backend: what is loaded stays, and the next process is told."""
    world.install()
    host = world.host()
    host.load("acme")
    row = host.find("kinds", "acme")
    host.register("acme", Plugin("acme"), distribution="rival")
    host.register("late", Plugin("late"), provides=("kind.late",))
    assert host.find("kinds", "acme") is row
    assert host.is_loaded("acme")
    assert host.find("kinds", "late").name == "late"
    host.unload("acme")
    with pytest.raises(BackendError, match=r"2 distributions are called 'acme': acme-toy 1.0 .* and rival 0"):
        host.load("acme")


def test_registering_while_a_plugin_loads(world):
    world.install(
        """
        from tirx.backend import hookimpl
        from tests.core.backend.toy import Kind
        import acme_hooks

        @hookimpl
        def tirx_kinds():
            acme_hooks.host.register("other", acme_hooks.plugin, provides=("kind.other",))
            return [Kind("acme")]
        """
    )
    host = world.host()
    module = type(sys)("acme_hooks")
    module.host, module.plugin = host, Plugin("other")
    world.monkeypatch.setitem(sys.modules, "acme_hooks", module)
    host.load("acme")
    assert not host.is_loaded("other")
    assert host.find("kinds", "other").name == "other"


def test_while_one_plugin_blocks_everything_that_is_loaded_works(world, capfd):
    world.install()
    world.install(
        """
        import builtins
        builtins.toy_started.set()
        builtins.toy_goes_on.wait(60)
        from tirx.backend import hookimpl

        @hookimpl
        def tirx_kinds():
            return []
        """,
        "slow-toy",
        groups={"tirx.api.v1": {"slow": "slow_toy.plugin"}},
    )
    import builtins

    started, goes_on = threading.Event(), threading.Event()
    world.monkeypatch.setattr(builtins, "toy_started", started, raising=False)
    world.monkeypatch.setattr(builtins, "toy_goes_on", goes_on, raising=False)
    host = world.host(slow_after=0.2)
    host.load("acme")
    blocked = threading.Thread(target=host.load, args=("slow",))
    blocked.start()
    assert started.wait(30)
    began = time.monotonic()
    assert host.find("kinds", "acme").name == "acme"
    assert host.find("kinds", "generic").name == "generic"
    assert host.load("acme").name == "acme"
    assert host.info("slow").state == State.NOT_LOADED
    assert host.available() == ("acme", "slow")
    assert time.monotonic() - began < 5
    time.sleep(0.5)
    goes_on.set()
    blocked.join(30)
    assert host.is_loaded("slow")
    shown = capfd.readouterr().err
    assert (
        "backend `slow` (slow-toy 1.0) has been loading for 0.2 s; if it hangs, interrupt and work without it" in shown
    )
    assert "TIRX_BACKENDS=-slow" in shown


COUNT = 50


def install_crowd(world) -> list[str]:
    names = [f"crowd{number}" for number in range(COUNT)]
    for name in names:
        module = f"{name}_toy.plugin"
        groups = {"tirx.api.v1": {name: module}, "tirx.provides": {f"kind.{name}": module}}
        code = GOOD.replace('"acme"', f'"{name}"')
        world.install(code if name != "crowd13" else "raise RuntimeError('unlucky')", f"{name}-toy", groups=groups)
    return names


def test_of_fifty_plugins_just_the_one_that_is_asked_for_is_imported(world):
    install_crowd(world)
    host = world.host()
    assert len(host.candidates()) == COUNT
    assert host.find("kinds", "crowd7").name == "crowd7"
    assert [name for name in sys.modules if name.startswith("crowd") and name.endswith(".plugin")] == [
        "crowd7_toy.plugin"
    ]


def test_fifty_plugins_from_many_threads(world):
    names = install_crowd(world)
    host = world.host()
    failed: list[str] = []

    def load_one(name: str) -> None:
        try:
            host.load(name)
        except BackendError as error:
            failed.append(f"{name}: {error.message}")

    def load(some: list[str]) -> None:
        for name in some:
            load_one(name)

    threads = [threading.Thread(target=load, args=(names[first:] + names[:first],)) for first in range(0, COUNT, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert {text.partition(":")[0] for text in failed} == {"crowd13"}, failed
    assert len(host.registry().rows("kinds")) == COUNT  # generic, and all but one of them
    for name in names[20:40]:
        host.unload(name)
    assert len(host.registry().rows("kinds")) == COUNT - 20


def test_removed_before_it_is_loaded(world):
    world.install()
    host = world.host()
    assert host.info("acme").state == State.NOT_LOADED
    shutil.rmtree(world.site / "acme_toy")
    with pytest.raises(BackendError, match="its module `acme_toy` is not there") as caught:
        host.load("acme")
    assert "reinstall it" in str(caught.value)
    assert host.find("kinds", "generic").name == "generic"


def test_removed_while_it_is_loaded(world):
    """Its rows go on working; what they would load later says why it cannot."""
    world.install()
    host = world.host()
    host.load("acme")
    for path in list(world.site.iterdir()):
        shutil.rmtree(path)
    host.refresh()
    assert host.find("kinds", "acme").name == "acme"
    record = host.info("acme")
    assert (record.state, record.cause) == (State.OK, "it is loaded, but no longer installed")
    with pytest.raises(BackendError, match=r"`acme_toy.meaning:copy` is not there, although a row names it") as caught:
        load_object("acme_toy.meaning:copy")
    assert "removed or replaced while this process runs, start Python again" in str(caught.value)


def test_a_row_whose_module_needs_something_else_says_so(world):
    world.install()
    world.host().load("acme")
    (world.site / "acme_toy/meaning.py").write_text("import a_library_that_is_not_installed\n")
    with pytest.raises(ModuleNotFoundError, match="a_library_that_is_not_installed"):
        load_object("acme_toy.meaning:copy")


def test_methods_that_core_makes_when_it_needs_them_are_nobodys_fault() -> None:
    """Nodes compile `with_children` at first use, which may be between two loads."""
    code = (
        "import tirx; from tirx.backend import patches; from tirx.ir import Add, Mul, const; tirx.backend.registry(); patches.remember(); "
        "Add(const(1), const(2)).with_children((const(3), const(4))); assert patches.restore() == []; "
        "Mul.with_children = lambda self, new: self; assert patches.restore() == ['tirx.ir.expr.Mul.with_children']"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
