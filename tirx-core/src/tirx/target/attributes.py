"""Values of target attributes: text to their declared types and back."""

from __future__ import annotations

from ..support.errors import TargetError
from .kind import Attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["BARE", "converted", "split_words", "text_of"]


class _Bare:
    """What stands for the value of a word without one, such as `-fast`."""


BARE = _Bare()

_TRUTH = {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False}


def converted(kind: str, name: str, attribute: Attribute, value: Any) -> Any:
    """`value` as the attribute's type, checked; `TargetError` says what it takes."""
    if value is BARE and attribute.type is not bool:
        raise TargetError(
            f"attribute `{name}` of target kind `{kind}` needs a value ({attribute.type.__name__})",
            hint=f"write it -{name}=VALUE",
        )
    result = value is BARE or (_parsed(attribute.type, value) if isinstance(value, str) else value)
    exact = isinstance(result, attribute.type) and (attribute.type is bool or not isinstance(result, bool))
    if not exact:
        raise TargetError(f"attribute `{name}` of target kind `{kind}` is {attribute.type.__name__}, not {value!r}")
    wrong = attribute.check(result) if attribute.check is not None else None
    if wrong is not None:
        raise TargetError(f"attribute `{name}` of target kind `{kind}`: {wrong}")
    return tuple(result) if isinstance(result, list) else result


def split_words(text: str) -> list[str]:
    """The words of a target's text, quoted ones in one piece."""
    if not any(mark in text for mark in "\"'\\"):
        return text.split()
    import shlex  # only where something is quoted

    try:
        return shlex.split(text)
    except ValueError as error:
        raise TargetError(f"the target {text!r} cannot be read: {error}") from None


def _parsed(wanted: type, text: str) -> Any:
    if wanted is bool:
        return _TRUTH.get(text.lower(), text)
    if wanted in (int, float):
        try:
            return int(text, 0) if wanted is int else float(text)
        except ValueError:
            return text
    return tuple(text.split(",")) if wanted in (tuple, list) else text


def text_of(value: Any) -> str:
    """The word that reads back as `value`."""
    if isinstance(value, bool):
        return "1" if value else "0"
    text = ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    if text and all(letter.isalnum() or letter in "_-+.,/:" for letter in text):
        return text
    import shlex  # only where something must be quoted

    return shlex.quote(text)
