"""Kernels do not take numbers that they do not use; their launches do not pass them.

before  launch(kernel, [A.data, rows, n], ...)      kernel(A_ptr, rows, n) computes with n alone
after   launch(kernel, [A.data, n], ...)            kernel(A_ptr, n)

Such are dimensions that only size the grid: until here they say how large an array is, which checks ask. Of an array whose size
mentions one nothing is said any more. Needs: hosts and devices split, provenance dropped.
"""

from __future__ import annotations

from ..ir import (
    INT32,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Decl,
    Expr,
    IRModule,
    Launch,
    Node,
    PrimFunc,
    Var,
    mask_of,
    rewrite,
    variables,
    walk,
)  # fmt: skip
from .pipeline import Pass, PassContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["drop_parameters"]

_HOLDERS = (BufferLoad, BufferStore, BufferRegion, Decl)


def _unused(func: PrimFunc) -> set[int]:
    """Positions of the numbers that a kernel takes and does not read."""
    read = {id(var) for var in variables(func.body)}
    return {at for at, param in enumerate(func.params) if isinstance(param, Var) and _is_idle(param, read)}


def _is_idle(param: Var, read: set[int]) -> bool:
    return not param.dtype.is_handle and id(param) not in read


class _Sizes:
    """Buffers whose size mentions one of some variables, as buffers of no particular size."""

    def __init__(self, gone: set[int]) -> None:
        self.gone = gone
        self.made: dict[int, Buffer] = {}
        self.rules: dict[type[Node], Any] = dict.fromkeys(_HOLDERS, self._holder)

    def _holder(self, node: Any) -> Node | None:
        buffer = self._without(node.buffer)
        return None if buffer is node.buffer else node.rebuild(buffer=buffer)

    def _without(self, buffer: Buffer) -> Buffer:
        found = self.made.get(id(buffer))
        if found is None:
            mentioned = {id(var) for size in buffer.shape if isinstance(size, Expr) for var in variables(size)}
            found = buffer.replaced(shape=(INT32.max_int,)) if mentioned & self.gone else buffer
            self.made[id(buffer)] = found
            self.made[id(found)] = found
        return found


def _kernel(func: PrimFunc, gone: set[int]) -> PrimFunc:
    names = {id(param) for at, param in enumerate(func.params) if at in gone}
    kept = [param for at, param in enumerate(func.params) if at not in gone]
    labels = [name for at, name in enumerate(func.names) if at not in gone]
    return func.replaced(params=kept, names=labels, body=rewrite(func.body, _Sizes(names).rules))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module whose kernels take what they use."""
    gone = {
        name: found for name, func in module.functions.items() if "launch" in func.attrs and (found := _unused(func))
    }
    if not gone:
        return module

    def launch(node: Launch) -> Launch | None:
        idle = gone.get(node.kernel)
        return None if not idle else node.rebuild(args=tuple(arg for at, arg in enumerate(node.args) if at not in idle))

    def changed(func: PrimFunc) -> PrimFunc:
        if func.name in gone:
            return _kernel(func, gone[func.name])
        if not any(isinstance(node, Launch) for node in walk(func.body, mask_of(Launch))):
            return func
        return func.with_body(rewrite(func.body, {Launch: launch}))

    return module.map(changed)


drop_parameters = Pass("drop_parameters", run)
