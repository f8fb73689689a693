"""From rows and modifiers to exact forms: one `Form` for each mnemonic and way to give its operands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from tirx.intrinsic import Barrier, Effect, Intrinsic, Operand
from tirx.ir import Call, DType, StringImm

from . import tables
from .names import FAMILIES, chain_text
from .syntax import Item, Row, Slot, parse_table
from .target_sets import requirement
from .types import TYPES, PtxType

__all__ = ["SPACES", "Form", "Part", "assign", "form_of", "forms_of", "made_forms", "rows_of"]

SPACES = frozenset(
    ["generic", "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry", "tmem"]
)
# What goes on after the instruction: it reads by the asynchronous path, or gives its results when the thread waits.
_LATER: tuple[tuple[str, Effect], ...] = (
    ("cp.async.bulk", Effect("write", apart=True)),
    ("cp.reduce.async.bulk", Effect("write", apart=True)),
    ("tcgen05.mma", Effect("write", apart=True)),
    ("tcgen05.cp", Effect("write", apart=True)),
    ("tcgen05.ld", Effect("sync", later="tcgen05.wait::ld")),
    ("wgmma.mma_async", Effect("write", later="wgmma.wait_group", fenced="wgmma.fence", apart=True)),
)
_RUN = "tirx_cuda.sim.ptx.run:run"


class Part:
    """One operand of a form as the author gives it.

    `kind`: `reg`, `imm` or `memory`. `choices` is what a constant may be (a range or a tuple; None: anything).
    """

    __slots__ = ("choices", "kind", "name", "rw", "sink", "space", "taken", "type", "wide")

    def __init__(self, kind: str, item: Item, type: PtxType | None, space: str = "", name: str = "") -> None:
        self.kind = kind
        self.name = name or item.name
        self.rw = item.rw
        self.type = type
        self.space = space
        self.choices = item.choices
        self.sink = item.sink
        self.wide = item.wide
        self.taken: list[DType] = []  # types of values that fitted so far; few, and a list finds one by identity

    @property
    def text(self) -> str:
        """Such as `d: f32, written`."""
        what = f"[{self.space}]" if self.kind == "memory" else self.type.name if self.type is not None else "immediate"
        return f"{self.name}: {what}" + {"r": "", "w": ", written", "rw": ", read and written"}[self.rw]


# What a row's effect says: effect of the call, whether the assembly is volatile, whether it touches memory.
_EFFECTS: dict[str, tuple[Effect, bool, bool]] = {
    "pure": (Effect("write"), False, False),
    "state": (Effect("write"), True, False),
    "read": (Effect("write"), True, True),
    "write": (Effect("write"), True, True),
    "atomic": (Effect("atomic"), True, True),
    "async": (Effect("write"), True, True),
    "warp": (Effect("sync"), True, False),
    "warpmemory": (Effect("sync"), True, True),
    "elect": (Effect("sync", elects="warp"), True, False),
    "sync": (Effect("sync"), True, True),
    "barrier": (Effect("sync", Barrier("cta", identifier="a", count="b")), True, True),
    "warpbarrier": (Effect("sync", Barrier("warp")), True, True),
    "clusterbarrier": (Effect("sync", Barrier("cluster")), True, True),
    "wait": (Effect("wait"), True, True),
    "control": (Effect("control"), True, True),
    "opaque": (Effect("opaque"), True, True),
}


class Form(Intrinsic):
    """One exact instruction: mnemonic with all modifiers, and its operands."""

    __slots__ = (
        "answer", "arity", "attributes", "function", "guarded", "mnemonic", "note", "parts", "plain", "row", "template",
        "touches_memory", "values", "variant", "volatile",
    )  # fmt: skip

    def __init__(self, row: Row, values: Mapping[str, str], mnemonic: str, variant: int, items: Sequence[Item]) -> None:
        notes = _notes(row, values)
        effect, self.volatile, self.touches_memory = _EFFECTS[notes.get("effect", "pure")]
        effect = next((made for prefix, made in _LATER if mnemonic.startswith(prefix)), effect)
        self.answer = DType("bool" if effect.kind == "wait" else "void")
        builder = _Layout(values)
        self.template = builder.written(items)
        self.parts: tuple[Part, ...] = tuple(builder.parts)
        self.arity = len(self.parts)
        self.row, self.values, self.mnemonic, self.variant, self.note = row, values, mnemonic, variant, notes
        meaning = notes.get("meaning") if notes.get("meaning") != "none" else None
        self.function = None if meaning is None else "tirx_cuda.sim.ptx." + meaning.replace(".", ":")
        loads = any(part.name == "dst" for part in self.parts)  # what a tensor map describes is read
        super().__init__(
            f"ptx.{row.family}",
            [_operand(part, notes.get("effect", "pure"), loads) for part in self.parts],
            self.answer.name,
            effect,
            doc=f"{mnemonic}: {row.title}",
            meaning=None if meaning is None else _RUN,
            accuracy=notes.get("accuracy", "exact"),
            source=f"PTX ISA, {row.section}",
            requires=requirement(tuple(notes["archs"].split("&")), _version(notes)),
        )
        self.attributes = (("form", mnemonic), ("variant", variant)) if variant else (("form", mnemonic),)
        self.plain: Form = self
        self.guarded: dict[bool, Form] = {}

    def with_guard(self, preserve: bool) -> Form:
        """This form with a predicate that decides whether it happens."""
        found = self.guarded.get(preserve)
        if found is None:
            found = Form(self.row, self.values, self.mnemonic, self.variant, ())
            found.template, found.parts, found.arity = self.template, self.parts, self.arity
            found.operands = (*self.operands, Operand("pred", "guard", dtypes=("bool",)))
            found.attributes = (
                tuple(sorted((*self.attributes, ("preserve_dst", True)))) if preserve else self.attributes
            )
            found.plain = self
            self.guarded[preserve] = found
        return found

    def without_guard(self) -> Intrinsic:
        """The form that happens in any case."""
        return self.plain

    def title(self, node: Call) -> str:
        """The mnemonic."""
        return self.mnemonic

    def printed(self, node: Call, texts: Sequence[str]) -> str:
        """The chain that a person would write."""
        given = list(texts[: self.arity])
        tail = []
        if self is not self.plain:
            tail.append(f"pred={texts[-1]}")
            tail += ["preserve_dst=True"] if node.attr("preserve_dst") else []
        return f"T.ptx{chain_text(self.mnemonic)}({', '.join([*map(_short, given, node.args), *tail])})"

    def __reduce__(self) -> tuple[Any, ...]:
        guard = None if self is self.plain else any(key == "preserve_dst" for key, _ in self.attributes)
        return form_of, (self.mnemonic, self.variant, guard)


def _short(text: str, arg: Any) -> str:
    """Operands that stand for something else than a value."""
    return "T.ptx.SINK" if isinstance(arg, StringImm) else text


def _version(notes: Mapping[str, str]) -> tuple[int, int]:
    major, _, minor = notes.get("ptx", "1.0").partition(".")
    return int(major), int(minor or 0)


def _notes(row: Row, values: Mapping[str, str]) -> dict[str, str]:
    """Annotations that apply: architectures add up, the newest version counts, of the others the last."""
    found = dict(row.notes)
    archs = [found.get("arch", "20")]
    for special in row.specials:
        if special.given.holds(values):
            archs += [special.notes["arch"]] if "arch" in special.notes else []
            newest = max((found, special.notes), key=_version)
            found.update(special.notes)
            found.update({"ptx": newest["ptx"]} if "ptx" in newest else {})
    found["archs"] = "&".join(dict.fromkeys(archs))
    return found


_KINDS = {"reg": "value", "imm": "constant", "memory": "pointer"}


_WRITING = frozenset(["write", "atomic", "async", "warpmemory", "opaque"])


def _operand(part: Part, effect: str, loads: bool) -> Operand:
    """Memory is written through every address but those of sources."""
    source = part.name.startswith("src") or (loads and part.name == "tensorMap")
    writes = part.kind == "memory" and effect in _WRITING and not source
    kind = "output" if part.rw != "r" else _KINDS[part.kind]
    return Operand(part.name, kind, rw="rw" if writes else part.rw)


class _Layout:
    """Flattens the items of a row and writes the text of the instruction around them."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.parts: list[Part] = []

    def written(self, items: Sequence[Item]) -> str:
        """Text with a `%` and number for each part."""
        texts = [self.item(item) for item in items if item.when is None or item.when.holds(self.values)]
        return ", ".join(text for text in texts if text)

    def item(self, item: Item) -> str:
        if item.kind == "text":
            return item.name
        if item.kind == "optional":
            return self.written(item.members)
        if item.kind == "pair":
            return "|".join(self.item(member) for member in item.members)
        if item.kind == "memory":
            members = [member for member in item.members if member.when is None or member.when.holds(self.values)]
            return f"[{', '.join(map(self.member, members))}]"
        if item.kind == "vector":
            return self.vector(item)
        if item.kind == "group":
            return f"{{{self.written(item.members)}}}"
        if item.type.startswith("&"):
            return self.add(Part("memory", item, None, item.type[1:]))
        return self.add(Part(item.kind, item, self.type(item)))

    def member(self, item: Item) -> str:
        if item.kind != "reg":
            return self.item(item)
        space = self.space(item.type)
        return self.item(item) if space is None else self.add(Part("memory", item, None, space))

    def space(self, text: str) -> str | None:
        slot = text if text == "space" else text.removesuffix("space")
        found = self.values.get(slot, slot)
        if found in SPACES:
            return found
        return "generic" if text.endswith("space") else None

    def vector(self, item: Item) -> str:
        count = self.count(item.count)
        if count is None:
            return self.add(Part("reg", item, self.type(item)))
        names = [f"{item.name}{position}" if count > 1 else item.name for position in range(count)]
        return f"{{{', '.join(self.add(Part('reg', item, self.type(item), name=name)) for name in names)}}}"

    def count(self, text: str) -> int | None:
        """Numbers and slots, calculated from left to right; None where a slot is empty."""
        total = 0
        for sign, word in re.findall(r"(^|[*/+-])([^*/+-]+)", text):
            if not word.isdigit() and word not in self.values:
                return None
            total = _CALCULATED[sign](total, int(word) if word.isdigit() else _number(self.values[word]))
        return total

    def type(self, item: Item) -> PtxType | None:
        if item.kind == "imm":
            return None
        name = self.values.get(item.type, item.type)
        return TYPES[name]

    def add(self, part: Part) -> str:
        self.parts.append(part)
        return f"%{len(self.parts) - 1}"


