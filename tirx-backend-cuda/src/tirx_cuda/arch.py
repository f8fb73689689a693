"""Architectures: what differs between compute capabilities, as a table.

Figures: CUDA C++ Programming Guide, "Compute Capabilities", table of technical specifications.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tirx.intrinsic import Requirement
from tirx.support.errors import TargetError
from tirx.support.suggest import did_you_mean

__all__ = ["ARCHITECTURES", "DEFAULT_ARCH", "Arch", "at_least", "number_of", "parse_arch"]

DEFAULT_ARCH = "sm_90a"  # when neither the author nor a device decides

KILOBYTE = 1024


class Arch(NamedTuple):
    """One compute capability.

    `shared_bytes` of a cta at most (opt-in), `cluster` of ctas at most (0: no clusters), the suffixes that name its own
    (`a`) or its family's (`f`) instructions, and what it is called.
    """

    number: int
    shared_bytes: int
    cluster: int
    suffixes: str
    family: str


ARCHITECTURES: Mapping[int, Arch] = {
    row.number: row
    for row in (
        Arch(50, 48 * KILOBYTE, 0, "", "Maxwell"),
        Arch(52, 48 * KILOBYTE, 0, "", "Maxwell"),
        Arch(53, 48 * KILOBYTE, 0, "", "Maxwell, Jetson"),
        Arch(60, 48 * KILOBYTE, 0, "", "Pascal"),
        Arch(61, 48 * KILOBYTE, 0, "", "Pascal"),
        Arch(62, 48 * KILOBYTE, 0, "", "Pascal, Jetson"),
        Arch(70, 96 * KILOBYTE, 0, "", "Volta"),
        Arch(72, 96 * KILOBYTE, 0, "", "Volta, Jetson"),
        Arch(75, 64 * KILOBYTE, 0, "", "Turing"),
        Arch(80, 163 * KILOBYTE, 0, "", "Ampere"),
        Arch(86, 99 * KILOBYTE, 0, "", "Ampere"),
        Arch(87, 163 * KILOBYTE, 0, "", "Ampere, Jetson"),
        Arch(89, 99 * KILOBYTE, 0, "", "Ada"),
        Arch(90, 227 * KILOBYTE, 16, "a", "Hopper"),
        Arch(100, 227 * KILOBYTE, 16, "af", "Blackwell"),
        Arch(103, 227 * KILOBYTE, 16, "af", "Blackwell Ultra"),
        Arch(110, 227 * KILOBYTE, 16, "af", "Blackwell, Jetson"),
        Arch(120, 99 * KILOBYTE, 8, "af", "Blackwell, consumer and workstation"),
        Arch(121, 99 * KILOBYTE, 8, "af", "Blackwell, integrated"),
    )
}

_FORM = re.compile(r"sm_(\d+)([a-z]?)")


def parse_arch(text: str) -> Arch:
    """The row of `sm_90a`; `TargetError` says what is wrong with any other text."""
    found = _FORM.fullmatch(text)
    row = ARCHITECTURES.get(int(found[1])) if found is not None else None
    if found is None or row is None:
        known = _names()
        hint = did_you_mean(text, known) or f"there are {', '.join(known)}"
        raise TargetError(f"`{text}` is no architecture of NVIDIA's", hint=hint)
    if found[2] and found[2] not in row.suffixes:
        have = " and ".join(f"sm_{row.number}{letter}" for letter in row.suffixes)
        raise TargetError(
            f"`{text}`: sm_{row.number} has no variant `{found[2]}`",
            hint=f"write sm_{row.number}{have and ' or ' + have}",
        )
    return row


def _names() -> list[str]:
    return [f"sm_{row.number}{suffix}" for row in ARCHITECTURES.values() for suffix in ("", *row.suffixes)]


def number_of(target: Any) -> int:
    """Compute capability of a target: 90 for sm_90 and sm_90a."""
    return parse_arch(target["arch"]).number


def at_least(number: int) -> Requirement:
    """The requirement of an architecture or a newer one."""
    listed = tuple(f"sm_{row.number}" for row in ARCHITECTURES.values() if row.number >= number)
    return Requirement(f"sm_{number} or newer", lambda target: number_of(target) >= number, listed)
