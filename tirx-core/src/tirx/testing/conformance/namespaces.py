"""The names that the backend adds to the language."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from ... import script
from ...support.late import load_object
from .check import ConformanceCheck, Gap
from .subject import Subject

__all__ = ["CHECKS"]


def _offered(subject: Subject) -> Iterator[str]:
    for row in subject.rows("namespaces"):
        found = getattr(script, row.name)
        if found is not load_object(row.load):
            yield f"`Tx.{row.name}` is not the object at {row.load}"
        elif not isinstance(found, type) and not _members(found) and not callable(found):
            yield f"`Tx.{row.name}` has no public member"


def _members(namespace: Any) -> dict[str, Any]:
    names = getattr(namespace, "__all__", None) or [name for name in dir(namespace) if not name.startswith("_")]
    return {name: getattr(namespace, name) for name in names}


def _functions(subject: Subject) -> Iterator[tuple[str, FunctionType]]:
    """Functions below each namespace, and methods of classes that are names of the language."""
    for row in subject.rows("namespaces"):
        found = load_object(row.load)
        for name, value in _members(found).items():
            if isinstance(value, FunctionType) and value.__module__.partition(".")[0] == subject.package:
                yield f"Tx.{row.name}.{name}", value


def _signatures(subject: Subject) -> Iterator[str]:
    count = 0
    for name, function in _functions(subject):
        count += 1
        if getattr(function, "__wrapped__", None) is not None:
            continue
        signature = inspect.signature(function)
        bare = [
            item.name for item in signature.parameters.values() if item.annotation is item.empty and item.name != "self"
        ]
        if bare:
            yield f"{name}: no type of {', '.join(bare)}"
        if signature.return_annotation is inspect.Signature.empty:
            yield f"{name}: no type of what it answers"
    if not count:
        yield Gap("no plain functions to look at")


def _docs(subject: Subject) -> Iterator[str]:
    yield from (f"{name} has no docstring" for name, function in _functions(subject) if not inspect.getdoc(function))


CHECKS = (
    ConformanceCheck(
        "namespaces.offered",
        _offered,
        "every namespace is found below Tx and has members",
        "correct `load` of its row, or export its names in `__all__`",
    ),
    ConformanceCheck(
        "namespaces.signatures",
        _signatures,
        "functions of the language are typed, so that editors and the manual know them",
        "annotate every parameter and the result",
    ),
    ConformanceCheck(
        "namespaces.docs",
        _docs,
        "functions of the language are documented",
        "write a docstring: one sentence that says what it does",
    ),
)
