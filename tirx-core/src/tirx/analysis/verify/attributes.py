"""Attributes of the compiler's own names (`tirx.`): known, constant, given once, within limits."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Attr, IntImm
from ...support.errors import Diagnostic
from ...support.suggest import did_you_mean
from .facts import ENTRY, Facts, Kernel, line_of

__all__ = ["check"]

_COUNTS = (
    "tirx.launch_bounds_min_blocks_per_sm", "tirx.launch_bounds_max_blocks_per_cluster", "tirx.max_registers",
)  # fmt: skip
_KNOWN = (ENTRY, "tirx.hint", "tirx.dyn_smem_bytes", *_COUNTS)
_EXTENTS = "tirx.extent."
_FLAGS = "tirx.kernel_launch_params"


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    for node in facts.all(Attr):
        if node.key.startswith("tirx.") and not _is_known(node.key):
            yield Diagnostic(
                f"there is no attribute `{node.key}`",
                node.span,
                hint=did_you_mean(node.key, _KNOWN)
                or f"there are {', '.join(_KNOWN)}; names of your own need no `tirx.`",
            )
    for kernel in facts.kernels:
        for key in _COUNTS:
            yield from _count(facts, kernel, key)
    flags = facts.func.attrs.get(_FLAGS, ())
    if not (isinstance(flags, list | tuple) and all(isinstance(flag, str) for flag in flags)):
        yield Diagnostic(f"`{_FLAGS}` is {flags!r}, not a list of names", facts.func.span)


def _is_known(key: str) -> bool:
    return key in _KNOWN or key.startswith(_EXTENTS)


def _count(facts: Facts, kernel: Kernel, key: str) -> Iterator[Diagnostic]:
    found = kernel.attributes(key)
    for again in found[1:]:
        yield Diagnostic(f"`{key}` is given twice, first{line_of(found[0].span)}", again.span)
    for node in found[:1]:
        if not isinstance(node.value, IntImm) or node.value.value < 1:
            yield Diagnostic(f"`{key}` is not a positive constant", node.span)
        elif key == "tirx.max_registers" and facts.target is not None:
            limit = facts.target.limits.get("registers_per_thread")
            if limit is not None and node.value.value > limit:
                yield Diagnostic(
                    f"{node.value.value} registers for a thread: target `{facts.target}` has {limit}", node.span
                )
