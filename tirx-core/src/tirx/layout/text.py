"""Layouts as they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .iters import Iter, Number
from .parts import Parts

__all__ = ["number_text", "spec_text"]

_SIMPLE = re.compile(r"-?[\w.]+")


def number_text(value: Number) -> str:
    """A number, or an expression in the language's syntax."""
    return str(value) if isinstance(value, int) else value.script()


def spec_text(layout: Parts, number: Callable[[Number], str] = number_text, prefix: str = "") -> str:
    """`S[...] + R[...] + offsets`; `number` writes numbers, `prefix` stands before `S` and `R`."""
    parts = [f"{prefix}S[{_iters(layout.shard, number)}]"]
    if layout.replica:
        parts.append(f"{prefix}R[{_iters(layout.replica, number)}]")
    terms = sorted(layout.offset.items(), key=lambda item: item[0] == "m")  # the bare number last: it reads back so
    texts = [
        _enclosed(_term(value, axis, number)) if axis == "m" else _term(value, axis, number) for axis, value in terms
    ]
    parts += [f"({' + '.join(texts)})"] if len(texts) > 1 else texts
    return " + ".join(parts)


def _iters(iters: Sequence[Iter], number: Callable[[Number], str]) -> str:
    extents, strides = [number(i.extent) for i in iters], [_term(i.stride, i.axis, number) for i in iters]
    if len(iters) == 1:
        return f"{extents[0]}:{strides[0]}"
    return f"({', '.join(extents)}):({', '.join(strides)})"


def _term(value: Number, axis: str, number: Callable[[Number], str]) -> str:
    return number(value) if axis == "m" else f"{_enclosed(number(value))} @ Axis.{axis}"


def _enclosed(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else f"({text})"
