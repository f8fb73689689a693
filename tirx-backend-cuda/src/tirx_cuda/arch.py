"""Names of architectures, such as `sm_90a`, and the rows of the table (`capabilities.py`) that they stand for."""

from __future__ import annotations

import re
from typing import Any

from tirx.support.errors import TargetError
from tirx.support.suggest import did_you_mean

from .capabilities import ARCHITECTURES, Arch, at_least

__all__ = ["ARCHITECTURES", "DEFAULT_ARCH", "Arch", "at_least", "number_of", "parse_arch"]

DEFAULT_ARCH = "sm_90a"  # when neither the author nor a device decides

_FORM = re.compile(r"sm_(\d+)([a-z]?)")


def parse_arch(text: str) -> Arch:
    """The row of `sm_90a`; `TargetError` says what is wrong with any other text."""
    found = _FORM.fullmatch(text)
    row = ARCHITECTURES.get(int(found[1])) if found is not None else None
    if found is None or row is None:
        known = [name for each in ARCHITECTURES.values() for name in each.names]
        hint = did_you_mean(f"sm_{text}" if text[:1].isdigit() else text, known) or f"there are {', '.join(known)}"
        raise TargetError(f"`{text}` is no architecture of NVIDIA's", hint=hint)
    if found[2] and found[2] not in row.suffixes:
        have = " and ".join(row.names[1:])
        raise TargetError(
            f"`{text}`: {row.name} has no variant `{found[2]}`",
            hint=f"write {row.name}{have and ' or ' + have}",
        )
    return row


def number_of(target: Any) -> int:
    """Compute capability of a target: 90 for sm_90 and sm_90a."""
    return parse_arch(target["arch"]).number