_CALCULATED: dict[str, Callable[[int, int], int]] = {
    "": lambda total, value: value,
    "*": lambda total, value: total * value,
    "/": lambda total, value: -(-total // value),
    "+": lambda total, value: total + value,
    "-": lambda total, value: total - value,
}


def _number(token: str) -> int:
    """The number in `v4`, `x16`, `2d`, `m64n128k16` (its n)."""
    rest = token.partition("n")[2] if token.startswith("m") else token
    digits = "".join(letter if letter.isdigit() else " " for letter in rest).split()
    return int(digits[0])


# ---- rows and tokens ----------------------------------------------------------------------------------------------


@cache
def rows_of(family: str) -> tuple[Row, ...]:
    """The rows of a family."""
    return tuple(row for row in _table(FAMILIES[family]) if row.family == family)


@cache
def _table(name: str) -> tuple[Row, ...]:
    return tuple(parse_table(name, tables.text_of(name)))


def assign(slots: Sequence[Slot], tokens: Sequence[str], *, complete: bool) -> dict[str, str] | None:
    """Which slot each token fills, in the order given where several could; None where they do not fit."""
    found: dict[str, str] = {}
    return found if _place(slots, 0, list(tokens), complete, found) else None


def _place(slots: Sequence[Slot], at: int, left: list[str], complete: bool, found: dict[str, str]) -> bool:
    if at == len(slots):
        return not left
    slot = slots[at]
    for position, token in enumerate(left):
        if token in slot.choices and token not in left[:position] and not _overtakes(token, left[:position]):
            rest = left[:position] + left[position + 1 :]
            if _place(slots, at + 1, rest, complete, found):
                found[slot.name] = token
                return True
    return (
        (slot.optional or not complete) and len(left) < len(slots) - at and _place(slots, at + 1, left, complete, found)
    )


def _overtakes(token: str, before: Sequence[str]) -> bool:
    """Types keep their order: `cvt.f16.f32` is no `cvt.f32.f16`."""
    return token in TYPES and any(word in TYPES for word in before)


def made_forms(row: Row, values: Mapping[str, str], first: int) -> list[Form]:
    """The forms of a row with all of its modifiers chosen: one for each choice of operands that may be left out."""
    mnemonic = ".".join([row.family, *(values[slot.name] for slot in row.slots[1:] if slot.name in values)])
    return [Form(row, values, mnemonic, first + number, items) for number, items in enumerate(_choices(row.items))]


def _choices(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """The operand lists with and without what may be left out."""
    ways = [_ways(item) for item in items]
    for chosen in product(*ways):
        yield tuple(item for item in chosen if item is not None)


def _ways(item: Item) -> list[Item | None]:
    """An item as the author may give it: results that nobody wants, fixed numbers and what is optional may be left out."""
    if item.kind == "optional":
        return [None, item]
    if item.kind == "text" and item.name.isdigit():
        return [item, Item("imm", "size", choices=(int(item.name),))]
    if item.sink and item.kind in ("reg", "vector"):
        return [item, Item("text", "_")]
    if item.kind == "pair":
        first, second = item.members
        ways: list[Item | None] = [Item("pair", members=(way, second)) for way in _ways(first) if way is not None]
        if second.kind == "optional":
            return [first, *(Item("pair", members=(way, *second.members)) for way in _ways(first) if way is not None)]
        return ways
    return [item]


_forms: dict[str, tuple[Form, ...]] = {}


def forms_of(mnemonic: str) -> tuple[Form, ...]:
    """The forms of an exact mnemonic; empty where there is none."""
    found = _forms.get(mnemonic)
    if found is None:
        family, *tokens = mnemonic.split(".")
        made: list[Form] = []
        for row in rows_of(family) if family in FAMILIES else ():
            values = assign(row.slots[1:], tokens, complete=True)
            if values is not None and all(rule.needed.holds(values) for rule in row.rules if rule.given.holds(values)):
                made += [form for form in made_forms(row, values, len(made)) if form.mnemonic == mnemonic]
        found = _forms[mnemonic] = tuple(made)
    return found


def form_of(mnemonic: str, variant: int = 0, guard: bool | None = None) -> Form:
    """One form; `guard` says whether it has a predicate, and whether that preserves destinations."""
    form = forms_of(mnemonic)[variant]
    return form if guard is None else form.with_guard(guard)
