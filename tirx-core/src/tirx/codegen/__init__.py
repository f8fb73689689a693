"""From IR to text: the C-family printer, the source writer, the Codegen row."""

from __future__ import annotations

from .row import Codegen, Source  # the rest is imported from its module when there is something to print

__all__ = ["Codegen", "Source"]
