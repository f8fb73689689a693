"""Storage: known memories, constant sizes where the compiler makes room, one dynamic allocation, capacities."""

from __future__ import annotations

from collections.abc import Iterator

from ...backend import find, hint_for, names
from ...ir import Alloc, Buffer, BufferLoad, BufferStore, Call, Decl, IntImm, PointerType, Var
from ...ir.sizes import product
from ...support.errors import Diagnostic
from ...support.span import Span
from ...support.suggest import did_you_mean
from ...target import StorageScope
from ..storage_size import is_linear, storage_elements
from .facts import Facts, Kernel, line_of

__all__ = ["check"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    for param in facts.func.buffers():
        yield from _scope(facts, param, param.span or facts.func.span)
    for node in facts.all(Alloc, Decl):
        if isinstance(node, Alloc | Decl):
            yield from _scope(facts, node.buffer, node.span)
    for kernel in facts.kernels:
        yield from _unreached(kernel)
        allocs = list(kernel.all(Alloc))
        for node in allocs:
            yield from _allocation(node)
        yield from _dynamic(allocs)
        yield from _capacity(facts, kernel, allocs)


def _row(buffer: Buffer) -> StorageScope | None:
    row: StorageScope | None = find("storage_scopes", buffer.scope_name)
    return row


def _scope(facts: Facts, buffer: Buffer, at: Span | None) -> Iterator[Diagnostic]:
    row = _row(buffer)
    if row is None:
        known = sorted(names("storage_scopes"))
        hint = hint_for("storage_scopes", buffer.scope_name) or did_you_mean(buffer.scope_name, known)
        yield Diagnostic(
            f"`{buffer.name}` is in memory `{buffer.scope_name}`, which does not exist",
            at,
            hint=hint or f"there are {', '.join(known)}",
        )
        return
    if row.dtypes and buffer.dtype.scalar_name not in row.dtypes:
        yield Diagnostic(
            f"`{buffer.name}`: {row.name} memory does not hold {buffer.dtype}",
            at,
            hint=f"it holds {', '.join(row.dtypes)}",
        )
    if facts.target is None or facts.model is None:
        return
    allowed = facts.target.capabilities.scopes
    here = row.name in allowed if allowed else (row.owner_level in facts.model if facts.model else not row.owner_level)
    if not here:
        yield Diagnostic(f"`{buffer.name}` is in {row.name} memory, which target `{facts.target}` does not have", at)


def _allocation(node: Alloc) -> Iterator[Diagnostic]:
    buffer, row = node.buffer, _row(node.buffer)
    if row is None:
        return
    if row.allocator == "caller":
        yield Diagnostic(
            f"`{buffer.name}` is allocated in {row.name} memory, inside a kernel",
            node.span,
            hint='threads have scope="local", ctas scope="shared"; memory of the device comes in as a parameter',
        )
    if row.allocator == "compiler" and not all(isinstance(size, int) for size in buffer.shape):
        yield Diagnostic(
            f"the size of `{buffer.name}` in {row.name} memory is not a constant",
            node.span,
            hint="allocate the largest size that can occur, or use a Tx.constexpr parameter",
        )
    if any(isinstance(size, int) and size < 0 for size in buffer.shape):
        yield Diagnostic(f"`{buffer.name}` has a negative size", node.span)
    if row.allocator == "compiler" and any(isinstance(size, int) and size == 0 for size in buffer.shape):
        yield Diagnostic(f"`{buffer.name}` in {row.name} memory has no elements", node.span)


def _unreached(kernel: Kernel) -> Iterator[Diagnostic]:
    """Elements of memories that only instructions reach, and pointers to them."""
    used: set[int] = set()
    for node in kernel.all(BufferLoad, BufferStore):
        if isinstance(node, BufferLoad | BufferStore) and (row := _row(node.buffer)) is not None and row.reached:
            used.add(id(node.buffer.data))
            what = "stored to" if isinstance(node, BufferStore) else "read, or its address taken,"
            yield Diagnostic(
                f"an element of `{node.buffer.name}` is {what} in {row.name} memory", node.span, row.reached
            )
    for node in kernel.all(Call):
        for arg in node.children():
            if isinstance(arg, Var) and isinstance(arg.dtype, PointerType) and id(arg) not in used:
                row = find("storage_scopes", arg.dtype.scope)
                if row is not None and row.reached:
                    yield Diagnostic(f"a pointer to `{arg.name}` in {row.name} memory is taken", node.span, row.reached)


def _dynamic(allocs: list[Alloc]) -> Iterator[Diagnostic]:
    """Memory that the launch sizes is one piece."""
    first: dict[str, Alloc] = {}
    for node in allocs:
        row = _row(node.buffer)
        if row is None or row.allocator != "launch":
            continue
        other = first.setdefault(row.name, node)
        if other is not node:
            yield Diagnostic(
                f"`{node.buffer.name}` is a second allocation in {row.name} memory; the first is "
                f"`{other.buffer.name}`{line_of(other.span)}",
                node.span,
                hint=f"declare both over one allocation: Tx.decl_buffer(shape, dtype, data={other.buffer.name}.data, "
                f'elem_offset=..., scope="{row.name}"), or use a pool',
            )


def _capacity(facts: Facts, kernel: Kernel, allocs: list[Alloc]) -> Iterator[Diagnostic]:
    """What is allocated for good fits; memories with one owner and one capacity count together."""
    if facts.target is None:
        return
    used: dict[str, list[tuple[int, Alloc]]] = {}
    for node in allocs:
        row = _row(node.buffer)
        if row is None or row.capacity is None or row.unit != "bytes" or row.reached:
            continue
        used.setdefault(row.owner_level, []).append((_bytes(node, kernel, row.allocator), node))
    for level, parts in used.items():
        row = _row(parts[0][1].buffer)
        capacity = row.capacity(facts.target) if row is not None and row.capacity is not None else None
        total = sum(size for size, _ in parts)
        if row is not None and capacity is not None and total > capacity:
            largest = max(parts, key=lambda part: part[0])[1]
            yield Diagnostic(
                f"{total} bytes of {row.name} memory{f' in a {level}' if level else ''}: target `{facts.target}` has {capacity}",
                largest.span,
                notes=[f"`{node.buffer.name}`: {size} bytes{line_of(node.span)}" for size, node in parts],
            )


def _elements(buffer: Buffer) -> int:
    """How many elements of storage of constant size there are; 0 for others."""
    if not all(isinstance(size, int) for size in buffer.shape):
        return 0
    count = storage_elements(buffer) if is_linear(buffer) else product(buffer.shape)
    return count if isinstance(count, int) else 0


def _bytes(node: Alloc, kernel: Kernel, allocator: str) -> int:
    """Bytes that are certain: constant shapes, and the constant size that a launch is told."""
    if allocator == "launch":
        sizes = [attr.value for attr in kernel.attributes("tirx.dyn_smem_bytes")]
        if sizes and isinstance(sizes[0], IntImm):
            return sizes[0].value
    return (_elements(node.buffer) * node.buffer.dtype.total_bits + 7) // 8
