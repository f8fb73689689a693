"""The tables of PTX's instructions, one for each group of families; `tirx_cuda.ptx.syntax` says how to read them."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["text_of"]


def text_of(name: str) -> str:
    """The text of a table, through the loader of this package (`importlib.resources` costs more than all tables)."""
    loader: Any = __spec__.loader
    data: bytes = loader.get_data(os.path.join(os.path.dirname(__file__), f"{name}.txt"))
    return data.decode("utf-8")
