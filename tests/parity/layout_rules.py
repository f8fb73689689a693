"""Known differences of layouts: how one is recognised. What is behind each, and who is right, stands in layout_differences.txt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.parity.layouts import Case
from tirx.layout import ComposeLayout
from tirx.layout.parts import is_memory

REASONS = Path(__file__).with_name("layout_differences.txt")


class Answers(NamedTuple):
    """A case whose answers differ."""

    case: Case
    mine: dict[str, Any]
    theirs: dict[str, Any]

    @property
    def it_refuses(self) -> bool:
        return "error" in self.theirs

    @property
    def it_answers_none(self) -> bool:
        return "result" in self.theirs and self.theirs["result"] is None


def tile(layout: Any) -> Any:
    """The tile layout in a swizzled one."""
    return getattr(layout, "tile_layout", layout)


def total(case: Case) -> Any:
    """The layout that an inverse takes apart."""
    return tile(case.arguments[0])


def contradicts(found: Answers) -> bool:
    return "Ill-formed tile layout" in found.theirs.get("error", "")


def decorated(layout: Any) -> bool:
    return bool(tile(layout).replica or tile(layout).offset)


def on_threads(iters: Any) -> bool:
    return any(not is_memory(item.axis) for item in iters)


def unseen_axes(inner: Any, outer: Any) -> bool:
    """Whether the inner layout has no step on an axis of the outer one."""
    shard = {item.axis for item in tile(inner).shard if item.extent > 1}
    return any(item.axis not in shard for item in (*tile(outer).shard, *tile(outer).replica))


def outer_of(case: Case) -> Any:
    return case.arguments[0] if case.op == "tile" else case.layout


PACKS = ("pack", "unpack")
# The first that fits is the reason.
RULES: dict[str, tuple[tuple[str, ...], Callable[[Answers], bool]]] = {
    "contradicting threads": ((), contradicts),
    "swizzled addend": (
        ("is_direct_sum_left",), lambda a: a.it_answers_none and isinstance(a.case.arguments[0], ComposeLayout),
    ),
    "inverse with copies or offsets": (
        ("is_tile_outer",), lambda a: a.it_answers_none and (decorated(total(a.case)) or decorated(a.case.layout)),
    ),
    "wrong inner shape": (("is_tile_inner",), lambda a: a.it_answers_none and "error" in a.mine),
    "unit steps": (("is_tile_inner",), lambda a: not a.it_refuses and "error" not in a.mine),
    "copies of the outer layout": (("tile",), lambda a: bool(tile(a.case.arguments[0]).replica)),
    "span without steps": (("tile", "tile_to"), lambda a: a.case.op == "tile_to" or unseen_axes(a.case.layout, outer_of(a.case))),
    "packing one": (("pack",), lambda a: a.it_refuses and a.case.arguments == (1,)),
    "packed iters": (("pack",), lambda a: a.it_refuses),
    "packed remainder": (("pack",), lambda a: "error" in a.mine),
    "packed offsets": (PACKS, lambda a: "m" in tile(a.case.layout).offset),
    "packed copies": (PACKS, lambda a: any(item.axis == "m" for item in tile(a.case.layout).replica)),
    "packed threads": (PACKS, lambda a: on_threads(tile(a.case.layout).shard)),
    "scopes of copies": (("get_scope",), lambda a: on_threads(a.case.layout.replica) or bool(a.case.layout.offset)),
    "warps of warpgroups": (("canonicalize for CUDA",), lambda a: {"wgid", "wid_in_wg"} <= set(a.case.layout.axes())),
    "positions beyond the width": (("canonicalize for CUDA",), lambda a: a.mine["result"] == a.case.layout.canonicalize()),
    "inner part on a wider level": (("is_tile_outer",), lambda a: a.it_answers_none),
    "swizzle of no bits": (("is_trivial",), lambda a: isinstance(a.case.layout, ComposeLayout)),
    "copies that coincide": (("is_direct_sum_left", "is_direct_sum_right"), lambda a: bool(total(a.case).replica)),
    "unsteady halves": (("slice",), lambda a: a.it_answers_none),
}  # fmt: skip


def reason_of(found: Answers) -> str | None:
    """The name of the rule that a difference is a case of."""
    for name, (ops, holds) in RULES.items():
        if (not ops or found.case.op in ops) and holds(found):
            return name
    return None


def reasons() -> dict[str, tuple[str, str]]:
    """Who is right and why, by name."""
    lines = [line for line in REASONS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    parts = [[part.strip() for part in line.split("|")] for line in lines]
    return {name: (right, why) for name, right, why in parts}
