"""Loading, unloading, and asking twice."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ...backend import default_host, find, info, load, registry, unload
from ...backend.hooks import functions_of
from ...backend.importing import import_plugin
from .check import COMPILED, ConformanceCheck, Gap
from .codegen import source_digests
from .subject import Subject

__all__ = ["CHECKS"]


def _loads(subject: Subject) -> Iterator[str]:
    elsewhere = subject.observed.get("loading")
    if elsewhere:
        yield f"in a process of its own: {elsewhere}"
        return
    load(subject.name)
    record = info(subject.name)
    if record.state != "OK":
        yield f"its state is {record.state}: {record.cause}"


def _keys(subject: Subject) -> dict[str, list[str]]:
    kinds = registry().kinds
    owned = (item for item in default_host().snapshot().contributions if item.owner.backend == subject.name)
    rows = next((item.rows for item in owned), {})
    return {name: sorted(str(kinds[name].key(row)) for row in found) for name, found in rows.items()}


def _unloads(subject: Subject) -> Iterator[str]:
    before = _keys(subject)
    kind = next((item.name for item in subject.kinds), None)
    unload(subject.name)
    try:
        if _keys(subject):
            yield "rows are left after unload"
        if kind is not None and kind in registry().rows("target_kinds"):
            yield f"target kind `{kind}` is left after unload"
    finally:
        load(subject.name)
    after = _keys(subject)
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield f"loaded again, it gives other rows of {name}"


def _same_rows(subject: Subject) -> Iterator[str]:
    functions = functions_of(import_plugin(subject.candidate), registry().kinds)
    for kind in registry().kinds.values():
        if kind.hook not in functions:
            continue
        first, second = ([str(kind.key(row)) for row in functions[kind.hook]()] for _ in range(2))
        if first != second:
            yield f"{kind.hook} answers other rows, or in another order, when it is called again"
        if not first:
            yield f"{kind.hook} gives no row at all"


def _threads(subject: Subject) -> Iterator[str]:
    wanted = source_digests(subject)
    kinds = [kind.name for kind in subject.kinds]

    def work(number: int) -> Any:
        assert all(find("target_kinds", name) is not None for name in kinds)
        return source_digests(Subject(subject.name, subject.given))

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(4)))
    if any(found != wanted for found in results):
        yield "four threads that compile the same kernels at once get different sources"


def _processes(subject: Subject) -> Iterator[str]:
    wanted = source_digests(subject)
    rows = [*subject.rows("intrinsics"), *subject.rows("tile_ops")][:50]
    found = subject.child("source", pickle.dumps(rows).hex(), *subject.given, hash_seed="1", timeout=120)
    if "died" in found:
        yield f"in another process: {found['died']}"
        return
    yield from (
        f"another process writes another source of {name}"
        for name in wanted
        if found["sources"].get(name) != wanted[name]
    )
    if found["rows"] != [row.name for row in rows]:
        yield "another process reads other rows from a pickle"
    if not wanted:
        yield Gap("no source to compare: no kernel that its kinds write")


CHECKS = (
    ConformanceCheck(
        "load.loads",
        _loads,
        "the backend loads",
        "`tirx.backend.info(NAME).traceback` has the whole story",
        after=("import.alive", "import.processes", "import.core_untouched", "import.isolated"),
    ),
    ConformanceCheck(
        "load.unloads",
        _unloads,
        "unloading takes everything away, and loading again brings the same rows back",
        "keep no state between calls of hooks: a hook answers rows that are made when its module is imported",
    ),
    ConformanceCheck(
        "load.same_rows",
        _same_rows,
        "every hook gives rows, the same ones whenever it is asked",
        "answer a constant tuple; delete hooks that have nothing to say",
    ),
    ConformanceCheck(
        "load.threads",
        _threads,
        "threads that compile at the same time do not disturb each other",
        "keep no module-level state in passes and code generators",
        after=(*COMPILED, "codegen.deterministic"),
    ),
    ConformanceCheck(
        "load.processes",
        _processes,
        "another process with another hash seed writes the same source and reads pickled rows by name",
        "do not iterate over sets or by id() where source is written",
        after=(*COMPILED, "codegen.deterministic"),
    ),
)
