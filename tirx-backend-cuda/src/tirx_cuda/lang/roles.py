"""Roles: parts of a kernel for some warps, with the registers that they need.

with WarpgroupRole(wg, 0, regs=40):          # hands registers back
    ...
with WarpgroupRole(wg, 1, regs=232, increase=True):
    ...
"""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Any

from tirx.ir import as_expr, current_span, logical_and
from tirx.script.builder import If, Then
from tirx.support.errors import ScriptError

from ..ptx.chain import ptx

__all__ = ["WarpRole", "WarpgroupRole"]


class Role:
    """`with Role(id_var, id_value):` holds for threads whose id is `id_value`: a number, or `range(first, last)`.

    `regs` sets how many registers each thread may use from here on; `increase` says that it is more than before. All warps of a
    warpgroup must come to it.
    """

    def __init__(self, id_var: Any, id_value: Any, regs: Any = None, increase: bool = False) -> None:
        if regs is not None and not (isinstance(regs, int) and 24 <= regs <= 256 and regs % 8 == 0):
            raise ScriptError(
                f"{regs} registers for each thread", span=current_span(), hint="give 24 to 256, a multiple of 8"
            )
        self.condition = _within(id_var, id_value)
        self.regs = regs
        self.increase = increase

    def __enter__(self) -> None:
        self._frames = ExitStack()
        self._frames.enter_context(If(self.condition))
        self._frames.enter_context(Then())
        if self.regs is not None:
            change = ptx.setmaxnreg.inc if self.increase else ptx.setmaxnreg.dec
            change.sync.aligned.u32(self.regs)

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._frames.__exit__(kind, fault, trace)


def _within(id_var: Any, id_value: Any) -> Any:
    if isinstance(id_value, range):
        var = as_expr(id_var)
        return logical_and(var >= id_value.start, var < id_value.stop)
    return as_expr(id_var) == id_value


class WarpRole(Role):
    """A part of the kernel for one warp, or a range of them."""


class WarpgroupRole(Role):
    """A part of the kernel for one warpgroup, or a range of them."""
