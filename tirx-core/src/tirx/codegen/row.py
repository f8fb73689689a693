"""What a code generator is, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..support.span import Span

__all__ = ["Codegen", "Source", "check_codegen"]


class Source:
    """Target source: the `text`, its `language`, a file `suffix`, and the functions in it that can be launched.

    `entries` stand in the order of the module's kernels. `places` maps 1-based lines of the text to the author's places,
    so that messages of a vendor's compiler can be told in terms of the kernel.
    """

    __slots__ = ("entries", "language", "places", "suffix", "text")

    def __init__(
        self, text: str, language: str, suffix: str, entries: Sequence[str], places: Mapping[int, Span] | None = None
    ) -> None:
        self.text = text
        self.language = language
        self.suffix = suffix
        self.entries = tuple(entries)
        self.places = dict(places or {})

    def __str__(self) -> str:
        return self.text


class Codegen:
    """A row of hook `tirx_codegens`: for target `kind`, `generate` is `"module:function"` `(module, target, config) -> Source`.

    The module holds the functions after the pipeline's `prepare` passes: device functions, and the host functions that
    launch them.
    """

    __slots__ = ("generate", "kind")

    def __init__(self, kind: str, generate: str) -> None:
        self.kind = kind
        self.generate = generate


def check_codegen(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Codegen):
        raise ValueError(f"expected a Codegen, got {type(row).__name__}")
    if ":" not in row.generate:
        raise ValueError(f"codegen of {row.kind}: {row.generate!r} is not 'module:function'")
