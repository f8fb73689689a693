"""What passes made goes through the rules of the kind again, as `verify` has gone through what people wrote."""

from __future__ import annotations

from tirx.ir import IRModule
from tirx.support.errors import VerifyError
from tirx.transform.pipeline import PassContext

from ..check import CHECKS

__all__ = ["checked"]


def checked(module: IRModule, context: PassContext) -> IRModule:
    """`module`, or all that is wrong with it, at the lines that its instructions come from."""
    found = [problem for check in CHECKS for problem in check.run(module, context.target)]
    if found:
        raise VerifyError(diagnostics=found)
    return module
