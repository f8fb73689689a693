"""The pages of PTX forms and the types of `Tx.ptx`, both written from the tables of instructions."""

from __future__ import annotations

from collections.abc import Iterator

from tirx_cuda.ptx.coverage import Coverage, accuracy_of, coverage
from tirx_cuda.ptx.forms import rows_of
from tirx_cuda.ptx.names import ALIASES, FAMILIES, python_name
from tirx_cuda.ptx.registers import REGISTERS
from tirx_cuda.ptx.syntax import Row
from tools.tables import page, table

__all__ = ["PAGES", "instruction_types", "ptx_forms", "ptx_page"]

INTRO = """\
Every instruction that [`Tx.ptx`](../how-to/use-ptx.md) has, as the tables of `tirx-backend-cuda` say it; the manual (PTX ISA) is
the authority, and its section stands behind each name. Textures, surfaces, calls and branches are left out on purpose: the
language has no textures yet, and its own statements for control flow.

| to read | |
|---|---|
| `add{.sat}.type` | words in `{}` may be left out; a word that is explained above a table stands for any of its choices |
| `d:=f32`, `d:+f32` | an operand that is written; read and written |
| `{a:f32*4}` | four registers |
| `[a:shared]` | an address |
| `a:#0..15` | a number in the text |
| `(b:u32)` | an operand that may be left out |
| architectures | `80` is sm_80 or newer, `90a` only that one, `100f` the family of sm_100 from it on |
| PTX | the version of PTX that it came with |
| simulated | how exactly; `no` makes a run `incomplete` |

Further conditions stand below a table.
"""

SIMULATED = """\
How the simulator computes the rows of each family: `exact`, as the manual says bit by bit; `ulp(n)`, within n units in the last
place; `model`, where the manual leaves something open (the order of sums, how registers are laid out, which of equal elements is
taken). What is left out makes a run `incomplete`.
"""

PAGES = {
    "arith": "Arithmetic",
    "logic": "Comparison, selection and logic",
    "convert": "Moves and conversions",
    "memory": "Loads and stores",
    "copy": "Asynchronous copies",
    "atomic": "Atomics",
    "sync": "Barriers and fences",
    "warp": "Exchange within a warp",
    "matrix": "Matrices of a warp: mma, wmma",
    "wgmma": "Matrices of a warpgroup: wgmma",
    "tcgen05": "Tensor memory and its matrices: tcgen05",
    "video": "Video",
    "misc": "Control, multicast, fabric, others",
}


def ptx_forms() -> str:
    """The page that leads to the others, and the special registers."""
    registers = ((f"`%{name}`", row.dtype, row.arch) for name, row in REGISTERS.items())
    groups = ((f"[{title}](ptx/{name}.md)", _listed_names(name)) for name, title in PAGES.items())
    tree = "\n".join(f"ptx/{name}" for name in PAGES)
    return page(
        "PTX forms",
        INTRO,
        table(("instructions", "of"), groups),
        "## What is simulated\n",
        SIMULATED,
        table(("family", "rows", "simulated", "left out"), map(_covered, coverage())),
        "## Special registers\n",
        '`Tx.ptx.sreg("laneid")` is a value.\n',
        table(("register", "type", "from"), registers),
        f"```{{toctree}}\n:hidden:\n\n{tree}\n```",
    )


def _covered(one: Coverage) -> tuple[str, ...]:
    said = [
        f"{count} {accuracy}" if len(one.accuracies) > 1 else accuracy for accuracy, count in one.accuracies.items()
    ]
    lacking = ["1 row" if one.without == 1 else f"{one.without} rows"] * bool(one.without) + [
        f"words of {one.partly} rows"
    ] * bool(one.partly)
    left_out = f"{' and '.join(lacking)}: {one.reason}" if lacking else ""
    return f"`{one.family}`", str(one.rows), ", ".join(said) or "not", left_out


def _listed_names(name: str) -> str:
    """The families of a page; of a single one its instructions."""
    families = [family for family, home in FAMILIES.items() if home == name]
    names = families if len(families) > 1 else [_name(row).partition(",")[0] for row in _rows(name)]
    return " ".join(f"`{each}`" for each in dict.fromkeys(names))


def ptx_page(name: str) -> str:
    """The page of one group of instructions."""
    topics: dict[str, dict[str, list[Row]]] = {}
    for row in sorted(_rows(name), key=_place):
        topics.setdefault(_topic(row), {}).setdefault(f"{_name(row)} ({row.section})", []).append(row)
    parts = ["How to read this: [PTX forms](../ptx.md).\n"]
    for topic, sections in topics.items():
        parts += [f"## {topic}\n"] if topic else []
        for title, rows in sections.items():
            parts += _section(f"{'###' if topic else '##'} {title}\n", rows)
    return page(PAGES[name], *parts)


def _rows(name: str) -> list[Row]:
    return [row for family, home in FAMILIES.items() if home == name for row in rows_of(family)]


def _place(row: Row) -> list[int]:
    return [int(part) for part in row.section.split(".")]


def _topic(row: Row) -> str:
    """The manual's heading above an instruction's own, in plain letters."""
    topic, _, name = row.title.partition(": ")
    return topic.removesuffix(" Instructions").capitalize() if name else ""


