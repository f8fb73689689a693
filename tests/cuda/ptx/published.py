"""The forms that are known to assemble, with their operands and architectures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tirx_cuda.ptx.forms import Form, Part, forms_of
from tirx_cuda.ptx.types import TYPES

__all__ = ["ARCHS", "PUBLISHED", "Published", "matching"]

ARCHS = ("sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_107a", "sm_110a", "sm_120a")


class Published(NamedTuple):
    """One line of the list."""

    form: str
    operands: tuple[str, ...]
    archs: tuple[str, ...]


def _read() -> list[Published]:
    lines = (Path(__file__).parent / "forms.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith(("#", "form\t"))]
    return [
        Published(form, _flat(operands), tuple(f"sm_{arch}" for arch in archs.split(",")))
        for form, operands, archs in rows
    ]


def _flat(text: str) -> tuple[str, ...]:
    """One entry for each register, address and immediate."""
    return () if text == "-" else tuple(entry for item in text.split() for entry in _entries(item))


def _entries(item: str) -> list[str]:
    if item.startswith("["):
        return [entry for part in re.findall(r"(?:\{[^}]*\}|[^,{}])+", item[1:-1]) for entry in _entries(part)]
    if "|" in item:
        return [entry for part in item.split("|") for entry in _entries(part)]
    kind, _, rest = item.partition(":")
    vector = re.fullmatch(r"\{(\w+)x(\d+)\}", rest)
    return [f"{kind}:{vector[1]}"] * int(vector[2]) if vector is not None else [item]


PUBLISHED = _read()


def matching(published: Published) -> Form | None:
    """The form of the tables with these operands; fixed ones and `_` need not be given."""
    wanted = [entry for entry in published.operands if not entry.startswith("imm=")]
    for form in forms_of(published.form):
        if len(form.parts) == len(wanted) and all(map(_fits, form.parts, wanted)):
            return form
    return None


def _fits(part: Part, entry: str) -> bool:
    if entry == "imm":
        return part.kind == "imm"
    if entry == "ptr":
        return part.kind == "memory" or (part.type is not None and part.type.bits == 64)
    kind, _, rest = entry.partition(":")
    if kind == "addr":
        shared = {part.space, rest} == {"shared", "shared::cta"}
        return part.kind == "memory" and (part.space == rest or shared or part.name == "tensorMap")
    if part.kind == "memory":
        return kind == "r" and TYPES[rest].bits in (32, 64)
    return part.type is not None and part.rw == kind and part.type.bits == TYPES[rest].bits
