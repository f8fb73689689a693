"""The host of plugins: finds, loads, unloads, and holds the current registry snapshot.

`tirx.backend` has one; tests make their own with other row kinds, another path and another environment.
"""

from __future__ import annotations

import os
from _thread import RLock
from collections.abc import Iterable, Mapping, Sequence

from tirx.support.errors import BackendError
from tirx.support.suggest import did_you_mean

from .candidates import Candidate, Selection, State, judge
from .discovery import Discovery
from .faults import Fault, refusal
from .metadata import Distribution
from .rows import Contribution, Owner, RowKind
from .settings import EnabledExtensions
from .snapshot import Registry
from .spelling import split_promise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .record import BackendInfo
    from .signatures import Signatures

__all__ = ["Host"]

SLOW_AFTER = 5.0
"""Seconds of loading after which a plugin is named on standard error."""


class Host:
    """Plugins of one set of row kinds. All methods may be called from any thread."""

    def __init__(
        self,
        kinds: Sequence[RowKind],
        core: Any = None,
        *,
        core_owner: Owner | None = None,
        path: Callable[[], Sequence[str]] | None = None,
        environ: Mapping[str, str] | None = None,
        slow_after: float = SLOW_AFTER,
    ) -> None:
        self.kinds: dict[str, RowKind] = {kind.name: kind for kind in kinds}
        self.environ = os.environ if environ is None else environ
        self.discovery = Discovery(path, self.environ)
        self.enabled = EnabledExtensions(self.environ)
        self.slow_after = slow_after
        self.core_owner = core_owner or Owner("tirx-core", "0", "core")
        self._lock = RLock()
        self._core = core
        self._registry: Registry | None = None
        self._registered: tuple[Candidate, ...] = ()
        self._loaded: dict[str, Candidate] = {}
        self._loading: list[str] = []
        self._faults: dict[tuple[str, str, str], Fault] = {}
        self._judged: tuple[Any, tuple[Candidate, ...]] = (None, ())
        self._signatures: Signatures | None = None
        self._has_extensions = False

    # What there is, before anything is imported.

    def candidates(self) -> tuple[Candidate, ...]:
        """All backends and extensions, installed or registered, judged; the same tuple while nothing changes."""
        found = self.discovery.find()
        setting = self.environ.get("TIRX_BACKENDS")
        seen, judged = self._judged
        if seen is None or seen[0] is not found or seen[1:] != (setting, self._registered):
            judged = judge(found, self._registered, Selection(setting), self.core_owner.version)
            self._judged = ((found, setting, self._registered), judged)
        return judged

    def providers(self, promise: str) -> list[Candidate]:
        """Everybody whose manifest promises this name, usable or not."""
        return [item for item in self.candidates() if promise in item.promises]

    def register(
        self,
        name: str,
        plugin: Any,
        *,
        distribution: str = "",
        version: str = "0",
        provides: Iterable[str] = (),
        apis: Iterable[int] = (1,),
    ) -> None:
        """Make a plugin known without installed metadata: an object, or `package.module[:object]` to import later."""
        value = plugin if isinstance(plugin, str) else f"{type(plugin).__name__} object"
        home = Distribution(distribution or name.replace(".", "-"), version, "the running program", "", ())
        item = Candidate(name, "registered by the program", value, home)
        item.apis, item.promises = tuple(apis), tuple(provides)
        item.plugin = None if isinstance(plugin, str) else plugin
        with self._lock:
            self._registered = (*(old for old in self._registered if old.name != name), item)

    # The registry.

    def registry(self, extensions: Iterable[str] = ()) -> Registry:
        """The current snapshot; `extensions` are enabled in addition to those of the settings, and must load."""
        current = self._registry
        if current is None:
            current = self._start()
        wanted = tuple(extensions)
        for name in wanted:
            self.load(name)
        if self._has_extensions:
            return self.snapshot().enabling((*wanted, *self.enabled.names()))
        return current

    def find(self, kind: str, key: Any) -> Any:
        """The row (or rows) of this kind and key; loads the backend that promises it when nobody loaded has it."""
        row = self._view(kind).find(kind, key)
        if row is not None:
            return row
        for promise in self.kinds[kind].promised(key):
            if self.load_provider(*split_promise(promise)):
                row = self._view(kind).find(kind, key)
                if row is not None:
                    return row
        return None

    def names(self, kind: str) -> list[str]:
        """All names of a kind that are loaded or promised, for hints; loads nothing."""
        prefixes = self.registry().kind(kind).provides
        loaded = [key for key in self.registry().rows(kind) if isinstance(key, str)]
        promises = [split_promise(promise) for item in self.candidates() if item.usable for promise in item.promises]
        return sorted({*loaded, *(name for prefix, name in promises if prefix in prefixes)})

    # Loading and unloading.

    def load(self, name: str) -> Candidate:
        """Load a backend with its extensions, or one extension with its host. Does nothing when it is loaded."""
        self.registry()
        loaded = self._loaded.get(name)
        if loaded is not None:
            return loaded
        with self._lock:
            return self._loaded.get(name) or self._load_named(name)

    def load_provider(self, prefix: str, name: str) -> bool:
        """Load whoever promises `prefix.name`. False when nobody usable does; an error when that one is broken."""
        promise = f"{prefix}.{name}"
        usable = [item for item in self.providers(promise) if item.usable]
        if not usable or all(item.name in self._loaded for item in usable):
            return False
        if len(usable) > 1 and not self._may_share(prefix):
            both = " and ".join(f"{item.distribution} (backend {item.name})" for item in usable)
            keep_out = " or ".join(f"TIRX_BACKENDS=-{item.name}" for item in usable)
            raise BackendError(f"`{promise}` is promised by {both}", hint=f"keep one out: {keep_out}")
        for item in usable:
            self.load(item.name)
        return True

    def unload(self, name: str) -> None:
        """Take away the rows of a backend and its extensions; its modules stay imported."""
        if name == "core":
            raise BackendError("core cannot be unloaded")
        with self._lock:
            if name not in self._loaded:
                raise BackendError(f"backend `{name}` is not loaded", hint=did_you_mean(name, self._loaded))
            gone = [other for other in self._loaded if other == name or other.startswith(f"{name}.")]
            self._registry = self.snapshot().without(gone)
            for other in gone:
                del self._loaded[other]
                if self._signatures is not None:
                    self._signatures.unregister(other)

    def refresh(self) -> None:
        """Look again at everything: scan the path, forget failures. What is loaded stays loaded."""
        from importlib import invalidate_caches

        with self._lock:
            invalidate_caches()
            self.discovery.forget()
            self.enabled.forget()
            self._faults.clear()
            self._judged = (None, ())

    def is_loaded(self, name: str) -> bool:
        """Whether its rows are in the registry."""
        return name == "core" or name in self._loaded

    # Asking about them.

    def infos(self) -> list[BackendInfo]:
        """A record for every backend and extension, usable or not."""
        from .record import records  # only for who asks

        return records(self)

    def info(self, name: str) -> BackendInfo:
        """The record of one; of several with that name, the one in use."""
        found = [item for item in self.infos() if item.name == name]
        if not found:
            raise self.unknown(name)
        return min(found, key=lambda item: (item.state != State.OK, item.state == State.SHADOWED))

    def available(self) -> tuple[str, ...]:
        """The backends that are loaded or can be, as far as that is known without importing them."""
        good = (State.OK, State.NOT_LOADED)
        return tuple(dict.fromkeys(item.name for item in self.infos() if item.kind == "backend" and item.state in good))

    def unknown(self, name: str) -> BackendError:
        """The error for a name that no installed distribution has."""
        from .missing import unknown_backend  # only when a name is unknown

        return unknown_backend(self, name)

    def fault_of(self, candidate: Candidate) -> Fault | None:
        """What went wrong when it was last loaded."""
        return self._faults.get(candidate.identity)

    def loaded(self) -> Mapping[str, Candidate]:
        """What is loaded, by name."""
        return dict(self._loaded)

    def snapshot(self) -> Registry:
        """The snapshot itself, without the extensions that the settings enable."""
        return self._registry or self._start()

    # Inside.

    def _view(self, kind: str) -> Registry:
        """Settings are only read for kinds that they change: looking a row up happens thousands of times."""
        current = self.snapshot()
        return self.registry() if current.kind(kind).opt_in else current

    def _start(self) -> Registry:
        with self._lock:
            if self._registry is None:
                if "core" in self._loading:
                    raise BackendError("core's hooks ask for the registry that is being made of them")
                self._loading.append("core")
                try:
                    self._registry = self._with_core(Registry(self.kinds))
                finally:
                    self._loading.remove("core")
            return self._registry

    def _with_core(self, empty: Registry) -> Registry:
        """Core's own rows go through the same door; only pluggy stays out, whose import takes longer than all of it."""
        if self._core is None:
            return empty
        from .hooks import collect, functions_of  # not needed before a registry is
        from .patches import remember

        functions = functions_of(self._core, self.kinds)
        rows = collect(functions, self.kinds, self.core_owner)
        made = empty.extended(Contribution(self.core_owner, rows)).verify()
        remember()
        return made

    def _may_share(self, prefix: str) -> bool:
        return all(kind.multi for kind in self.kinds.values() if prefix in kind.provides)

    def _load_named(self, name: str) -> Candidate:
        candidates = self.candidates()  # looked up once: it asks the file system whether anything changed
        candidate = self._pick(name, candidates)
        if candidate.is_extension and candidate.host not in self._loaded:
            self._load_named(candidate.host)
            if name in self._loaded:
                return candidate
        self._load_one(candidate)
        for extension in (item for item in candidates if item.host == name):
            if extension.usable and self.fault_of(extension) is None and extension.name not in self._loaded:
                self._load_extension(extension)
        self._tell_missing(name)
        return candidate

    def _tell_missing(self, name: str) -> None:
        """An extension that the environment enables and that is not installed would have changed kernels: that is told.

        The project's file is not read for it: loading would wait for that. `tirx backends` notes what is amiss there.
        """
        if "TIRX_EXTENSIONS" not in self.environ:
            return
        installed = {item.name for item in self.candidates()}
        wanted = sorted(item for item in self.enabled.names() if item.partition(".")[0] == name)
        for extension in wanted:
            if extension not in installed:
                self._warn(f"extension `{extension}` is not installed")

    def _pick(self, name: str, candidates: Iterable[Candidate]) -> Candidate:
        found = [item for item in candidates if item.name == name]
        for item in found:
            if item.usable:
                fault = self.fault_of(item)
                if fault is not None:
                    raise refusal(item, fault)
                return item
        if found:
            raise refusal(found[0])
        raise self.unknown(name)

    def _load_extension(self, extension: Candidate) -> None:
        """A broken extension never fails its host; who enabled it is told."""
        try:
            self._load_one(extension)
        except BackendError as error:
            if extension.name in self.enabled.names():
                self._warn(str(error))

    def _warn(self, what: str) -> None:
        import warnings  # only where there is something to say

        warnings.warn(f"an enabled extension is missing: {what}", RuntimeWarning, stacklevel=5)

    def _load_one(self, candidate: Candidate) -> None:
        from .loader import Loader  # the machinery of loading is not needed until something is loaded

        name = candidate.name
        if name in self._loading:
            raise BackendError(f"{candidate.what} asks for itself while it is being loaded")
        self._loading.append(name)
        loader = Loader(self, candidate)
        try:
            self._registry = loader.attempt()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit() and the like are a plugin's failures too
            fault = self._faults[candidate.identity] = Fault(candidate, loader.stage, error)
            self.signatures().unregister(name)
            raise refusal(candidate, fault) from error
        finally:
            self._loading.remove(name)
        self._loaded[name] = candidate
        self._has_extensions = self._has_extensions or candidate.is_extension

    def signatures(self) -> Signatures:
        """The validator of hook signatures, made when the first plugin is loaded."""
        if self._signatures is None:
            from .signatures import Signatures  # imports pluggy, 20 ms

            self._signatures = Signatures(self.kinds.values())
        return self._signatures
