"""Which architectures accept an instruction: sets written as the manual says it.

`80`: sm_80 and newer. `90a`: only sm_90a. `100f`: the family of sm_100 from that member on, by its `f` and `a` targets.
Several, separated by commas: any of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from tirx.intrinsic import Requirement

from ..arch import ARCHITECTURES, parse_arch

__all__ = ["holds", "listed", "requirement"]

_FAMILIES = ((90,), (100, 103, 107), (110,), (120, 121))  # PTX ISA, `.target`: family-specific architectures


def _family(number: int) -> tuple[int, ...]:
    return next((members for members in _FAMILIES if number in members), (number,))


@cache
def holds(text: str, arch: str) -> bool:
    """Whether `arch` (`sm_90a`) belongs to the set."""
    row = parse_arch(arch)
    suffix = arch[-1] if arch[-1].isalpha() else ""
    return any(_member(part, row.number, suffix) for part in text.split(","))


def _member(part: str, number: int, suffix: str) -> bool:
    if part.endswith("a"):
        return suffix == "a" and number == int(part[:-1])
    if part.endswith("f"):
        first = int(part[:-1])
        return suffix in ("a", "f") and suffix != "" and number >= first and number in _family(first)
    return number >= int(part)


@cache
def listed(sets: tuple[str, ...]) -> tuple[str, ...]:
    """The architectures that belong to all of the sets, oldest first."""
    names = [f"sm_{row.number}{suffix}" for row in ARCHITECTURES.values() for suffix in ("", *row.suffixes)]
    return tuple(name for name in names if all(holds(text, name) for text in sets))


def _words(text: str) -> str:
    return f"sm_{text}" if text[-1].isalpha() else f"sm_{text} or newer"


@cache
def requirement(sets: tuple[str, ...], version: tuple[int, int]) -> Requirement:
    """The requirement of all of the sets, and of a version of PTX."""
    words = " and ".join(" or ".join(_words(part) for part in text.split(",")) for text in _narrow(sets))
    return Requirement(
        f"{words} (PTX {version[0]}.{version[1]})",
        lambda target: all(holds(text, target["arch"]) for text in sets) and _has_version(target, version),
        listed(sets),
    )


def _has_version(target: object, version: tuple[int, int]) -> bool:
    """Targets that say the version of PTX that their toolchain reads are held to it."""
    attrs = getattr(target, "attrs", {})
    given = attrs.get("ptx") if isinstance(attrs, dict) else None
    if given is None:
        return True
    major, _, minor = str(given).partition(".")
    return (int(major), int(minor or 0)) >= version


def _narrow(sets: Iterable[str]) -> list[str]:
    """The sets that no other one of them makes superfluous."""
    plain = [text for text in sets if text.isdigit()]
    newest = max(plain, key=int, default=None)
    others = [text for text in sets if not text.isdigit()]
    floor = min((int(part.rstrip("af")) for text in others for part in text.split(",")), default=None)
    keep_plain = newest is not None and (floor is None or int(newest) > floor)
    return [*([newest] if keep_plain and newest is not None else []), *others] or ([newest] if newest else [])
