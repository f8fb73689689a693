"""The rules of the language and of the target hold, or one error lists every break of them.

Changes nothing. Needs: a target on every function.
"""

from __future__ import annotations

from ..analysis.verify import check_module
from ..ir import IRModule
from .pipeline import Pass, PassContext

__all__ = ["verify"]


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module itself, verified."""
    check_module(module, context.target, stage="bound")
    return module


verify = Pass("verify", run, requires=("target",), ensures=("verified",))
