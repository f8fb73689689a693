"""Conditions of the tables over the modifiers of a form: `ftz & type=f32/f64`, `sem=acquire | !scope`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ["Condition", "parse_condition", "split_terms"]

Values = Mapping[str, str]


class Condition:
    """`holds(values)` over a mapping from slot names to the chosen modifiers; `text` reads as it stands in the manual."""

    __slots__ = ("holds", "text")

    def __init__(self, holds: Callable[[Values], bool], text: str) -> None:
        self.holds = holds
        self.text = text


def split_terms(text: str, separator: str) -> list[str]:
    """The parts between separators, without blanks."""
    return [part.strip() for part in text.split(separator)]


def parse_condition(text: str) -> Condition:
    """The condition that `text` says; alternatives (`|`) of conjunctions (`&`) of terms."""
    ways = [[_term(term) for term in split_terms(way, "&")] for way in split_terms(text, "|")]
    words = " or ".join(" and ".join(term.text for term in way) for way in ways)
    return Condition(lambda values: any(all(term.holds(values) for term in way) for way in ways), words)


def _term(text: str) -> Condition:
    if text == "no":
        return Condition(lambda values: False, "something else")
    if "=" not in text:
        name = text.lstrip("!")
        if text.startswith("!"):
            return Condition(lambda values: name not in values, f"no .{name}")
        return Condition(lambda values: name in values, f".{name}")
    negated = "!=" in text
    name, _, listed = text.partition("!=" if negated else "=")
    name, wanted = name.strip(), frozenset(listed.strip().split("/"))
    words = " or ".join(f".{item}" for item in listed.strip().split("/"))
    if negated:
        return Condition(lambda values: values.get(name) not in wanted, f"a .{name} other than {words}")
    return Condition(lambda values: values.get(name) in wanted, words)
