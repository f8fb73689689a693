"""Every function knows its target.

before  @Tx.prim_func
        def scale(...): ...
after   the same with attrs["target"] = Target("generic")

A function that already names a target keeps it (given as text or a mapping, it becomes a `Target`). Needs: nothing.
"""

from __future__ import annotations

from ..ir import IRModule, PrimFunc
from ..target import Target
from .pipeline import Pass, PassContext

__all__ = ["bind_target"]


def _bound(func: PrimFunc, default: Target) -> PrimFunc:
    given = func.attrs.get("target")
    if isinstance(given, Target):
        return func
    return func.with_attr("target", default if given is None else Target(given))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with a target on every function."""
    return module.map(lambda func: _bound(func, context.target))


bind_target = Pass("bind_target", run, ensures=("target",))
