"""Regular patterns of numbers."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["numbers", "progressions"]


def numbers(mask: int) -> list[int]:
    """The numbers of the bits that are set, ascending."""
    return [number for number in range(mask.bit_length()) if mask >> number & 1]


def progressions(positions: Sequence[int]) -> list[tuple[int, int]] | None:
    """Ascending `positions` as nested steps: `(count, stride)`, innermost first; None where they are not regular.

    `progressions([2, 3, 6, 7]) == [(2, 1), (2, 4)]`
    """
    found: list[tuple[int, int]] = []
    rest = list(positions)
    while len(rest) > 1:
        stride = rest[1] - rest[0]
        count = next((n for n in range(1, len(rest)) if rest[n] - rest[n - 1] != stride), len(rest))
        groups = [rest[at : at + count] for at in range(0, len(rest), count)]
        if any([item - group[0] for item in group] != [n * stride for n in range(count)] for group in groups):
            return None
        found.append((count, stride))
        rest = [group[0] for group in groups]
    return found
