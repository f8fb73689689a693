"""What every layout can do besides arithmetic: show itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Drawn"]


class Drawn:
    """Pictures of a layout. Options of all three:

    `shape`: of the buffer (default: rows and columns that suit the layout); `dtype`: of its elements, `banks`: how many there are
    and their width in bytes, `vector`: bytes that one of `lanes` threads reads, for bank conflicts; `limit`: rows and columns of
    cells that are shown. A cell holds as many neighbours of a row as lie side by side.
    """

    __slots__ = ()

    def to_svg(
        self,
        shape: Sequence[int] | None = None,
        *,
        dtype: Any = None,
        banks: tuple[int, int] = (32, 4),
        vector: int = 16,
        lanes: int | None = None,
        limit: tuple[int, int] = (64, 32),
    ) -> str:
        """The text of an SVG picture: which thread, register or bank holds which element."""
        from . import draw  # drawing is no part of a kernel's start-up

        return draw.svg_of(
            draw.picture_of(self, shape, dtype=dtype, banks=banks, vector=vector, lanes=lanes, limit=limit)
        )

    def to_text(
        self,
        shape: Sequence[int] | None = None,
        *,
        dtype: Any = None,
        banks: tuple[int, int] = (32, 4),
        vector: int = 16,
        lanes: int | None = None,
        limit: tuple[int, int] = (64, 32),
        colour: bool = False,
    ) -> str:
        """The same as a grid of text for terminals."""
        from . import draw  # drawing is no part of a kernel's start-up

        picture = draw.picture_of(self, shape, dtype=dtype, banks=banks, vector=vector, lanes=lanes, limit=limit)
        return draw.text_of(picture, colour=colour)

    def _repr_html_(self) -> str | None:
        """The picture that notebooks show; None (they show the text then) for a layout that cannot be drawn."""
        # drawing is no part of a kernel's start-up
        from ..support.errors import LayoutError
        from . import draw

        try:
            return draw.html_of(draw.picture_of(self))
        except LayoutError:
            return None
