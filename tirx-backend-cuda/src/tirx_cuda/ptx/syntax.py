"""Tables as text, read into records. A table is written as the PTX manual writes its syntax:

    == 9.7.3.7 fma | =arith.fma @70 !pure
    .rnd = rn rz rm rp
    fma.rnd{.ftz}{.sat}.f32    d:=f32, a:f32, b:f32, c:f32    @20 ptx2.0
        sat & ftz -> rnd=rn

* `==` begins a section: its number in the manual, its title, and defaults of its rows
* `.name = ...` says what a modifier slot may hold; `{...}` in a row makes it optional; other words are fixed
* operands: `a:f32` read, `d:=f32` written, `d:+f32` both; `{a:f32*4}` a vector of four registers, `{a:u16, b:u16}` of different
  ones; `[a:shared]` memory in a space; `a:&generic` an address as a plain register; `[a, b]` several things in one pair of
  brackets; `a:#0..15` or `a:#2/4/8` an immediate; `!128` fixed text; `d:=t|p:=pred` a pair; `(b:u32)` may be left out; `~` behind
  a type: wider registers too; `[0..15]`: what a constant may be; `?` behind a written operand: `_` too; ` if hint` behind an
  operand: only with that modifier. A type or space may name a slot; `<slot>space` is generic where the slot is empty
* behind them: `@80` architectures (see `target_sets`), `ptx7.0`, `=group.function` the simulator's meaning, `!effect`, `~ulp(2)` accuracy
* indented lines: `condition -> condition` must hold; `condition @90 ptx7.8 =meaning` applies where the condition holds
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .condition import Condition, parse_condition

__all__ = ["Item", "Row", "Rule", "Slot", "Special", "parse_table"]


class Slot:
    """One place for a modifier in a row: its name and what it may hold. A fixed word is a slot with one choice."""

    __slots__ = ("choices", "name", "optional")

    def __init__(self, name: str, choices: tuple[str, ...], optional: bool) -> None:
        self.name = name
        self.choices = choices
        self.optional = optional


class Item:
    """One element of a row's operand list.

    `kind`: `reg`, `imm`, `text`, `vector`, `group` (braces), `memory` (brackets), `pair`, `optional`; the last four hold
    `members`.
    """

    __slots__ = ("choices", "count", "kind", "members", "name", "rw", "sink", "type", "when", "wide")

    def __init__(self, kind: str, name: str = "", **parts: Any) -> None:
        self.kind = kind
        self.name = name
        self.rw: str = parts.get("rw", "r")
        self.type: str = parts.get("type", "")
        self.count: str = parts.get("count", "")
        self.choices: Any = parts.get("choices")
        self.sink: bool = parts.get("sink", False)
        self.wide: bool = parts.get("wide", False)
        self.when: Condition | None = parts.get("when")
        self.members: tuple[Item, ...] = parts.get("members", ())


class Rule:
    """Where `given` holds, `needed` must."""

    __slots__ = ("given", "needed")

    def __init__(self, given: Condition, needed: Condition) -> None:
        self.given = given
        self.needed = needed


class Special:
    """What applies where `given` holds: annotations as the row has them."""

    __slots__ = ("given", "notes")

    def __init__(self, given: Condition, notes: dict[str, str]) -> None:
        self.given = given
        self.notes = notes


class Row:
    """One instruction with its modifiers."""

    __slots__ = ("family", "items", "line", "notes", "rules", "section", "slots", "specials", "table", "text", "title")

    def __init__(self, table: str, line: int, section: str, title: str, slots: tuple[Slot, ...]) -> None:
        self.table = table
        self.line = line
        self.section = section
        self.title = title
        self.slots = slots
        self.family = slots[0].choices[0]
        self.items: tuple[Item, ...] = ()
        self.text = ""  # of the operands
        self.notes: dict[str, str] = {}
        self.rules: list[Rule] = []
        self.specials: list[Special] = []


_NOTES = {"@": "arch", "=": "meaning", "!": "effect", "~": "accuracy"}
_WORD = re.compile(r"[{]?\.[^\s.{}]+(?:::[^\s.{}]+)*[}]?")


def parse_table(name: str, text: str) -> list[Row]:
    """The rows of one table."""
    return list(_rows(name, text))


def _rows(name: str, text: str) -> Iterator[Row]:
    slots: dict[str, tuple[str, ...]] = {}
    section, title, defaults = "", "", dict[str, str]()
    row: Row | None = None
    for number, line in enumerate(_lines(text), 1):
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        if words.startswith("=="):
            head, _, notes = words[2:].partition("|")
            section, _, title = head.strip().partition(" ")
            defaults, slots = _annotations(notes.split()), {}
        elif words.startswith("."):
            slot, _, choices = words[1:].partition("=")
            slots = {**slots, slot.strip(): _choices(choices, slots)}
        elif line[0].isspace():
            assert row is not None, f"{name}:{number}: a rule without a row"
            _add_rule(row, words)
        else:
            row = _row(name, number, section, title, words, slots, defaults)
            yield row


def _lines(text: str) -> Iterator[str]:
    """Lines; one that ends in a backslash goes on in the next."""
    held = ""
    for line in text.splitlines():
        if line.endswith("\\"):
            held += line[:-1]
            continue
        yield held + line if not held else held + line.strip()
        held = ""


def _choices(text: str, slots: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Words; `name*` stands for the choices of another slot, `m64n[8:256:8]k16` for a range."""
    made: list[str] = []
    for word in text.split():
        found = re.fullmatch(r"(.*)\[(\d+):(\d+):(\d+)\](.*)", word)
        if word.endswith("*"):
            made += slots[word[:-1]]
        elif found is not None:
            first, last, step = int(found[2]), int(found[3]), int(found[4])
            made += [f"{found[1]}{value}{found[5]}" for value in range(first, last + 1, step)]
        else:
            made.append(word)
    return tuple(made)


