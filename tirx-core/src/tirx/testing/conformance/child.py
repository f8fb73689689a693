"""What runs in a process of its own: it imports the backend and writes down what that did. Run as a script, never imported.

It is given one JSON object: the words (what, backend, plugin module, answer file), arguments, and the path.
"""

from __future__ import annotations

import builtins
import importlib
import json
import os
import pickle
import signal
import sys
import threading
import time
from typing import Any

WATCHED = (
    "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen", "socket.connect", "socket.bind",
    "urllib.Request", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "shutil.rmtree", "ctypes.dlopen", "os.chdir",
)  # fmt: skip
PACE = 0.012
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Watch:
    """What the interpreter tells about processes, files and connections while the plugin is imported."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.on = False
        sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note what matters."""
        if not self.on:
            return
        if event == "open":
            mode, flags = str(arguments[1] or ""), arguments[2] or 0
            if set(mode) & set("wax+") or (isinstance(flags, int) and flags & WRITES):
                self.events.append(f"open {arguments[0]} for writing")
        elif event in WATCHED:
            self.events.append(f"{event} {arguments[0] if arguments else ''}".strip())


class Clock:
    """Seconds of computing and of waiting, as far as they are the plugin's: not those in which others had the processor."""

    def __init__(self) -> None:
        self.pace = max(1.0, paced() / PACE)
        self.before = time.perf_counter(), time.process_time(), queued()

    def stop(self) -> tuple[float, float]:
        """(computed on a machine of usual pace, waited)."""
        wall, computed, queue = (
            now - then
            for now, then in zip((time.perf_counter(), time.process_time(), queued()), self.before, strict=True)
        )
        return computed / self.pace, max(0.0, wall - computed - queue)


def paced() -> float:
    """Seconds of a loop that computes nothing: slow machines, and busy ones that share their cores, take longer."""
    start = time.process_time()
    for _ in range(500_000):
        pass
    return time.process_time() - start


def queued() -> float:
    """Seconds that this process could have run and did not, where the system tells."""
    try:
        with open("/proc/self/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def settings() -> dict[str, Any]:
    """The state of the process that a plugin has no business to change."""
    return {
        "os.environ": dict(os.environ),
        "the working directory": os.getcwd(),
        "sys.path": list(sys.path),
        "sys.meta_path": [type(item).__name__ for item in sys.meta_path],
        "sys.excepthook": repr(sys.excepthook),
        "the recursion limit": sys.getrecursionlimit(),
        "running threads": sorted(item.name for item in threading.enumerate()),
        "handlers of signals": [repr(signal.getsignal(item)) for item in (signal.SIGINT, signal.SIGTERM)],
    }


def core_modules() -> list[str]:
    """The modules of core that are imported."""
    return [name for name in sys.modules if name == "tirx" or name.startswith("tirx.")]


def owners() -> dict[str, Any]:
    """Everything of core and Python that somebody could put other functions into."""
    found: dict[str, Any] = {"builtins": builtins}
    for name in core_modules():
        module = sys.modules[name]
        found[name] = module
        for key, value in list(vars(module).items()):
            if isinstance(value, type) and value.__module__ == name:
                found[f"{name}.{key}"] = value
    return found


def contents(held: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The functions and classes of each of them."""
    return {
        name: {key: value for key, value in list(vars(item).items()) if callable(value) or hasattr(value, "__func__")}
        for name, item in held.items()
    }


def changed(held: dict[str, Any], before: dict[str, dict[str, Any]]) -> list[str]:
    """What was put in place of something."""
    return [
        f"{name}.{key} was replaced by one of {getattr(value, '__module__', '?')}"
        for name, now in contents(held).items()
        for key, value in now.items()
        if key in before[name] and before[name][key] is not value
    ]


def foreign(package: str) -> list[str]:
    """What lies in core and comes from the plugin's package."""
    return [
        f"{name}.{key} comes from {value.__module__}"
        for name, held in contents(owners()).items()
        for key, value in held.items()
        if str(getattr(value, "__module__", "")).partition(".")[0] == package
    ]


def look(backend: str, plugin: str) -> dict[str, Any]:
    """Import core, then the plugin, then load the backend."""
    tirx = importlib.import_module("tirx")
    script = importlib.import_module("tirx.script")
    package = plugin.partition(".")[0]
    with_core = package in sys.modules
    tirx.backend.registry()
    for name in ("codegen.dialect", "codegen.function", "script.row", "layout.row", "tile.context", "transform.row"):
        importlib.import_module(f"tirx.{name}")
    held = owners()
    before, modules, state = contents(held), set(sys.modules), settings()
    watch = Watch()
    clock = Clock()
    watch.on = True
    error = attempt(plugin)
    watch.on = False
    computed, waited = clock.stop()
    imported, printed = sorted(set(sys.modules) - modules), flushed()
    after = settings()
    touched = [*changed(held, before), *foreign(package)]  # loading may put back what it finds replaced
    loading = "" if error else loaded(tirx, backend)
    return {
        "with_core": with_core,
        "language": script.__name__,
        "computed": computed,
        "waited": waited,
        "error": error,
        "loading": loading,
        "imported": imported,
        "printed": printed,
        "events": watch.events,
        "settings": [name for name, value in after.items() if value != state[name]],
        "changed": list(dict.fromkeys([*touched, *changed(held, before), *foreign(package)])),
        "backends": sorted(
            name for name in tirx.backend.default_host().loaded() if name.partition(".")[0] != backend.partition(".")[0]
        ),
    }


def attempt(module: str) -> str:
    """Import a module; what it raised, in a line."""
    try:
        importlib.import_module(module)
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, and end the process
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


def loaded(tirx: Any, backend: str) -> str:
    """Load the backend; what went wrong, in a line."""
    try:
        tirx.backend.load(backend)
    except tirx.TirxError as error:
        return str(error.message)
    return ""


def flushed() -> int:
    """How many bytes were printed so far."""
    sys.stdout.flush()
    sys.stderr.flush()
    return os.fstat(1).st_size


def first(backend: str, plugin: str) -> dict[str, Any]:
    """Import the plugin before anybody has imported core."""
    return {"error": attempt(plugin)}


def source(backend: str, plugin: str, pickled: str, *samples: str) -> dict[str, Any]:
    """What other processes get for neutral kernels, and for rows that were pickled elsewhere."""
    kit = "tirx.testing.conformance"
    importlib.import_module("tirx").backend.load(backend)
    subject = importlib.import_module(f"{kit}.subject").Subject(backend, samples)
    digests = importlib.import_module(f"{kit}.codegen").source_digests(subject)
    rows = pickle.loads(bytes.fromhex(pickled))  # noqa: S301 - written by the process that asks
    return {"sources": digests, "rows": [row.name for row in rows]}


def main() -> None:
    """Answer one request."""
    request = json.loads(sys.argv[1])
    sys.path[:] = request["path"]
    what, backend, plugin, answer = request["words"]
    process = os.getpid()
    answers: dict[str, Any] = {"look": look, "first": first, "source": source}
    found = answers[what](backend, plugin, *request["arguments"])
    if os.getpid() != process:
        os._exit(70)
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
