"""What functions of the namespaces share: errors at the author's line, places as pointers, numbers known while a kernel is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, TypeVar

from tirx.intrinsic.core.memory import address_of
from tirx.ir import Buffer, BufferLoad, Expr, IntImm, Scalar, as_expr, current_span
from tirx.support.errors import ScriptError
from tirx.support.suggest import did_you_mean

from ..descriptor import DescriptorError

__all__ = ["at_line", "known", "no_name", "pointer_to", "refuse"]

T = TypeVar("T")


def refuse(message: str, hint: str | None = None) -> ScriptError:
    """An error at the author's line."""
    return ScriptError(message, span=current_span(), hint=hint)


def no_name(space: str, name: str, names: Sequence[str]) -> AttributeError:
    """A namespace has no such name; what it has that resembles it."""
    hint = did_you_mean(name, names)
    return AttributeError(f"{space} has no `{name}`{'; ' + hint if hint else ''}", name=name)


def at_line(check: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """What `check` answers; what it refuses is refused at the author's line."""
    try:
        return check(*args, **kwargs)
    except DescriptorError as problem:
        raise refuse(problem.message, problem.hint) from None


def known(name: str, value: Any) -> int:
    """A number that is known while the kernel is built."""
    plain = value.value if isinstance(value, Enum | IntImm) else value
    if isinstance(plain, int):
        return int(plain)
    raise refuse(f"`{name}` is a number known while the kernel is built", "give a Python number")


def pointer_to(place: Any) -> Expr:
    """A pointer; scalars and elements stand for their address."""
    if isinstance(place, Scalar | BufferLoad):
        return address_of(place)
    return place.data if isinstance(place, Buffer) else as_expr(place)
