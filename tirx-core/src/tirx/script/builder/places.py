"""Storage scopes and layouts by name: core's own at once, others from the backend that has them."""

from __future__ import annotations

from ... import backend
from ...ir import DEFAULT_LAYOUT, Layout
from ...support.late import load_object
from ...support.words import an
from .state import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["layout_of", "storage_scope"]

_CORE = frozenset({"global", "shared", "shared.dyn", "local"})  # so that a plain kernel needs no registry


def storage_scope(scope: str) -> Any:
    """The row of a storage scope, None for core's; loads the backend that has it."""
    if scope in _CORE:
        return None
    row = backend.find("storage_scopes", scope)
    if row is None:
        refuse(f"there is no storage scope {scope!r}", _hint(scope))
    return row


def _hint(scope: str) -> str:
    from ...support.elsewhere import advice  # only when something went wrong

    return (
        backend.hint_for("storage_scopes", scope, alike=False)
        or advice("scope", scope)
        or backend.hint_for("storage_scopes", scope)
        or f"core has {', '.join(sorted(_CORE))}"
    )


def layout_of(layout: Any, scope: str, shape: Sequence[Any]) -> Any:
    """The layout that `layout=` means: a layout object, None, "default", or text that the scope's backend reads."""
    if layout is None or isinstance(layout, Layout) or layout is DEFAULT_LAYOUT:
        return layout
    if layout == "default":
        row = storage_scope(scope)
        return DEFAULT_LAYOUT if row is None or len(row.address) == 1 else None
    if not isinstance(layout, str):
        refuse(f"layout is {an(type(layout).__name__)}", 'give a layout such as TileLayout(S[...]), "default" or None')
    return _by_text(layout, scope, shape)


def _by_text(text: str, scope: str, shape: Sequence[Any]) -> Layout:
    storage_scope(scope)
    rows = [row for row in backend.registry().rows("layout_constructors").values() if row.scope == scope]
    if not rows:
        refuse(f"buffers in {scope} memory have no layouts by text", "give a layout such as TileLayout(S[...])")
    made: Layout = load_object(rows[0].load)(text, tuple(shape))
    return made
