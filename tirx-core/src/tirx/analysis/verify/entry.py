"""Where the kernel starts, and what may stand before it: at most one entry, ids and memory accesses only inside."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import (
    Alloc,
    Attr,
    BufferLoad,
    BufferStore,
    Call,
    For,
    GlobalVar,
    Launch,
    PrimFunc,
    ScopeIdDef,
    TileCall,
    mask_of,
    walk,
)
from ...ir.tiles import call_name, writes
from ...support.errors import Diagnostic
from ...support.span import Span
from .facts import ENTRY, Facts, line_of

__all__ = ["check"]

_ONE_KERNEL = "one function launches one kernel: write the second as another function of the module (@I.ir_module)"
_START = "write Tx.device_entry() before it: what follows is the kernel"


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    yield from _entries(facts)
    yield from _launches(facts)
    yield from _ids(facts)
    yield from _host_scalars(facts)
    if facts.kernels or not _is_helper(facts):
        found = list(_memory(facts))
        yield from found or _nothing(facts)


def _entries(facts: Facts) -> Iterator[Diagnostic]:
    first = facts.kernels[0].entry if facts.kernels else None
    others = [kernel.entry for kernel in facts.kernels[1:]]
    others += [inner for kernel in facts.kernels for inner in kernel.inner_entries]
    before = line_of(first.span if first else None)
    for entry in others:
        loop = entry.body
        if isinstance(loop, For) and loop.kind == "thread_binding" and loop.span is entry.span:  # of mark_kernels
            message = f"the loop over `{loop.thread}` starts a second kernel in `{facts.func.name}`, after that{before}"
        else:
            message = f"device_entry() stands twice in `{facts.func.name}`, first{before}"
        yield Diagnostic(message, entry.span, hint=_ONE_KERNEL)


def _launching_calls(facts: Facts) -> list[Call]:
    """Calls of functions that are kernels themselves."""
    kernels = {func.name for func in facts.module if _has_kernel(func)}
    return [call for call in facts.all(Call) if isinstance(call.op, GlobalVar) and call.op.name in kernels]


def _has_kernel(func: PrimFunc) -> bool:
    return any(isinstance(node, Attr) and node.key == ENTRY for node in walk(func.body, mask_of(Attr)))


def _launches(facts: Facts) -> Iterator[Diagnostic]:
    for call in _launching_calls(facts):
        name = getattr(call.op, "name", "")
        yield Diagnostic(
            f"`{facts.func.name}` calls `{name}`, which is a kernel of its own: one function launches one kernel",
            call.span,
            hint=f'compile the module of the kernels, without `{facts.func.name}`, and call each from Python: executable["{name}"](...)',
        )


def _host_scalars(facts: Facts) -> Iterator[Diagnostic]:
    """A kernel sees the value that a scalar of the host has at the launch, and cannot change it."""
    outside = {id(node.buffer.data) for node in facts.host.get(Alloc, ()) if isinstance(node, Alloc)}
    for kernel in facts.kernels:
        for store in kernel.all(BufferStore):
            if id(store.buffer.data) in outside and store.buffer.is_scalar:
                yield _assigned(store.buffer.name, store.span)
        for call in kernel.all(TileCall):
            for region in writes(call):
                if id(region.buffer.data) in outside and region.buffer.is_scalar:
                    yield _assigned(region.buffer.name, call.span)


def _assigned(name: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        f"`{name}` is a variable of the host, and is assigned in the kernel",
        span,
        hint="give the kernel a variable of its own, after device_entry()",
    )


def _is_helper(facts: Facts) -> bool:
    """Whether the function is no entry: private, or called by another function of the module."""
    if "global_symbol" not in facts.func.attrs or facts.func.attrs.get("role") == "device":
        return True
    name = facts.func.name
    return any(_calls(other, name) for other in facts.module if other is not facts.func)


def _calls(func: PrimFunc, name: str) -> bool:
    calls = (node.op for node in walk(func.body, mask_of(Call)) if isinstance(node, Call))
    return any(isinstance(op, GlobalVar) and op.name == name for op in calls)


def _nothing(facts: Facts) -> Iterator[Diagnostic]:
    """A function that nobody calls and that launches nothing."""
    launches = facts.kernels or facts.host.get(Launch) or _launching_calls(facts)
    if not launches and not _is_helper(facts) and facts.target is not None:
        yield Diagnostic(
            f"`{facts.func.name}` has no kernel part: nothing in it runs on the device", facts.func.span, hint=_START
        )


def _ids(facts: Facts) -> Iterator[Diagnostic]:
    for node in facts.host.get(ScopeIdDef, ()):
        assert isinstance(node, ScopeIdDef)
        names = ", ".join(f"`{var.name}`" for var in node.vars)
        yield Diagnostic(f"{names} counts threads, outside of a kernel", node.span, hint=_START)
    for node in facts.host.get(For, ()):
        if isinstance(node, For) and node.kind == "thread_binding":
            yield Diagnostic(f"the loop over `{node.thread}` is outside of a kernel", node.span, hint=_START)


def _memory(facts: Facts) -> Iterator[Diagnostic]:
    """Elements of buffers are in the device's memory: the host cannot touch them."""
    seen: set[str] = set()
    for node in (*facts.host.get(BufferStore, ()), *facts.host.get(BufferLoad, ())):
        assert isinstance(node, BufferLoad | BufferStore)
        if node.buffer.is_scalar or node.buffer.name in seen:
            continue
        seen.add(node.buffer.name)
        verb = "written" if isinstance(node, BufferStore) else "read"
        yield Diagnostic(f"`{node.buffer.name}` is {verb} outside of a kernel", node.span, hint=_START)
    for call in facts.host.get(TileCall, ()):
        assert isinstance(call, TileCall)
        yield Diagnostic(f"{call_name(call)} is called outside of a kernel", call.span, hint=_START)
    for node in facts.host.get(Alloc, ()):
        assert isinstance(node, Alloc)
        buffer = node.buffer
        if buffer.scope_name != "global" and not buffer.is_scalar:
            yield Diagnostic(
                f"`{buffer.name}` in {buffer.scope_name} memory is allocated outside of a kernel",
                node.span,
                hint=_START,
            )
