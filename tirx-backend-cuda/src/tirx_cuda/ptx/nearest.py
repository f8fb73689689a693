"""What is wrong with a combination of modifiers, and which legal one is nearest to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .forms import assign, forms_of, rows_of
from .syntax import Row

__all__ = ["misplaced", "nearest"]


def misplaced(row: Row, values: Mapping[str, str]) -> str | None:
    """The first rule that modifiers break, in words; None where they keep all."""
    for rule in row.rules:
        if rule.given.holds(values) and not rule.needed.holds(values):
            needed = rule.needed.text
            return (
                f"{rule.given.text} excludes it" if needed == "something else" else f"{rule.given.text} needs {needed}"
            )
    return None


def nearest(family: str, tokens: Sequence[str]) -> str | None:
    """A hint that names the legal forms that differ in fewest words, two of them at most."""
    found: dict[str, None] = {}
    for changed in _neighbours(family, list(tokens)):
        for row in rows_of(family):
            values = assign(row.slots[1:], changed, complete=True)
            if values is not None and misplaced(row, values) is None:
                words = [values[slot.name] for slot in row.slots[1:] if slot.name in values]
                mnemonic = ".".join([family, *words])
                if forms_of(mnemonic):
                    found[mnemonic] = None
        if len(found) >= 2:
            break
    return f"nearest: {' or '.join(list(found)[:2])}" if found else None


def _neighbours(family: str, tokens: list[str]) -> Iterator[list[str]]:
    """One word left out, then one exchanged or added."""
    for position in range(len(tokens)):
        yield tokens[:position] + tokens[position + 1 :]
    words = list(dict.fromkeys(word for row in rows_of(family) for slot in row.slots[1:] for word in slot.choices))
    for word in words:
        yield [*tokens, word]
    for position in range(len(tokens) - 1, -1, -1):
        for word in words:
            yield [*tokens[:position], word, *tokens[position + 1 :]]
