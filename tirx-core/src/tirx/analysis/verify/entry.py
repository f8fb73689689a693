"""Where the kernel starts, and what may stand before it: at most one entry, ids and memory accesses only inside."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Alloc, BufferLoad, BufferStore, Call, For, GlobalVar, Launch, PrimFunc, ScopeIdDef, mask_of, walk
from ...support.errors import Diagnostic
from .facts import Facts, line_of

__all__ = ["check"]

_START = "write Tx.device_entry() before it: what follows is the kernel"


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    yield from _entries(facts)
    yield from _ids(facts)
    yield from _host_scalars(facts)
    if facts.kernels or not _is_helper(facts):
        found = list(_memory(facts))
        yield from found or _nothing(facts)


def _entries(facts: Facts) -> Iterator[Diagnostic]:
    first = facts.kernels[0].entry if facts.kernels else None
    others = [kernel.entry for kernel in facts.kernels[1:]]
    others += [inner for kernel in facts.kernels for inner in kernel.inner_entries]
    for entry in others:
        yield Diagnostic(
            f"device_entry() stands twice in `{facts.func.name}`, first{line_of(first.span if first else None)}",
            entry.span,
            hint="one function holds one kernel; put the second into a function of its own",
        )


def _host_scalars(facts: Facts) -> Iterator[Diagnostic]:
    """A kernel sees the value that a scalar of the host has at the launch, and cannot change it."""
    outside = {id(node.buffer.data) for node in facts.host.get(Alloc, ()) if isinstance(node, Alloc)}
    for kernel in facts.kernels:
        for store in kernel.all(BufferStore):
            if id(store.buffer.data) in outside and store.buffer.is_scalar:
                yield Diagnostic(
                    f"`{store.buffer.name}` is a variable of the host, and is assigned in the kernel",
                    store.span,
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
    launches = facts.kernels or facts.host.get(Launch)
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
    for node in facts.host.get(Alloc, ()):
        assert isinstance(node, Alloc)
        buffer = node.buffer
        if buffer.scope_name != "global" and not buffer.is_scalar:
            yield Diagnostic(
                f"`{buffer.name}` in {buffer.scope_name} memory is allocated outside of a kernel",
                node.span,
                hint=_START,
            )
