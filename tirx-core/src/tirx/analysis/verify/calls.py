"""Calls of other functions of the module: they exist, and take what they are given."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Buffer, Call, GlobalVar, PrimFunc
from ...support.errors import Diagnostic
from ...support.suggest import did_you_mean
from .facts import Facts

__all__ = ["check"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    for call in facts.all(Call):
        if not isinstance(call.op, GlobalVar):
            continue
        callee = facts.module.functions.get(call.op.name)
        if callee is None:
            names = list(facts.module.functions)
            hint = did_you_mean(call.op.name, names) or f"the module has {', '.join(names)}"
            yield Diagnostic(f"there is no function `{call.op.name}` in the module", call.span, hint=hint)
        else:
            yield from _arguments(call, callee)


def _arguments(call: Call, callee: PrimFunc) -> Iterator[Diagnostic]:
    if len(call.args) != len(callee.params):
        yield Diagnostic(
            f"`{callee.name}` takes {len(callee.params)} arguments ({', '.join(callee.names)}), not {len(call.args)}",
            call.span,
        )
        return
    for name, param, arg in zip(callee.names, callee.params, call.args, strict=True):
        wanted = param.data.dtype if isinstance(param, Buffer) else param.dtype
        if arg.dtype is not wanted and not (arg.dtype.is_handle and wanted.is_handle):
            yield Diagnostic(f"`{name}` of `{callee.name}` is of type {wanted}, not {arg.dtype}", arg.span or call.span)
