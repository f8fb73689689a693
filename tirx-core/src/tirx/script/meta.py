"""Classes whose instances hold storage and scalars of a kernel: `@Tx.meta_class`.

    @Tx.meta_class
    class Ring:
        def __init__(self, stages):
            self.slots = Tx.alloc_shared((stages, 64))
            self.phase = Tx.local_scalar("int32")

    ring = Ring(4)          # the buffer is named `ring_slots`, the scalar `ring_phase`

What `__init__` makes must be reachable from the instance: storage that nobody can reach is a mistake.
"""

from __future__ import annotations

from ..ir import Alloc, Buffer, Decl, Expr, Scalar, Stmt, Var, active_builder
from ..support.errors import ScriptError
from ..support.words import an
from .builder.bytecode import assigned_names
from .builder.state import Builder, Frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeVar

    C = TypeVar("C", bound=type)

__all__ = ["OrphanError", "meta_class", "name_members"]


class OrphanError(ScriptError, ValueError):
    """Storage made in a meta class's `__init__` cannot be reached from the instance."""


def meta_class(cls: C) -> C:
    """Let instances of `cls` create storage and scalars in `__init__`, named after the variable that holds the instance."""
    if not isinstance(cls, type):
        raise ScriptError(f"@Tx.meta_class stands on {an(type(cls).__name__)}, not on a class")
    original: Any = vars(cls).get("__init__", cls.__init__)  # type: ignore[misc]  # the class's own, not an instance's

    def __init__(self: Any, *args: Any, **keywords: Any) -> None:  # noqa: N807 - it becomes the method
        owner = active_builder()
        if not isinstance(owner, Builder) or type(self).__init__ is not made:
            original(self, *args, **keywords)
            return
        start, frame = len(owner.top.stmts), owner.top
        original(self, *args, **keywords)
        _check_reachable(self, frame, start)
        for name in assigned_names(1):
            name_members(owner, self, name)

    made = __init__
    made.__doc__ = original.__doc__
    made.__wrapped__ = original  # type: ignore[attr-defined]  # as functools.wraps does
    cls.__init__ = made  # type: ignore[misc]
    cls.__tirx_meta__ = True  # type: ignore[attr-defined]
    return cls


def name_members(owner: Builder, instance: Any, name: str) -> None:
    """Name what `instance` holds `<name>_<attribute>`."""
    for path, value in _members(instance):
        owner.name_value(value, "_".join((name, *path)))


def _check_reachable(instance: Any, frame: Frame, start: int) -> None:
    known = {id(_storage(value)) for _, value in _members(instance)}
    for stmt in frame.stmts[start:]:
        if isinstance(stmt, Alloc | Decl) and not ({id(stmt.buffer), id(stmt.buffer.data)} & known):
            raise _orphan(instance, stmt)


def _storage(value: Any) -> Any:
    """The object that stands for the storage of a member: a view counts as its buffer."""
    return (
        value.buffer
        if isinstance(value, Scalar)
        else value.data
        if isinstance(value, Buffer) and not value.is_scalar
        else value
    )


def _orphan(instance: Any, stmt: Stmt) -> OrphanError:
    assert isinstance(stmt, Alloc | Decl)
    name = _assigned_to(stmt)
    if name and hasattr(instance, name):
        scalar = f"Tx.buffer_store(self.{name}, value, [0]), or assign in a method with @Tx.inline"
        what, way = ("scalar", scalar) if stmt.buffer.is_scalar else ("buffer", f"self.{name}[index, ...] = value")
        return OrphanError(
            f"the {what} in `self.{name}` is replaced in {type(instance).__name__}.__init__: a plain assignment there stores nothing",
            span=stmt.span,
            hint=f"store with {way}",
        )
    return OrphanError(
        f"`{stmt.buffer.name}` is made in {type(instance).__name__}.__init__ and cannot be reached from the instance "
        f"({stmt.span})",
        span=stmt.span,
        hint="keep it in an attribute: self.<name> = ...",
    )


def _assigned_to(stmt: Stmt) -> str:
    """The attribute to which the author's line assigns what `stmt` makes, or nothing."""
    if stmt.span is None:
        return ""
    import linecache  # only where something is wrong
    import re

    line = linecache.getline(stmt.span.path, stmt.span.line).strip()  # Python 3.10 knows no column to start from
    target = re.match(r"self\.(\w+)\s*(?::[^=]*)?=(?!=)", line)
    return target.group(1) if target is not None else ""


def _members(instance: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Buffers, scalars and variables that can be reached from `instance`, each once, with the attributes on the way."""
    seen: set[int] = set()
    stack: list[tuple[tuple[str, ...], Any]] = [((), instance)]
    while stack:
        path, value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Buffer | Scalar | Var):
            yield path, value
        else:
            stack.extend(reversed([((*path, name), item) for name, item in _parts(value)]))


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Expr | type | str | bytes | int | float) or callable(value):
        return []
    if isinstance(value, dict):
        return [(str(key), item) for key, item in value.items()]
    if isinstance(value, list | tuple | set):
        return [(str(number), item) for number, item in enumerate(value)]
    slots = [name for kind in type(value).__mro__ for name in _names(getattr(kind, "__slots__", ()))]
    found = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    found.update(getattr(value, "__dict__", {}))
    return list(found.items())


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)
