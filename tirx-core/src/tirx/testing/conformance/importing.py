"""What importing the plugin does, seen from a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

from ...backend import default_host
from ...backend.spelling import split_value
from .check import ConformanceCheck
from .subject import Subject

__all__ = ["BUDGET", "CHECKS", "HEAVY"]

BUDGET = 0.2
"""Seconds of computing that importing the plugin may take, once core is there; and of waiting, for itself or others."""

HEAVY = (
    "numpy",
    "scipy",
    "pandas",
    "torch",
    "jax",
    "tensorflow",
    "matplotlib",
    "ctypes",
    "subprocess",
    "multiprocessing",
    "asyncio",
    "importlib.metadata",
    "importlib_metadata",
    "pkg_resources",
    "requests",
    "urllib.request",
    "email",
)
"""Modules that cost much to import and that no hook needs: what does, is named by text and loaded when it is used."""

_PROCESSES = ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen")


def _alive(subject: Subject) -> Iterator[str]:
    found = subject.observed
    if "died" in found:
        yield found["died"]
    elif found["error"]:
        yield found["error"]


def _either_order(subject: Subject) -> Iterator[str]:
    found = subject.child("first")
    if found.get("died") or found.get("error"):
        yield f"imported before core: {found.get('died') or found['error']}"


def _budget(subject: Subject) -> Iterator[str]:
    best = {name: subject.observed.get(name, 0.0) for name in ("computed", "waited")}
    for _ in range(2):  # a busy machine is no fault of the plugin: the best of a few tries counts
        if max(best.values()) <= BUDGET or max(best.values()) > 4 * BUDGET:
            break
        again = subject.child("look")
        best = {name: min(value, again.get(name, value)) for name, value in best.items()}
    for name, what in (("computed", "computes"), ("waited", "waits")):
        if best[name] > BUDGET:
            yield f"importing it {what} for {best[name] * 1e3:.0f} ms, {BUDGET * 1e3:.0f} are allowed"


def _libraries(subject: Subject) -> Iterator[str]:
    brought = set(subject.observed.get("imported", ()))
    yield from (f"it imports {name}" for name in HEAVY if name in brought)


def _silent(subject: Subject) -> Iterator[str]:
    printed = subject.observed.get("printed", 0)
    if printed:
        yield f"it prints {printed} bytes while it is imported"


def _processes(subject: Subject) -> Iterator[str]:
    events = subject.observed.get("events", ())
    yield from (f"it starts a process: {event}" for event in events if event.startswith(_PROCESSES))


def _no_work(subject: Subject) -> Iterator[str]:
    events = subject.observed.get("events", ())
    yield from (f"while it is imported: {event}" for event in events if not event.startswith(_PROCESSES))


def _process_state(subject: Subject) -> Iterator[str]:
    yield from (f"importing it changes {name}" for name in subject.observed.get("settings", ()))


def _core_untouched(subject: Subject) -> Iterator[str]:
    yield from subject.observed.get("changed", ())


def _isolated(subject: Subject) -> Iterator[str]:
    found = subject.observed
    if found.get("with_core"):
        yield f"`import tirx` alone imports {subject.package}"
    yield from (f"loading it loads backend `{name}`" for name in found.get("backends", ()))
    candidates = [item for item in default_host().candidates() if item.plugin is None and item.name != subject.host]
    others = {split_value(item.value)[0].partition(".")[0] for item in candidates} - {subject.package}
    yield from (f"it imports {name}, another backend" for name in sorted(others & set(found.get("imported", ()))))


CHECKS = (
    ConformanceCheck(
        "import.alive",
        _alive,
        "a process of its own survives importing and loading the backend",
        "run `tirx backends --probe`, and read the cause",
        after=("manifest.found", "manifest.api_window"),
    ),
    ConformanceCheck(
        "import.either_order",
        _either_order,
        "the plugin can be imported before core",
        "import core's modules by their own names; nothing of core may be expected to be there",
        after=("import.alive",),
    ),
    ConformanceCheck(
        "import.budget",
        _budget,
        "importing the plugin is quick, since every `tirx targets` does it",
        'name what is large by "module:attribute" instead of importing it; `python -X importtime` shows what takes long',
        after=("import.alive",),
    ),
    ConformanceCheck(
        "import.libraries",
        _libraries,
        "importing the plugin imports no library that only later steps need",
        "import it in the function or module that uses it (sim, toolchain, device are loaded when they are used)",
        after=("import.alive",),
    ),
    ConformanceCheck(
        "import.silent",
        _silent,
        "importing the plugin prints nothing",
        "remove the print, or raise UnavailableError with the message",
        after=("import.alive",),
    ),
    ConformanceCheck(
        "import.processes",
        _processes,
        "importing the plugin starts and forks no process",
        "do it where the answer is needed: in a toolchain's `find`, in a device's `open`",
        after=("import.alive",),
    ),
    ConformanceCheck(
        "import.no_work",
        _no_work,
        "importing the plugin writes no file, opens no connection and no driver",
        "do it where the answer is needed: in a toolchain's `find`, in a device's `open`",
        after=("import.alive", "import.libraries"),
    ),
    ConformanceCheck(
        "import.process_state",
        _process_state,
        "importing the plugin leaves the process as it was",
        "take the change out; what a kernel's run needs belongs into its device",
        after=("import.alive",),
    ),
    ConformanceCheck(
        "import.core_untouched",
        _core_untouched,
        "the plugin replaces and adds nothing in core or builtins",
        "give a row instead: every table of core is open to hooks; ask for a hook that you miss",
        after=("import.alive",),
    ),
    ConformanceCheck(
        "import.isolated",
        _isolated,
        "core does not import the plugin, and the plugin imports no other backend",
        "depend on core alone; what adds to another backend is an extension (group tirx.extensions)",
        after=("import.alive",),
    ),
)
