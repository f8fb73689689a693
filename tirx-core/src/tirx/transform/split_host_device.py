"""The kernel part becomes a device function, and a launch stands where it was.

before  @Tx.prim_func
        def scale(A: Tx.Buffer((n,), "float32")):
            with Tx.attr({"tirx.device_entry": True, "tirx.extent.cta.x": Tx.ceildiv(n, 256), "tirx.extent.thread.x":
            256}):
                ...
after   scale (host): launch scale_kernel(A.data, n) with cta.x = ceildiv(n, 256), thread.x = 256
        scale_kernel (device): A = decl_buffer((n,), data=A.data); ...

Parameters of the device function are the storage pointers and values that it uses, pointers first, in the host's order.
Functions that kernels call become device functions too, without a launch. Needs: a target on every function; ids and
layouts lowered.
"""

from __future__ import annotations

from ..analysis.verify import check_lowered
from ..ir import Attr, Call, Decl, GlobalVar, IRModule, PrimFunc, mask_of, rewrite, seq, variable_of, walk
from ..target import Target
from .kernel_part import KernelPart, flat_views
from .mark_kernels import ENTRY
from .pipeline import Pass, PassContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["split_host_device"]


def _split(func: PrimFunc, target: Target, taken: set[str]) -> list[PrimFunc]:
    """The host function and its kernels; a function without a kernel part stays whole."""
    kernels: list[KernelPart] = []
    if func.attrs.get("role") == "device":
        return [func]

    def enter(node: Attr) -> Any:
        if node.key != ENTRY:
            return None
        name = _fresh(f"{func.attrs.get('global_symbol', func.name)}_kernel", taken)
        kernels.append(KernelPart(func, node, name, target))
        return seq(kernels[-1].statements())

    body = rewrite(func.body, {}, enter={Attr: enter})
    host = func.replaced(body=body, attrs={**func.attrs, "role": "host"})
    return [host, *(kernel.function() for kernel in kernels)]


def _fresh(name: str, taken: set[str]) -> str:
    made, number = name, 1
    while made in taken:
        made, number = f"{name}_{number}", number + 1
    taken.add(made)
    return made


def _callees(func: PrimFunc) -> set[str]:
    calls = (node.op for node in walk(func.body, mask_of(Call)) if isinstance(node, Call))
    return {op.name for op in calls if isinstance(op, GlobalVar)}


def _called_from_kernels(functions: list[PrimFunc]) -> set[str]:
    """Names of functions that device functions call, directly or not."""
    by_name = {func.name: func for func in functions}
    waiting = [func for func in functions if func.attrs["role"] == "device"]
    found: set[str] = set()
    while waiting:
        for name in _callees(waiting.pop()) - found:
            found.add(name)
            if name in by_name:
                waiting.append(by_name[name])
    return found


def _as_helper(func: PrimFunc) -> PrimFunc:
    """A function that kernels call: its buffers come as pointers."""
    params = [variable_of(param) for param in func.params]
    views = [Decl(flat, span=func.span) for flat in flat_views(func.body, params)]
    return func.replaced(params=params, body=seq([*views, func.body]), attrs={**func.attrs, "role": "device"})


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with host and device functions; an error where a tile operation is left in it."""
    check_lowered(module)
    taken = {func.attrs.get("global_symbol", name) for name, func in module.functions.items()} | set(module.functions)
    made: list[PrimFunc] = []
    for func in module:
        made += _split(func, func.attrs.get("target", context.target), taken)
    helpers = _called_from_kernels(made)
    return module.with_functions([_as_helper(func) if func.name in helpers else func for func in made])


split_host_device = Pass("split_host_device", run, requires=("target",), ensures=("split",))
