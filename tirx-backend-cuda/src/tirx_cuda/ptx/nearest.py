"""What is wrong with a combination of modifiers, and which legal one is nearest to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from tirx.support.suggest import nearest as alike

from .forms import assign, forms_of, rows_of
from .names import ALIASES, FAMILIES, chain_text
from .syntax import Row

__all__ = ["family_for", "misplaced", "nearest"]


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
    if not found:
        found = dict.fromkeys(_completed(family, tokens))
    return f"nearest: {' or '.join(list(found)[:2])}" if found else None


def _completed(family: str, tokens: Sequence[str]) -> Iterator[str]:
    """Legal forms that have all of the given words, and the first choice where a word is missing."""
    for row in rows_of(family):
        if assign(row.slots[1:], tokens, complete=False) is None:
            continue
        needed = [slot for slot in row.slots[1:] if not slot.optional and not set(slot.choices) & set(tokens)]
        values = assign(row.slots[1:], [*tokens, *(slot.choices[0] for slot in needed)], complete=True)
        if values is not None and misplaced(row, values) is None:
            mnemonic = ".".join([family, *(values[slot.name] for slot in row.slots[1:] if slot.name in values)])
            if forms_of(mnemonic):
                yield mnemonic


def family_for(name: str) -> str:
    """A hint for a name that is no instruction: the chain that it means, or what it resembles."""
    chain = _unchained(name)
    if chain is None:
        starts = {
            f"{family}_{word}"
            for family in FAMILIES
            for row in rows_of(family)
            for slot in row.slots[1:2]
            for word in slot.choices
        }
        near = [*FAMILIES, *ALIASES, *starts]
        found = [_unchained(item) or f".{item}" for item in alike(name, near)]
        return (
            f"did you mean {' or '.join(f'Tx.ptx{item}' for item in dict.fromkeys(found))}?"
            if found
            else "see Tx.ptx in the reference"
        )
    return f"write the words of the instruction one after the other: Tx.ptx{chain}"


def _unchained(name: str) -> str | None:
    """The chain that `cp_async_commit_group` means: `.cp.async_.commit_group`; of a name that goes on, what is known of it."""
    pieces = name.split("_")
    for count in range(len(pieces), 0, -1):
        family = "_".join(pieces[:count])
        if family in FAMILIES and count < len(pieces):
            words = {word for row in rows_of(family) for slot in row.slots[1:] for word in slot.choices}
            tokens = _split(pieces[count:], words)
            return chain_text(".".join([family, *tokens])) if tokens else None
    return None


def _split(pieces: Sequence[str], words: Collection[str]) -> list[str]:
    """The words that pieces of a name make, as far as they are words."""
    for count in range(len(pieces), 0, -1):
        for word in ("_".join(pieces[:count]), "::".join(pieces[:count])):
            if word in words:
                return [word, *_split(pieces[count:], words)]
    return []


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
