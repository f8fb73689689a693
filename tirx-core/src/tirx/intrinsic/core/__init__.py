"""Core's own intrinsics: neutral rows, and the functions that build their calls or the nodes that the language names.

One topic a file; `ALL` is every row, in order. Rows whose name starts with `tirx.` are made by lowering.
"""

from __future__ import annotations

from . import arithmetic, atomic, calls, collective, control, math, memory, vector
from .arithmetic import absolute
from .memory import access_ptr, address_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..row import Intrinsic

__all__ = [
    "ALL", "absolute", "access_ptr", "address_of", "arithmetic", "atomic", "calls", "collective", "control", "math", "memory",
    "vector",
]  # fmt: skip

ALL: tuple[Intrinsic, ...] = (
    *math.ROWS, *memory.ROWS, *vector.ROWS, *control.ROWS, *collective.ROWS, *atomic.ROWS, *calls.ROWS,
)  # fmt: skip
