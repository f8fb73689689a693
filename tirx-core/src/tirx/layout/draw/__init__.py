"""Layouts drawn: which thread, register or bank holds which element.

picture_of(layout, (8, 16))     cells, colours and notes
svg_of(picture)                 a picture for pages, light and dark
text_of(picture)                a grid for terminals
data_of(picture)                plain values for programs
"""

from __future__ import annotations

from .data import data_of
from .picture import BANKS, LIMIT, VECTOR, Picture, picture_of
from .svg import html_of, svg_of
from .text import text_of

__all__ = ["BANKS", "LIMIT", "VECTOR", "Picture", "data_of", "html_of", "picture_of", "svg_of", "text_of"]
