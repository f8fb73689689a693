"""Loading one plugin, step by step; `stage` says where it stopped."""

from __future__ import annotations

from tirx.support.errors import BackendError
from tirx.support.suggest import did_you_mean

from .guard import Guard
from .hooks import collect, functions_of
from .importing import ensure_on_path, import_plugin
from .patches import remember, restore
from .rows import Contribution, Owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .candidates import Candidate
    from .host import Host
    from .snapshot import Registry

__all__ = ["Loader"]


class Loader:
    """One attempt to load a candidate. Nothing of the host changes until the attempt is over."""

    def __init__(self, host: Host, candidate: Candidate) -> None:
        self.host = host
        self.candidate = candidate
        self.owner = Owner(candidate.distribution.name, candidate.distribution.version, candidate.name)
        self.stage = "while it was imported"

    def attempt(self) -> Registry:
        """The snapshot that has this plugin's rows too. Whatever is raised is the plugin's fault, at `stage`."""
        self._hold_against_lock()
        without = f"TIRX_BACKENDS=-{self.candidate.name}"
        remember()
        try:
            with Guard(f"{self.candidate.what} ({self.owner})", without, self.host.slow_after) as guard:
                made = self._joined()
        finally:
            replaced = restore()
        if guard.forked:
            self.stage = "while it was loaded"
            raise BackendError("it forked a process", hint="start processes when they are needed, not on import")
        if replaced:
            self.stage = "while it was loaded"
            raise BackendError(
                f"it replaced names of core, which were put back: {', '.join(sorted(replaced))}",
                hint=f"plugins add rows and change nothing; report it to the authors of {self.owner.distribution}",
            )
        return made

    def _joined(self) -> Registry:
        signatures = self.host.signatures()
        plugin = self._plugin()
        self.stage = "when its hooks were checked"
        functions = functions_of(plugin, self.host.kinds)
        signatures.register(self.candidate.name, functions)
        self.stage = "in its hooks"
        contribution = Contribution(self.owner, collect(functions, self.host.kinds, self.owner))
        self.stage = "when its promises were checked"
        self._check_promises(contribution)
        self.stage = "when its rows joined those of the others"
        return self.host.snapshot().extended(contribution).verify()

    def _hold_against_lock(self) -> None:
        if not self.host.environ.get("TIRX_BACKENDS_LOCK"):
            return
        from .lock import check_locked  # hashing is only for who asks for it

        stage, self.stage = self.stage, "before it was imported"
        check_locked(self.host, self.candidate)
        self.stage = stage

    def _plugin(self) -> Any:
        if self.candidate.plugin is not None:
            return self.candidate.plugin
        ensure_on_path(self.host.discovery.named_folders(), self.candidate)
        return import_plugin(self.candidate)

    def _check_promises(self, contribution: Contribution) -> None:
        kinds = self.host.kinds
        keys = {name: [kinds[name].key(row) for row in rows] for name, rows in contribution.rows.items()}
        broken = [
            promise
            for promise in self.candidate.promises
            if not any(kinds[name].keeps(promise, found) for name, found in keys.items())
        ]
        if broken:
            prefixes = sorted({prefix for kind in kinds.values() for prefix in kind.provides})
            strange = sorted({promise.partition(".")[0] for promise in broken} - set(prefixes))
            near = did_you_mean(strange[0], prefixes) if strange else None
            raise BackendError(
                f"its manifest promises what its hooks do not give: {', '.join(broken)}",
                hint=near or f"correct the group tirx.provides of {self.owner.distribution}, or its hooks",
            )
