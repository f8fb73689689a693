"""From the manifests of installed distributions to backends and extensions, judged before anything is imported."""

from __future__ import annotations

from tirx.support.suggest import did_you_mean

from .spelling import API_VERSION, API_VERSIONS, RESERVED, normalise, split_value, valid_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .discovery import Found
    from .metadata import Distribution

__all__ = ["Candidate", "Selection", "State", "gather", "judge"]


class State:
    """The states of a backend or extension."""

    OK = "OK"
    NOT_LOADED = "NOT LOADED"
    DISABLED = "DISABLED"
    SHADOWED = "SHADOWED"
    INCOMPATIBLE = "INCOMPATIBLE"
    FAILED = "FAILED"
    UNAVAILABLE = "UNAVAILABLE"


class Candidate:
    """A backend (`acme`) or extension (`acme.fast`) as its manifest describes it.

    `state`, `cause` and `todo` are the verdict of the rules that need no import; `plugin` is set when the program
    registered an object itself.
    """

    __slots__ = (
        "apis",
        "cause",
        "distribution",
        "group",
        "name",
        "plugin",
        "problem",
        "promises",
        "state",
        "todo",
        "value",
    )

    def __init__(self, name: str, group: str, value: str, distribution: Distribution) -> None:
        self.name = name
        self.group = group
        self.value = value
        self.distribution = distribution
        self.apis: tuple[int, ...] = ()
        self.promises: tuple[str, ...] = ()
        self.problem = ""
        self.plugin: Any = None
        self.state = State.NOT_LOADED
        self.cause = ""
        self.todo = ""

    @property
    def host(self) -> str:
        """The backend that an extension adds to; empty for a backend."""
        return self.name.partition(".")[0] if self.is_extension else ""

    @property
    def is_extension(self) -> bool:
        """Whether it adds to somebody else's backend."""
        return "." in self.name

    @property
    def what(self) -> str:
        """How messages call it: backend `acme`."""
        return f"{'extension' if self.is_extension else 'backend'} `{self.name}`"

    @property
    def entry_point(self) -> str:
        """The line of the manifest that it comes from."""
        return f"{self.name} = {self.value} (group {self.group})"

    @property
    def identity(self) -> tuple[str, str, str]:
        """What a failure belongs to: another version, or one from elsewhere, is tried anew."""
        return (self.name, str(self.distribution), self.distribution.location)

    @property
    def usable(self) -> bool:
        """Whether nothing known before an import speaks against it."""
        return self.state == State.NOT_LOADED

    def refuse(self, state: str, cause: str, todo: str) -> None:
        """Set the verdict."""
        self.state, self.cause, self.todo = state, cause, todo


class Selection:
    """What `TIRX_BACKENDS` allows: a comma-separated list of backends, extensions or distributions; `-` excludes."""

    __slots__ = ("excluded", "only", "text")

    def __init__(self, text: str | None) -> None:
        parts = [part.strip() for part in (text or "").split(",") if part.strip()]
        self.text = text
        self.excluded = frozenset(normalise(part[1:]) for part in parts if part[0] == "-")
        listed = frozenset(normalise(part) for part in parts if part[0] != "-")
        self.only: frozenset[str] | None = listed if listed or (text is not None and not self.excluded) else None

    def refusal(self, candidate: Candidate) -> str:
        """Why the candidate must not be imported; empty when it may."""
        names = _tokens(candidate)
        if names & self.excluded or (candidate.host and normalise(candidate.host) in self.excluded):
            return f"TIRX_BACKENDS={self.text} excludes it"
        if self.only is not None and not names & self.only:
            return (
                f"TIRX_BACKENDS={self.text} does not list it" if self.only else "TIRX_BACKENDS is empty: it allows none"
            )
        return ""

    def unknown(self, candidates: Iterable[Candidate]) -> list[str]:
        """Parts of the setting that match nothing installed."""
        known = frozenset(token for item in candidates for token in _tokens(item))
        return sorted((self.excluded | (self.only or frozenset())) - known)


def _tokens(candidate: Candidate) -> frozenset[str]:
    return frozenset((normalise(candidate.name), normalise(candidate.distribution.name)))


def gather(distribution: Distribution) -> list[Candidate]:
    """The backends and extensions of one distribution."""
    found: dict[str, Candidate] = {}
    for group, name, value in sorted(distribution.entries, key=_newest_usable_first):
        api = _api_of(group)
        if api is None and group != "tirx.extensions":
            continue
        item = found.setdefault(name, Candidate(name, group, value, distribution))
        if api is not None and api not in item.apis:
            item.apis = (*item.apis, api)
    for item in found.values():
        if item.is_extension and not item.apis:
            item.apis = (1,)  # the group `tirx.extensions` alone means the first API
    _assign_promises(list(found.values()), distribution)
    return list(found.values())


def _newest_usable_first(entry: tuple[str, str, str]) -> tuple[int, str]:
    api = _api_of(entry[0])
    return (-api if api in API_VERSIONS and api is not None else 0, entry[1])


def _api_of(group: str) -> int | None:
    number = group[len("tirx.api.v") :]
    return int(number) if group.startswith("tirx.api.v") and number.isascii() and number.isdigit() else None


