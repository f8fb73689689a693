"""What `tirx backends` and `tirx why` show, as text and as data. Nothing here imports a plugin."""

from __future__ import annotations

from tirx.support.table import table

from .candidates import Selection, State
from .default import default_host
from .missing import hint_for, well_known
from .spelling import API_VERSION, API_VERSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .host import Host
    from .probe import ProbeResult
    from .record import BackendInfo

__all__ = ["backends_data", "backends_text", "probe_all", "why", "why_data"]

_SETTINGS = ("TIRX_BACKENDS", "TIRX_BACKENDS_LOCK", "TIRX_EXTENSIONS", "TIRX_PLUGIN_PATH", "TIRX_PLUGIN_CACHE")


def probe_all(timeout: float = 10.0, progress: Callable[[str], None] | None = None) -> dict[str, ProbeResult]:
    """Load every usable backend and extension, each in a process of its own. `progress` is told each name before."""
    from .probe import probe  # only for who probes

    results = {}
    for item in default_host().candidates():
        if item.usable:
            if progress is not None:
                progress(item.name)
            results[item.name] = probe(item.name, timeout)
    return results


def backends_data(probes: Mapping[str, ProbeResult] | None = None) -> dict[str, Any]:
    """Everything about the installed backends and extensions, for `--json`."""
    host = default_host()
    return {
        "core": {"distribution": host.core_owner.distribution, "version": host.core_owner.version},
        "api": {"current": API_VERSION, "accepted": list(API_VERSIONS)},
        "settings": {name: host.environ[name] for name in _SETTINGS if name in host.environ},
        "notes": _notes(host),
        "backends": [_with_probe(item, probes or {}) for item in host.infos()],
    }


def backends_text(probes: Mapping[str, ProbeResult] | None = None) -> str:
    """A table of the installed backends and extensions, with causes and what to do below those that need it."""
    host = default_host()
    records = host.infos()
    lines = (
        [table(_COLUMNS, [_row(item, probes or {}) for item in records])] if records else ["No backend is installed."]
    )
    for item in records:
        lines += _remarks(item, (probes or {}).get(item.name))
    return "\n".join([*lines, *(f"note: {note}" for note in _notes(host))])


def why(name: str) -> str:
    """In words: what is known of a backend, extension, distribution or promised name, and which rule decided."""
    data = why_data(name)
    name = data["name"]
    lines = [line for item in data["records"] for line in _story(item)]
    lines += [f"{row['kind']} {name!r} is given by {row['distribution']} {row['version']}" for row in data["rows"]]
    if not lines:
        lines = [f"nothing that is installed offers `{name}`"]
    return "\n".join([*lines, *(f"  {hint}" for hint in data["hints"])])


def why_data(name: str) -> dict[str, Any]:
    """The facts behind `why`: records of the backends concerned, loaded rows of that name, hints."""
    host = default_host()
    name = name.removeprefix("Tx.")
    records = [item for item in host.infos() if _concerns(item, name)]
    rows = [
        {"kind": kind, "distribution": owner.distribution, "version": owner.version, "backend": owner.backend}
        for kind in host.kinds
        for row, owner in host.snapshot().entries(kind)
        if host.kinds[kind].key(row) == name
    ]
    hints = [] if records or rows else _hints(host, name)
    return {"name": name, "records": [item.as_dict() for item in records], "rows": rows, "hints": hints}


def _concerns(item: BackendInfo, name: str) -> bool:
    offered = {part for promise in item.promises for part in (promise, promise.partition(".")[2])}
    return name in (item.name, item.distribution) or name in offered


def _hints(host: Host, name: str) -> list[str]:
    prefix, _, bare = name.partition(".")
    kinds = [kind for kind in host.kinds.values() if not bare or prefix in kind.provides]
    found = [hint_for(host, kind.name, bare or name) for kind in kinds if kind.provides]
    backend = well_known().get(f"backend.{name}")
    error = host.unknown(name).diagnostics[0]
    hints = [*([f"pip install {backend}"] if backend else []), *found, *error.notes]
    return list(dict.fromkeys(hint for hint in hints if hint))


def _story(item: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{item['kind']} {item['name']}: {item['state']}",
        f"  entry point   {item['entry_point']}",
        f"  distribution  {item['distribution']} {item['version']}, in {item['location']}",
    ]
    if item["promises"]:
        lines.append(f"  promises      {', '.join(item['promises'])}")
    if item["rows"]:
        lines.append(f"  rows          {_counted(item['rows'])}")
    if item["extensions"]:
        lines.append(f"  extensions    {', '.join(item['extensions'])}")
    if item["kind"] == "extension":
        lines.append(f"  acts          {_acts(item['name'])}")
    lines.append(f"  cause         {item['cause'] or _USUAL[item['state']]}")
    if item["place"]:
        lines.append(f"  raised at     {item['place']}")
    if item["todo"]:
        lines.append(f"  what to do    {item['todo']}")
    return lines


def _acts(name: str) -> str:
    """Where the variants and passes of an extension act."""
    host = default_host()
    if name in host.enabled.names():
        return f"here: {_enabler(host)} enables it"
    return f'where it is enabled: TIRX_EXTENSIONS={name}, [tool.tirx] of pyproject.toml, extensions=["{name}"]'


def _enabler(host: Host) -> str:
    return "TIRX_EXTENSIONS" if "TIRX_EXTENSIONS" in host.environ else "[tool.tirx] of the project's pyproject.toml"


_USUAL = {
    State.OK: "it was asked for, and nothing spoke against it",
    State.NOT_LOADED: "nothing speaks against it; it is loaded when one of its names is asked for",
}


_COLUMNS = ("backend", "state", "distribution", "entry point")


def _row(item: BackendInfo, probes: Mapping[str, ProbeResult]) -> tuple[str, ...]:
    state = item.state
    if item.name in probes:
        state += f" (probed: {probes[item.name].state}, {probes[item.name].seconds:.1f} s)"
    return (item.name, state, f"{item.distribution} {item.version}", item.entry_point.partition(" = ")[2])


def _remarks(item: BackendInfo, probed: ProbeResult | None) -> list[str]:
    lines = []
    if item.cause:
        lines += [f"{item.name}: {item.state}: {item.cause}", *([f"  at {item.place}"] if item.place else [])]
        lines += [f"  what to do: {item.todo}"] if item.todo else []
    if probed is not None and not probed.ok:
        without = f"TIRX_BACKENDS=-{item.name}"
        lines += [
            f"{item.name}: {item.distribution} {item.version} failed when probed: {probed.cause}",
            f"  what to do: repair or upgrade {item.distribution}, or work without it: {without}",
        ]
    return lines


def _notes(host: Host) -> list[str]:
    candidates = host.candidates()
    unknown = Selection(host.environ.get("TIRX_BACKENDS")).unknown(candidates)
    notes = [f"TIRX_BACKENDS names `{name}`, which is not installed" for name in unknown]
    installed = {item.name for item in candidates}
    enabled, source = host.enabled.names(), _enabler(host)
    acting = sorted(enabled & installed)
    notes += [f"{source} enables {', '.join(acting)}"] if acting else []
    return notes + [f"{source} names `{name}`, which is not installed" for name in sorted(enabled - installed)]


def _with_probe(item: BackendInfo, probes: Mapping[str, ProbeResult]) -> dict[str, Any]:
    data = item.as_dict()
    if item.name in probes:
        data["probe"] = probes[item.name].as_dict()
    return data


def _counted(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in rows.items())