def _annotations(words: list[str]) -> dict[str, str]:
    made = {}
    for word in words:
        if word.startswith("ptx"):
            made["ptx"] = word[3:]
        else:
            made[_NOTES[word[0]]] = word[1:]
    return made


def _row(
    table: str,
    line: int,
    section: str,
    title: str,
    words: str,
    slots: dict[str, tuple[str, ...]],
    defaults: dict[str, str],
) -> Row:
    pattern, _, rest = words.partition(" ")
    operands, notes = _split_notes(rest)
    row = Row(table, line, section, title, tuple(_slots(pattern, slots)))
    row.items, row.text = tuple(_items(operands)), operands
    row.notes = {**defaults, **_annotations(notes)}
    return row


def _split_notes(text: str) -> tuple[str, list[str]]:
    """The operands, and the annotations behind them."""
    words = text.split()
    last = len(words)
    while last and (words[last - 1][0] in "@~" or re.match(r"ptx\d|=\w+\.|=none$|![a-z]", words[last - 1])):
        last -= 1
    return " ".join(words[:last]), words[last:]


def _slots(pattern: str, known: dict[str, tuple[str, ...]]) -> Iterator[Slot]:
    family = re.match(r"[^.{]+", pattern)
    assert family is not None, pattern
    yield Slot("", (family[0],), False)
    for found in _WORD.finditer(pattern, family.end()):
        word = found[0]
        optional = word.startswith("{")
        name = word.strip("{}").lstrip(".")
        yield Slot(name, known.get(name, (name,)), optional)


# ---- operands -----------------------------------------------------------------------------------------------------


def _items(text: str) -> Iterator[Item]:
    return map(_item, _separated(text, ","))


def _separated(text: str, separator: str) -> list[str]:
    """Parts between separators that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == separator and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _item(text: str) -> Item:
    body, given = text, None
    found = re.fullmatch(r"([^\[(]*\S|\[.*\]) if (.*)", text)
    if found is not None:
        body, given = found[1], parse_condition(found[2])
    item = _bare(body.strip())
    item.when = given
    return item


def _bare(text: str) -> Item:
    pieces = _separated(text, "|")
    if len(pieces) > 1:
        return Item("pair", members=tuple(map(_item, pieces)))
    if text.startswith("("):
        return Item("optional", members=tuple(_items(text[1:-1])))
    if text.startswith("["):
        return Item("memory", members=tuple(_inner(part) for part in _separated(text[1:-1], ",")))
    if text.startswith("{"):
        return _vector(text[1:-1])
    if text.startswith("!"):
        return Item("text", text[1:])
    return _single(text)


def _inner(text: str) -> Item:
    """A member of a memory operand: the first names a space, others are registers."""
    return _item(text)


def _vector(text: str) -> Item:
    if "," in text:
        return Item("group", members=tuple(_items(text)))
    inner, _, count = text.partition("*")
    one = _single(inner)
    return Item("vector", one.name, rw=one.rw, type=one.type, count=count, sink=one.sink, wide=one.wide)


def _single(text: str) -> Item:
    name, _, kind = text.partition(":")
    if kind.startswith("#"):
        return Item("imm", name, choices=_immediates(kind[1:]))
    rw = {"=": "w", "+": "rw"}.get(kind[:1], "r")
    kind = kind.lstrip("=+")
    kind, _, limits = kind.partition("[")
    sink, wide = kind.endswith("?"), "~" in kind
    choices = _immediates(limits[:-1]) if limits else None
    return Item("reg", name, rw=rw, type=kind.rstrip("?").rstrip("~"), sink=sink, wide=wide, choices=choices)


def _immediates(text: str) -> Any:
    """What an immediate may be: a range, a tuple of numbers, None for anything."""
    if not text:
        return None
    if ".." in text:
        low, _, rest = text.partition("..")
        high, _, step = rest.partition("/")
        return range(int(low), int(high) + 1, int(step or 1))
    return tuple(int(part, 0) for part in text.split("/"))


# ---- rules --------------------------------------------------------------------------------------------------------


def _add_rule(row: Row, text: str) -> None:
    given, arrow, needed = text.partition("->")
    if arrow:
        row.rules.append(Rule(parse_condition(given.strip()), parse_condition(needed.strip())))
        return
    found = re.match(r"(.*?)\s((?:@|ptx\d|=\w+\.|=none|~|![a-z]).*)", text)
    assert found is not None, f"{row.table}:{row.line}: {text}"
    row.specials.append(Special(parse_condition(found[1].strip()), _annotations(found[2].split())))
