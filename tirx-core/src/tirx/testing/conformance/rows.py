"""What holds for rows of every kind: what they name exists, and they say what they are."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...backend import registry
from ...support.late import load_object
from .check import ConformanceCheck, Gap
from .subject import Subject

__all__ = ["CHECKS"]

# Kind of row -> the texts "module:attribute" in it, by what messages call them.
_PLACES: dict[str, Callable[[Any], dict[str, str | None]]] = {
    "namespaces": lambda row: {"load": row.load},
    "intrinsics": lambda row: {"meaning": row.meaning},
    "tile_ops": lambda row: {"meaning": row.meaning},
    "dispatch_variants": lambda row: {"emit": row.emit if isinstance(row.emit, str) else None},
    "layout_constructors": lambda row: {"load": row.load},
    "dtypes": lambda row: {"numpy": row.numpy},
    "codegens": lambda row: {"generate": row.generate},
    "toolchains": lambda row: {"find": row.find, "compile": row.compile},
    "devices": lambda row: {"open": row.open},
    "argument_kinds": lambda row: {"encode": row.encode, "simulate": row.simulate, "accept": row.accept},
    "array_adapters": lambda row: {"recognise": row.recognise},
    "simulators": lambda row: {"prepare": row.prepare},
}

# Kind of row -> the target kinds that it names.
_NAMES_KINDS: dict[str, Callable[[Any], Sequence[str | None]]] = {
    "target_kinds": lambda row: [row.parent],
    "target_tags": lambda row: [row.kind],
    "emissions": lambda row: [row.kind],
    "dispatch_variants": lambda row: [row.kind],
    "pipelines": lambda row: [row.kind],
    "checks": lambda row: [row.kind],
    "codegens": lambda row: [row.kind],
    "toolchains": lambda row: [row.kind],
    "devices": lambda row: [row.kind],
    "simulators": lambda row: [row.kind],
}

# Kind of row -> its texts for people.
_DOCS: dict[str, Callable[[Any], dict[str, str]]] = {
    "target_kinds": lambda row: {
        "": row.doc,
        **{f" attribute `{key}`": item.doc for key, item in row.attributes.items()},
    },
    "target_tags": lambda row: {" source": row.source},
    "namespaces": lambda row: {"": row.doc},
    "intrinsics": lambda row: {"": row.doc},
    "tile_ops": lambda row: {"": row.doc, **{f" operand `{item.name}`": item.doc for item in row.operands}},
    "dispatch_variants": lambda row: {f" keyword `{item.name}`": item.doc for item in row.config},
    "layout_axes": lambda row: {"": row.doc},
    "layout_constructors": lambda row: {"": row.doc},
    "storage_scopes": lambda row: {"": row.doc},
    "toolchains": lambda row: {" (what to install)": row.install},
    "devices": lambda row: {" (what to install)": row.install},
}


def _each(subject: Subject, table: dict[str, Callable[[Any], Any]]) -> Iterator[tuple[str, Any]]:
    """(what messages call a row, what the table says of it)."""
    kinds = registry().kinds
    for name, tell in table.items():
        for row in subject.rows(name):
            key = kinds[name].key(row)
            yield f"{name} {' '.join(map(str, key)) if isinstance(key, tuple) else key}", tell(row)


def _places(subject: Subject) -> Iterator[str]:
    for what, places in _each(subject, _PLACES):
        for field, place in places.items():
            if place is not None:
                yield from _loadable(what, field, place)


def _loadable(what: str, field: str, place: str) -> Iterator[str]:
    try:
        found = load_object(place)
    except ModuleNotFoundError as error:
        own = place.partition(":")[0].partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != own:
            yield Gap(f"{what}: `{field}` needs {error.name}, which is not installed here")
        else:
            yield f"{what}: `{field}` names {place!r}, and there is no module {error.name}"
    except (ImportError, AttributeError) as error:
        yield f"{what}: `{field}` names {place!r}: {error}"
    else:
        if field not in ("load", "numpy") and not callable(found):
            yield f"{what}: `{field}` names {place!r}, which cannot be called"


def _kinds(subject: Subject) -> Iterator[str]:
    known = registry().rows("target_kinds")
    for what, kinds in _each(subject, _NAMES_KINDS):
        yield from (
            f"{what} names target kind `{kind}`, which is not there" for kind in kinds if kind and kind not in known
        )


def _documented(subject: Subject) -> Iterator[str]:
    for what, texts in _each(subject, _DOCS):
        yield from (f"{what}{part} has no doc" for part, text in texts.items() if not text.strip())


def _pickled(subject: Subject) -> Iterator[str]:
    for row in (*subject.rows("intrinsics"), *subject.rows("tile_ops")):
        if pickle.loads(pickle.dumps(row)) is not row:  # noqa: S301 - what was pickled a moment ago
            yield f"{row.name} comes out of a pickle as another row"
    for target in subject.targets:
        if pickle.loads(pickle.dumps(target)) != target:  # noqa: S301
            yield f"target {target} comes out of a pickle as another target"


CHECKS = (
    ConformanceCheck(
        "rows.places",
        _places,
        'whatever a row names as "module:attribute" is there',
        "correct the text, or the module that it names",
    ),
    ConformanceCheck(
        "rows.kinds",
        _kinds,
        "rows name target kinds that exist",
        "correct the kind; what is for another backend's kind is an extension",
    ),
    ConformanceCheck(
        "rows.documented",
        _documented,
        "rows say what they are",
        "fill in `doc` (or `source`, `install`): it is what users are shown",
    ),
    ConformanceCheck(
        "rows.pickled",
        _pickled,
        "rows and targets travel between processes by name",
        "do not override `__reduce__`: core's answers (owner, kind, name)",
    ),
)
