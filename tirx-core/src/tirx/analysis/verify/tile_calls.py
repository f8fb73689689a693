"""Calls of tile operations: whole, in the kernel part, at a level that the target has; and gone once a program is lowered."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import BufferRegion, DType, Expr, IndexFunction, IntImm, Node, PrimFunc, TileCall, mask_of, walk
from ...ir.tiles import call_name, writes
from ...support.errors import Diagnostic
from ...support.words import an
from .facts import Facts

__all__ = ["check", "check_function", "survivors"]


def check_function(func: PrimFunc) -> Iterator[Diagnostic]:
    """What holds at every stage."""
    if func.attrs.get("role") in ("host", "device"):
        yield from survivors(func)
    for call in _calls(func):
        yield from (Diagnostic(message, call.span) for message in _malformed(call))


def survivors(func: PrimFunc) -> Iterator[Diagnostic]:
    """Calls in a function that should have none left."""
    for call in _calls(func):
        yield Diagnostic(
            f"{call_name(call)} is still there after lowering",
            call.span,
            hint="the pipeline of the target needs pass `lower_tile` before the kernel part is split off",
        )


def _calls(func: PrimFunc) -> Iterator[TileCall]:
    return (node for node in walk(func.body, mask_of(TileCall)) if isinstance(node, TileCall))


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    for kernel in facts.kernels:
        for call in kernel.all(TileCall):
            yield from _empty(call)
            yield from _level(facts, call)


def _level(facts: Facts, call: TileCall) -> Iterator[Diagnostic]:
    model = facts.model
    if model is None or call.scope in model or (not model and call.scope == "thread"):
        return
    hint = f"its levels are {', '.join(model.names)}" if model else f"it runs a kernel once: Tx.tile.{call.op.name}"
    yield Diagnostic(
        f"{call_name(call)} needs a level `{call.scope}`, which target `{facts.target}` does not have", call.span, hint
    )


def _empty(call: TileCall) -> Iterator[Diagnostic]:
    for name, arg in zip(call.names, call.args, strict=True):
        extents = arg.extents if isinstance(arg, BufferRegion) else ()
        axis = next((n for n, item in enumerate(extents) if isinstance(item, IntImm) and item.value < 1), None)
        if axis is not None:
            yield Diagnostic(
                f"`{name}` of {call_name(call)} has no elements along dimension {axis}",
                call.span,
                hint="a region A[a:b] holds the elements from a to b - 1",
            )


def _malformed(call: TileCall) -> Iterator[str]:
    """What no call that the language builds has: for programs made by hand and passes."""
    pairs = (("operands", call.names, call.args), ("workspace", call.workspace_names, call.workspace))
    for what, names, values in (*pairs, ("keywords", call.config_names, call.config)):
        if len(names) != len(values) or len(set(names)) != len(names):
            yield f"{call_name(call)} has {len(values)} {what} for the names {', '.join(names) or '(none)'}"
            return
    known = [item.name for item in getattr(call.op, "operands", ())]
    if [name for name in known if name in call.names] != list(call.names):
        yield f"{call_name(call)} has the operands {', '.join(call.names)}, not those of its row in their order"
        return
    yield from _mistyped(call)
    for region in (node for node in _parts(call) if isinstance(node, BufferRegion)):
        rank = len(region.buffer.shape)
        if not len(region.starts) == len(region.extents) == rank:
            yield f"a region of `{region.buffer.name}` has {len(region.starts)} dimensions, not {rank}"
        elif any(not _is_index(item) for item in (*region.starts, *region.extents)):
            yield f"a bound of a region of `{region.buffer.name}` is not an integer"


def _mistyped(call: TileCall) -> Iterator[str]:
    """Numbers have the element type of what is written, or the type that the row says."""
    declared = {item.name: item.dtype for item in getattr(call.op, "operands", ())}
    written = next((item.buffer.dtype.element for item in writes(call)), None)
    for name, arg in zip(call.names, call.args, strict=True):
        if isinstance(arg, BufferRegion | IndexFunction):
            continue
        expected = DType(declared[name]) if declared.get(name) else written
        if expected is not None and arg.dtype is not expected:
            yield f"`{name}` of {call_name(call)} is {an(arg.dtype)}, where it takes {expected}"


def _is_index(item: Expr) -> bool:
    return item.dtype.is_integer and item.dtype.lanes == 1


def _parts(call: TileCall) -> Iterator[Node]:
    for child in call.children():
        yield from walk(child, mask_of(BufferRegion))
