"""The source that the backend writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from ...backend import registry
from ...driver import compile as compile_kernel
from ...ir import Attr, Buffer, BufferLoad, BufferStore, For, PrimFunc, ScopeIdDef, Seq, Var, const
from ...script.printer import to_script
from ...support.errors import TirxError
from ...target import Target
from .cases import compilable
from .check import COMPILED, ConformanceCheck, Gap
from .subject import Subject

__all__ = ["CHECKS", "source_digests"]

# Words of every language that kernels are usually written to; a count of them tells statements from names.
_WORDS = ("for", "while", "if", "else", "return", "break", "continue", "int", "float")
_FOREIGN = ("größe", "λ", "数")


def _writes(target: Target) -> bool:
    return target.kind.name in registry().rows("codegens")


def source_digests(subject: Subject) -> dict[str, str]:
    """A digest of the source of each kernel that compiles, each compiled anew."""
    found = {}
    for case in compilable(subject):
        if _writes(case.target):
            text = subject.compile(case.kernel, case.target).source.text
            found[str(case)] = sha256(text.encode()).hexdigest()
    return found


def _declared(subject: Subject) -> Iterator[str]:
    reads = {row.kind for name in ("toolchains", "devices") for row in registry().rows(name).values()}
    for target in subject.targets:
        if not _writes(target) and target.kind.name in reads:
            yield f"kind `{target.kind.name}` has toolchains or devices, and writes no source for them"
        elif not _writes(target):
            yield Gap(f"kind `{target.kind.name}` writes no source: it is simulated only")


def _described(subject: Subject) -> Iterator[str]:
    for case in compilable(subject):
        if not _writes(case.target):
            continue
        source = subject.compiled(case.kernel, case.target).source
        if not source.entries:
            yield f"{case}: the source names no entry"
        yield from (
            f"{case}: entry `{name}` does not occur in the source" for name in source.entries if name not in source.text
        )
        if not source.language or not source.suffix.startswith("."):
            yield f"{case}: language {source.language!r}, suffix {source.suffix!r}"
        lines = source.text.count("\n") + 1
        if any(not 1 <= line <= lines for line in source.places):
            yield f"{case}: places of lines that are not there"


def _deterministic(subject: Subject) -> Iterator[str]:
    first, second = source_digests(subject), source_digests(subject)
    yield from (
        f"{name}: another source when it is compiled again" for name in first if second.get(name) != first[name]
    )
    if not first:
        yield Gap("no kernel whose source could be compared; give samples")


def _pure(subject: Subject) -> Iterator[str]:
    for case in compilable(subject):
        if _writes(case.target):
            executable = subject.compile(case.kernel, case.target)
            before = to_script(executable.prepared)
            if executable.source.text and to_script(executable.prepared) != before:
                yield f"{case}: writing source changes the module"


def _names(subject: Subject) -> Iterator[str]:
    for target in subject.targets:
        if not subject.has_threads(target) or not _writes(target):
            yield Gap(f"kind `{target.kind.name}` has no source of neutral kernels")
            continue
        plain = _source(target, [f"name{number}" for number in range(len(_WORDS))])
        hostile = _source(target, _WORDS)
        before, after = (Counter(re.findall(r"\w+", text)) for text in (plain, hostile))
        yield from (
            f"{target}: an array or variable called `{word}` keeps that name"
            for word in _WORDS
            if after[word] != before[word]
        )
        yield from _foreign(target)


def _foreign(target: Target) -> Iterator[str]:
    try:
        text = _source(target, (*_FOREIGN, *_FOREIGN))
    except TirxError as error:
        yield f"{target}: names that are not ASCII: {error.message}"
        return
    if len(set(re.findall(r"\w+", text))) < len(_FOREIGN):
        yield f"{target}: names that are not ASCII are lost"


def _source(target: Target, names: Sequence[str]) -> str:
    """A kernel that copies from each array to the next, in loops whose variables have the same names."""
    return compile_kernel(_hostile(names), target).source.text


def _hostile(names: Sequence[str]) -> PrimFunc:
    dtype = "int32"
    arrays = [Buffer(name, (64, 4), dtype) for name in names]
    tx = Var("tx", arrays[0].dtype)
    body: list[Any] = [ScopeIdDef((tx,), (const(64),), "cta", "thread", None)]
    for name, source, target in zip(names, arrays, arrays[1:], strict=False):
        i = Var(name, arrays[0].dtype)
        store = BufferStore(target, BufferLoad(source, (tx, i)) + i, (tx, i))
        body.append(For(i, const(0), const(4), const(1), "serial", store, (), None))
    return PrimFunc(
        "conform_names",
        arrays,
        Attr("tirx.device_entry", const(True), Seq(tuple(body))),
        {"global_symbol": "conform_names"},
    )


CHECKS = (
    ConformanceCheck("codegen.declared", _declared, "kinds write source", "give a Codegen row"),
    ConformanceCheck(
        "codegen.described",
        _described,
        "source names its language, its file suffix and its entries",
        "fill in Source(text, language, suffix, entries)",
        after=COMPILED,
    ),
    ConformanceCheck(
        "codegen.deterministic",
        _deterministic,
        "a kernel has one source",
        "do not write counters, times, ids of objects, or the order of a set",
        after=COMPILED,
    ),
    ConformanceCheck(
        "codegen.pure",
        _pure,
        "writing source changes nothing",
        "treat the module as read-only",
        after=COMPILED,
    ),
    ConformanceCheck(
        "codegen.names",
        _names,
        "names of the author that are words of the target's language are changed",
        "add the words to `reserved` of the dialect, or take names from tirx.codegen.names.Names",
        after=COMPILED,
    ),
)
