"""The page of variants: what each does, what it asks of a call, its keywords and scratch buffers; written from their rows."""

from __future__ import annotations

from collections.abc import Iterator

from tirx.backend import load, registry
from tirx.tile import Variant
from tools.tables import page, table

__all__ = ["variants"]

FEW = 3  # operations that a heading names
INTRO = """\
A call of [a tile operation](tile.md) is done by the variant of highest priority that fits where it stands. Of equal priority the first by
name is taken; what stands under "only by name" is taken when a call says `dispatch="..."`. Kinds whose parent is `generic` get its
variants where they have none of the same name. "Asks" lists what each looks at, in order: `tirx explain` says what came of it for a call.
"""


def variants() -> str:
    """All variants of core and of the backends, by target kind."""
    for name in ("cuda", "trn"):
        load(name)
    parts = [INTRO]
    for kind in ("generic", "cuda", "trn"):
        parts.append(f"## {kind}\n")
        parts += (line for group in _alike(kind) for line in _variant(group))
    return page("Variants of tile operations", *parts)


def _alike(kind: str) -> Iterator[list[Variant]]:
    """Rows that differ in their operation only."""
    found: dict[object, list[Variant]] = {}
    for row, owner in registry().entries("dispatch_variants"):
        if row.kind == kind and owner.distribution.startswith("tirx-"):
            asks = tuple(item.name for item in row.predicates)
            keywords = tuple(item.name for item in row.config)
            found.setdefault((row.name, row.doc.replace(row.operation, ""), row.priority, asks, keywords), []).append(
                row
            )
    yield from found.values()


def _variant(rows: list[Variant]) -> Iterator[str]:
    row = rows[0]
    operations = [item.operation for item in rows]
    few = len(operations) <= FEW
    yield f"### {row.name}{': ' + ', '.join(operations) if few else ''}\n"
    if not few:
        yield f"Of {' '.join(f'`{name}`' for name in operations)}.\n"
    taken = "Only by name" if row.on_request else f"Priority {row.priority}"
    asks = f" Asks: {'; '.join(item.name for item in row.predicates)}." if row.predicates else ""
    yield f"{row.doc[:1].upper()}{row.doc[1:]}. {taken}.{asks}\n"
    keywords = [(f"`{key.name}`", _values(key), key.doc) for key in row.config]
    keywords += [(f'`workspace={{"{name}": ...}}`', "buffer", doc) for name, doc in row.workspace.items()]
    if keywords:
        yield table(("keyword", "values", "what it does"), keywords)


def _values(key: object) -> str:
    choices = getattr(key, "choices", None)
    if choices:
        return ", ".join(f"`{value!r}`" for value in choices)
    return "any value" if getattr(key, "type", object) is object else f"{key.type.__name__}"
