"""The page of tile operations: written from their rows, and from the rows of the variants that do them."""

from __future__ import annotations

from collections.abc import Iterator

from tirx.backend import load, registry
from tirx.tile import TileOp, TileOperand, Variant
from tirx.tile.ops import FAMILIES
from tirx.tile.text import parameters
from tools.tables import page, table

__all__ = ["tile"]

INTRO = """\
`Tx.tile.<op>` is done by each thread for itself, `Tx.<scope>.<op>` by the threads of one `thread`, `warp`, `warpgroup` (or `wg`), `cta` or
`cluster` together; `Tx.tile.<scope>.<op>` is the same, and so is `scope="warp"`. `from tirx.script import tile` works too.

A tile is a buffer, a region such as `A[0:16, k, :]`, or a view. A number is a Python number, a scalar or an expression; it takes the
element type of what is written. Sources stretch as in NumPy. Every call also takes `dispatch="..."` to choose a variant by name,
`workspace={"name": buffer}` for scratch space, and the keywords of its variant. What a call means is independent of the variant;
[a how-to](../how-to/choose-a-variant.md) says how one is chosen, and `tirx explain` what was chosen and why.
"""


def tile() -> str:
    """The thirty operations of core, and those of loaded backends."""
    for name in ("cuda", "trn"):
        load(name)
    parts = [INTRO]
    for family, rows in FAMILIES.items():
        overview = ((f"[`{row.name}`](#{row.name})", row.doc) for row in rows)
        parts += [f"## {family.capitalize()}\n", table(("operation", "what it does"), overview)]
        parts += (section for row in rows for section in _operation(row))
    return page("Tile operations", *parts)


def _operation(row: TileOp) -> Iterator[str]:
    """One operation: its signature, what each part is, and who does it."""
    yield f"### {row.name}\n"
    yield f"```text\n{row.name}({', '.join(text for _, text in parameters(row))})\n```\n"
    yield _sentence(row.doc) + "\n"
    yield table(("name", "what it is", ""), ((f"`{item.name}`", _what(item), item.doc) for item, _ in parameters(row)))
    variants = list(_variants(row.name))
    if variants:
        yield table(("target kind", "variant", "priority", "what it does", "keywords"), map(_variant, variants))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _what(item: object) -> str:
    if not isinstance(item, TileOperand):
        return "keyword"
    return f"{' or '.join(item.kinds)}, {'read' if item.rw == 'r' else 'written' if item.rw == 'w' else 'read and written'}"


def _variants(operation: str) -> Iterator[Variant]:
    for rows in registry().rows("dispatch_variants").values():
        yield from (row for row in rows if row.operation == operation)


def _variant(row: Variant) -> tuple[str, ...]:
    named = " (only by name)" if row.on_request else ""
    keywords = ", ".join(f"`{key.name}`" for key in row.config)
    return f"`{row.kind}`", f"`{row.name}`{named}", str(row.priority), row.doc, keywords
