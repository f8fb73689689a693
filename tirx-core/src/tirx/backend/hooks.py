"""From a plugin object to checked rows.

A plugin is a module or an object with functions named after hooks and marked with `@hookimpl`. Each takes no argument
and returns its rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping

from tirx.support.errors import BackendError
from tirx.support.suggest import did_you_mean

from .rows import Owner, RowKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Hooks = Mapping[str, Callable[[], Iterable[Any]]]

__all__ = ["collect", "functions_of"]

_MARK = "tirx_impl"  # set by `tirx.backend.hookimpl`, or by a marker of pluggy for the project `tirx`


def functions_of(plugin: Any, kinds: Mapping[str, RowKind]) -> Hooks:
    """The marked functions of a plugin by hook. Marked but unknown and unmarked but `tirx_*` ones are errors."""
    hooks = {kind.hook: kind for kind in kinds.values()}
    found = {}
    for name in vars(plugin) if isinstance(plugin, type(sys)) else dir(plugin):
        value = getattr(plugin, name, None)
        marked = getattr(value, _MARK, None) is not None
        if marked and name in hooks:
            found[name] = _plain(name, value)
        elif marked or (name.startswith("tirx_") and callable(value) and not isinstance(value, type)):
            raise _stray(name, hooks, marked=marked)
    if not found:
        raise BackendError(
            f"{_describe(plugin)} implements no hook",
            hint="its entry point must name a module or object whose functions are marked with @tirx.backend.hookimpl",
        )
    return found


def _plain(name: str, function: Any) -> Callable[[], Iterable[Any]]:
    options = getattr(function, _MARK)
    if isinstance(options, dict) and (options.get("wrapper") or options.get("hookwrapper")):
        raise BackendError(f"`{name}` is a hook wrapper; hooks of TIRx return rows and cannot be wrapped")
    made: Callable[[], Iterable[Any]] = function
    return made


def _stray(name: str, hooks: Iterable[str], *, marked: bool) -> BackendError:
    if name in hooks:
        return BackendError(f"`{name}` is not marked as a hook", hint="put @tirx.backend.hookimpl above it")
    near = did_you_mean(name, hooks)
    if marked:
        return BackendError(f"there is no hook `{name}`", hint=near or f"hooks: {', '.join(sorted(hooks))}")
    return BackendError(
        f"`{name}` is neither marked as a hook nor is there a hook of that name",
        hint=f"{near or 'names that begin with tirx_ are kept for hooks'}; put @tirx.backend.hookimpl above hooks",
    )


def collect(functions: Hooks, kinds: Mapping[str, RowKind], owner: Owner) -> dict[str, tuple[Any, ...]]:
    """Call every hook and let the owner of each kind check its rows."""
    rows = {}
    for kind in kinds.values():
        if kind.hook in functions:
            rows[kind.name] = _rows_of(kind, functions[kind.hook], owner)
    return rows


def _rows_of(kind: RowKind, function: Callable[[], Iterable[Any]], owner: Owner) -> tuple[Any, ...]:
    try:
        returned = function()
        if isinstance(returned, (str, bytes, Mapping)) or not hasattr(returned, "__iter__"):
            raise BackendError(f"{kind.hook} returned {_describe(returned)}", hint="return a list or tuple of rows")
        rows = tuple(returned)  # a generator runs here
    except Exception as error:
        if not isinstance(error, BackendError):
            _add_note(error, f"in hook {kind.hook} of {owner}")
        raise
    for number, row in enumerate(rows):
        _check(kind, row, owner, number)
    return rows


def _check(kind: RowKind, row: Any, owner: Owner, number: int) -> None:
    if kind.record is not None and not isinstance(row, kind.record):
        records = kind.record if isinstance(kind.record, tuple) else (kind.record,)
        wanted = " or ".join(record.__name__ for record in records)
        raise BackendError(f"row {number} of {kind.hook} is {_describe(row)}", hint=f"its rows are {wanted} objects")
    try:
        kind.validate(row, owner)
    except Exception as error:
        _add_note(error, f"in row {number} of hook {kind.hook} of {owner}")
        raise


def _describe(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, type(sys)):
        return f"module `{value.__name__}`"
    return f"{'the class' if isinstance(value, type) else 'an object of type'} {_class_name(value)}"


def _class_name(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else type(value).__name__


def _add_note(error: BaseException, note: str) -> None:
    """What `add_note` does, for Python 3.10 too."""
    holder: Any = error  # older type stubs do not know `__notes__`
    holder.__notes__ = [*getattr(error, "__notes__", ()), note]