def _name(row: Row) -> str:
    return row.title.rpartition(": ")[2].removesuffix(" Instructions")


def _section(heading: str, rows: list[Row]) -> Iterator[str]:
    yield heading
    choices = {
        slot.name: slot.choices
        for row in rows
        for slot in row.slots[1:]
        if len(slot.choices) > 1 or slot.choices != (slot.name,)
    }
    if choices:
        yield "\n".join(f"* `.{name}`: {_listed(words)}" for name, words in choices.items()) + "\n"
    header = ("instruction", "operands", "architectures", "PTX", "simulated")
    yield table(header, (_cells(row) for row in rows))
    rules = dict.fromkeys(line for row in rows for line in _rules(row))
    if rules:
        yield "\n".join(f"* {rule}" for rule in rules) + "\n"


def _listed(words: tuple[str, ...]) -> str:
    return f"`{words[0]}` ... `{words[-1]}`" if len(words) > 24 else " ".join(f"`{word}`" for word in words)


def _cells(row: Row) -> tuple[str, ...]:
    words = "".join(f"{{.{slot.name}}}" if slot.optional else f".{slot.name}" for slot in row.slots[1:])
    notes = row.notes
    meaning = accuracy_of(row) or "no"
    return (
        f"`{row.family}{words}`",
        f"`{row.text}`" if row.text else "",
        notes.get("arch", "20"),
        notes.get("ptx", "1.0"),
        meaning,
    )


def _rules(row: Row) -> Iterator[str]:
    for rule in row.rules:
        yield (
            f"{rule.given.text}: {rule.needed.text}"
            if rule.needed.text != "something else"
            else f"not {rule.given.text}"
        )
    for special in row.specials:
        notes = special.notes
        said = [f"sm_{notes['arch']}" if "arch" in notes else "", f"PTX {notes['ptx']}" if "ptx" in notes else ""]
        if any(said):
            yield f"{special.given.text}: {' and '.join(part for part in said if part)}"


# ---- types ----------------------------------------------------------------------------------------------------------

HEAD = '''\
# Generated by `python -m tools.generated` from the tables in `tirx_cuda.ptx`; change those.
# ruff: noqa: N815 - the words are PTX's
"""`Tx.ptx` for type checkers and editors: each family with the words that it knows. At run time `chain` checks their combinations."""

from typing import Any

from tirx.ir import Call, Expr

from .forms import Form

class Instruction:
    """An instruction as far as its words are given."""

    @property
    def forms(self) -> tuple[Form, ...]: ...
    @property
    def mnemonic(self) -> str: ...
    @property
    def archs(self) -> tuple[str, ...]: ...
    @property
    def operands(self) -> tuple[str, ...]: ...
    @property
    def effects(self) -> str: ...
    @property
    def section(self) -> str: ...
    def __call__(self, *operands: Any, pred: Any = ..., preserve_dst: bool = ...) -> Call: ...
'''
FOOT = '''
    SINK: Any
    """Stands for a result that nobody wants: `_` of PTX."""
    def __getitem__(self, mnemonic: str) -> Instruction:
        """An instruction by the text of the manual: `ptx["ld.global.f32"]`."""
    def sreg(self, name: str) -> Call:
        """The value of a special register."""
    def pred(self, value: Any) -> Expr:
        """A predicate operand."""
    def addr(self, base: Any, byte_offset: Any) -> Expr:
        """An address with a constant number of bytes added."""

ptx: Ptx
"""The instructions of PTX: their words one after the other, `ptx.ld.global_.f32(d, address)`, or `ptx["ld.global.f32"]`."""
'''


def instruction_types() -> str:
    """The text of the stub."""
    families = sorted(FAMILIES)
    classes = "\n".join(_class(family) for family in families)
    members = [f'    {python_name(family)}: {_class_name(family)}\n    """{_about(family)}"""' for family in families]
    members += [
        f'    {alias}: {_class_name(text.split(".")[0])}\n    """`{text}`. {_about(text.split(".")[0])}"""'
        for alias, text in sorted(ALIASES.items())
    ]
    return f'{HEAD}\n{classes}\nclass Ptx:\n    """The instructions of PTX."""\n\n' + "\n".join(members) + FOOT


def _class_name(family: str) -> str:
    return f"_{family.capitalize()}"


def _class(family: str) -> str:
    words = {word for row in rows_of(family) for slot in row.slots[1:] for word in slot.choices}
    names = sorted(
        name if (name := python_name(word)) is not None else f"_{word.replace('::', '__')}" for word in words
    )
    plain = [name for name in names if name.isidentifier()]
    body = "\n".join(f"    {name}: {_class_name(family)}" for name in plain)
    return f'class {_class_name(family)}(Instruction):\n    """{_about(family)}"""\n' + (f"\n{body}\n" if body else "")


def _about(family: str) -> str:
    """What editors show of a family: what it is for, and where the manual describes it."""
    found: dict[str, str] = {}
    for row in rows_of(family):
        found.setdefault(row.title.partition(" Instructions")[0].lower(), row.section)
    places = [f"{topic} ({section})" for topic, section in list(found.items())[:2]]
    return f"`{family}`, PTX ISA: {', '.join(places)}{', ...' if len(found) > 2 else ''}."