def _assign_promises(candidates: Sequence[Candidate], distribution: Distribution) -> None:
    """A promise belongs to the candidate whose object it names."""
    for group, promise, value in distribution.entries:
        if group != "tirx.provides":
            continue
        owners = [item for item in candidates if split_value(item.value) == split_value(value)]
        for item in owners:
            item.promises = (*item.promises, promise)
        if not owners:
            for item in candidates:
                item.problem = f"the manifest promises `{promise}` from {value}, which none of its entry points names"


def judge(
    found: Sequence[Found], registered: Sequence[Candidate], selection: Selection, core_version: str
) -> tuple[Candidate, ...]:
    """All candidates, in an order that does not depend on the path, with the verdicts of all rules before import."""
    candidates = list(registered)
    own = {normalise(item.distribution.name) for item in registered}
    for item in registered:
        item.refuse(State.NOT_LOADED, "", "")
    for entry in found:
        for candidate in gather(entry.distribution):
            shadow = entry.shadowed_by
            if normalise(entry.distribution.name) in own:
                shadow = "the program, which registered its own copy"
            if shadow:
                _shadow(candidate, shadow)
            candidates.append(candidate)
    for item in candidates:
        if item.usable:
            _judge_alone(item, selection, core_version)
    _judge_names(candidates)
    candidates.sort(key=lambda item: (item.name, normalise(item.distribution.name), item.state == State.SHADOWED))
    _judge_hosts(candidates)
    return tuple(candidates)


def _shadow(item: Candidate, by: str) -> None:
    name = item.distribution.name
    item.refuse(
        State.SHADOWED,
        f"another copy of {name} comes first on the path, in {by}",
        f"uninstall one of the two copies of {name}",
    )


def _judge_alone(item: Candidate, selection: Selection, core_version: str) -> None:
    problem = _bad_manifest(item)
    if problem:
        item.refuse(State.INCOMPATIBLE, problem, f"report it to the authors of {item.distribution.name}")
        return
    if not set(item.apis) & set(API_VERSIONS):
        _refuse_api(item, core_version)
        return
    refusal = selection.refusal(item)
    if refusal:
        item.refuse(State.DISABLED, refusal, f"to use it, add {item.name} to TIRX_BACKENDS or unset that variable")


def _bad_manifest(item: Candidate) -> str:
    if item.plugin is None and not _importable(item.value):
        return f"its entry point names `{item.value}`, which is not `package.module` or `package.module:object`"
    parts = item.name.split(".")
    if len(parts) > 2 or not all(map(valid_name, parts)):
        return f"`{item.name}` is not a name for a backend: small letters, digits and `_`, a letter first"
    if parts[0] in RESERVED:
        return f"the name `{parts[0]}` is reserved"
    return item.problem


def _importable(value: str) -> bool:
    module, attribute = split_value(value)
    parts = [*module.split("."), *(attribute.split(".") if attribute else [])]
    return all(part.isidentifier() for part in parts)


def _refuse_api(item: Candidate, core_version: str) -> None:
    window = f"{API_VERSIONS[0]} to {API_VERSION}" if len(API_VERSIONS) > 1 else str(API_VERSION)
    spoken = ", ".join(map(str, sorted(item.apis))) or "none"
    newer = bool(item.apis) and min(item.apis) > API_VERSION
    upgrade = "tirx-core" if newer else item.distribution.name
    item.refuse(
        State.INCOMPATIBLE,
        f"it speaks plugin API {spoken}, tirx-core {core_version} speaks {window}",
        f"upgrade it: pip install --upgrade {upgrade}",
    )


def _judge_names(candidates: Sequence[Candidate]) -> None:
    """Two distributions with one name: neither is used, whatever the order of the path."""
    by_name: dict[str, list[Candidate]] = {}
    for item in candidates:
        if item.usable:
            by_name.setdefault(item.name, []).append(item)
    for name, rivals in by_name.items():
        if len(rivals) > 1:
            both = " and ".join(sorted(f"{item.distribution} ({item.distribution.location})" for item in rivals))
            keep_out = " or ".join(f"TIRX_BACKENDS=-{one}" for one in sorted(item.distribution.name for item in rivals))
            for item in rivals:
                item.refuse(
                    State.SHADOWED,
                    f"{len(rivals)} distributions are called {name!r}: {both}",
                    f"uninstall one of them, or keep one out: {keep_out}",
                )


def _judge_hosts(candidates: Sequence[Candidate]) -> None:
    """An extension needs its host."""
    backends = {item.name: item for item in reversed(candidates) if not item.is_extension}
    backends.update({item.name: item for item in candidates if item.usable and not item.is_extension})
    for item in candidates:
        if not item.usable or not item.is_extension:
            continue
        host = backends.get(item.host)
        if host is None:
            near = did_you_mean(item.host, backends)
            item.refuse(
                State.UNAVAILABLE,
                f"it extends the backend `{item.host}`, which is not installed",
                near or f"install a distribution that gives `{item.host}`",
            )
        elif not host.usable:
            cause = f"it extends the backend `{item.host}`, which is {host.state}: {host.cause}"
            item.refuse(State.UNAVAILABLE, cause, host.todo)
