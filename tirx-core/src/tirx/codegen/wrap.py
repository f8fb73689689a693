"""Long lines of C broken where people would break them."""

from __future__ import annotations

__all__ = ["WIDTH", "wrapped"]

WIDTH = 120
_CONTINUED = "    "


def wrapped(line: str, width: int = WIDTH) -> list[str]:
    """`line` in parts of at most `width` columns where it has spaces to break at; directives and comments stay whole."""
    if len(line) <= width or line.lstrip().startswith(("#", "//")):
        return [line]
    indent = line[: len(line) - len(line.lstrip())] + _CONTINUED
    parts, rest = [], line
    while len(rest) > width:
        at = _break(rest, width)
        if at is None:
            break
        parts.append(rest[:at])
        rest = indent + rest[at + 1 :]
    return [*parts, rest]


# Where a break reads best, best first: between arguments, then around the operators that bind least.
_RANKS = (
    ",", "&&", "||", "?", ":", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "=",
)  # fmt: skip


def _break(line: str, width: int) -> int | None:
    """The best space in the second half of `width`: in the fewest parentheses, after the loosest operator, as late as possible."""
    found = [(depth, rank, -at) for at, depth, rank in _spaces(line) if width // 2 <= at <= width]
    return -min(found)[2] if found else None


def _spaces(line: str) -> list[tuple[int, int, int]]:
    """Spaces outside string literals after an operator or a comma: position, parentheses around it, rank of the operator."""
    found, depth, quoted = [], 0, False
    for at, char in enumerate(line):
        if char == '"' and (at == 0 or line[at - 1] != "\\"):
            quoted = not quoted
        elif quoted:
            continue
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == " ":
            word = line[:at].rpartition(" ")[2]
            operator = "," if word.endswith(",") else word
            if operator in _RANKS:
                found.append((at, depth, _RANKS.index(operator)))
    return found
