"""Names of the levels whose threads do a tile operation together."""

from __future__ import annotations

from ..ir import current_span
from ..support.errors import ScriptError
from ..support.suggest import did_you_mean

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ALIASES", "SCOPES", "level_of"]

SCOPES = ("thread", "warp", "warpgroup", "cta", "cluster")
ALIASES = {"wg": "warpgroup"}


def level_of(what: str, namespace: str | None, keyword: Any) -> str:
    """The level that a call names by its namespace or by `scope=`; each thread for itself where it names none."""
    if keyword is None:
        return _canonical(namespace) if namespace is not None else "thread"
    if not isinstance(keyword, str):
        _refuse(f"`scope` of {what} is {type(keyword).__name__}, not text", 'e.g. scope="warp"')
    level = _canonical(keyword)
    if namespace is not None and _canonical(namespace) != level:
        _refuse(f"{what} gets scope={keyword!r} too", "name the scope once")
    known = SCOPES if level in SCOPES else (*SCOPES, *_brought())
    if level not in known:
        _refuse(f"there is no scope {keyword!r}", did_you_mean(keyword, known) or f"there are {', '.join(known)}")
    return level


def _canonical(name: str) -> str:
    return ALIASES.get(name, name)


def _brought() -> list[str]:
    """Levels that loaded backends have beyond those that the language names: they have axes for them."""
    from ..backend import registry  # only for a name that core does not know

    rows = registry().rows("layout_axes").values()
    return sorted({row.level for row in rows if row.level and row.level not in SCOPES})


def _refuse(message: str, hint: str | None) -> None:
    raise ScriptError(message, span=current_span(), hint=hint)
