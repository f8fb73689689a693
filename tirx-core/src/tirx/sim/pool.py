"""Names that the blocks of one translated function share: constants, sites, meanings, registers, views of memory."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..ir import Alloc, Buffer, BufferLoad, BufferStore, Call, DType, For, IntImm, Ramp, Seq, Var, walk
from ..ir.numpy_types import numpy_dtype
from ..support.late import load_object
from ..support.span import Span
from .facts import Facts, Root
from .numeric import cast_array

__all__ = ["MemoryView", "Pool", "Register", "Site", "memory_dtype", "storage_dtype"]


class Site:
    """One operation of the source: where it stands, what it touches. The key of findings and measurements.

    `origin` is the byte at which the storage of the buffer starts in its cta's memory. `apart`: the lanes of its vectors are
    elements that are accessed one by one, because they are no neighbours. `partial`: what is read is kept while the rest of
    its byte is replaced.
    """

    __slots__ = ("apart", "buffer", "dtype", "lanes", "name", "number", "origin", "partial", "shape", "span", "what")

    def __init__(
        self, number: int, span: Span | None, what: str, buffer: Buffer | None, dtype: DType, name: str = ""
    ) -> None:
        self.number = number
        self.span = span
        self.what = what
        self.buffer = buffer.name if buffer is not None else ""
        self.shape = buffer.shape if buffer is not None else ()
        self.dtype = dtype
        self.lanes = dtype.lanes
        self.name = name
        self.origin = 0
        self.apart = False
        self.partial = False


class Register:
    """Storage of a buffer that no pointer reaches: an array over threads, or one row per element."""

    __slots__ = ("awaited", "blocks", "buffer", "checked", "count", "dtype", "name")

    def __init__(self, name: str, buffer: Buffer, count: int, checked: bool, awaited: Any = None) -> None:
        self.name = name
        self.awaited = awaited  # the row of the operations that use it until they are waited for
        self.buffer = buffer
        self.count = count
        self.dtype = storage_dtype(buffer.dtype)
        self.checked = checked
        self.blocks: set[int] = set()

    @property
    def arrays(self) -> list[tuple[str, Any, Any]]:
        """Names, types and first values of what goes with the values.

        `i_`: whether they are initialised; of registers that operations use, `h_`: the group of the last operation that took (positive) or
        read (negative) each, and `d_`: how often its thread had fenced when the author's code last used it.
        """
        made: list[tuple[str, Any, Any]] = [(f"i_{self.name}", bool, False)] if self.checked else []
        if self.awaited is not None:
            made += [(f"h_{self.name}", np.int64, 0), (f"d_{self.name}", np.int64, -1)]
        return made

    @property
    def is_scalar(self) -> bool:
        """One value per thread."""
        return self.buffer.is_scalar


class MemoryView:
    """A typed view that generated code reads: of a parameter's array, of a memory of the cta, of local memory."""

    __slots__ = ("dtype", "kind", "name", "position", "space")

    def __init__(self, name: str, kind: str, dtype: Any, position: int, space: str) -> None:
        self.name = name
        self.kind = kind
        self.dtype = dtype
        self.position = position
        self.space = space


def storage_dtype(dtype: DType) -> Any:
    """NumPy type of one lane as the simulator holds it; pointers are signed integers."""
    return np.dtype(np.int64) if dtype.is_handle else numpy_dtype(dtype)


def memory_dtype(dtype: DType) -> tuple[Any, int]:
    """What one element is in the simulator's memory: a NumPy type, and how many of it. Pairs that share a byte are bytes."""
    if dtype.is_packed and dtype.lanes > 1:
        return np.dtype(np.uint8), dtype.lanes // 2
    return storage_dtype(dtype), dtype.lanes


class Pool:
    """See the module."""

    def __init__(self, facts: Facts, checks: frozenset[str]) -> None:
        self.facts = facts
        self.checks = checks
        self.space: dict[str, Any] = {"np": np}
        self.sites: list[Site] = []
        self.registers: dict[int, Register] = {}
        self.views: dict[tuple[Any, ...], MemoryView] = {}
        self.partial: set[int] = set()  # ids of loads whose elements are kept while their neighbours are replaced
        self._names: dict[int, str] = {}
        self._taken: set[str] = set()
        self._constants: dict[Any, str] = {}
        self._site_names: dict[Any, str] = {}
        self._outputs: dict[tuple[int, int], BufferStore] = {}

    def name(self, var: Var, prefix: str = "v_") -> str:
        """The Python name of an IR variable: its own where possible."""
        found = self._names.get(id(var))
        if found is None:
            base = prefix + re.sub(r"\W", "_", var.name)
            found, number = base, 1
            while found in self._taken:
                number += 1
                found = f"{base}_{number}"
            self._taken.add(found)
            self._names[id(var)] = found
        return found

    def constant(self, value: Any, key: Any) -> str:
        """A name for a Python object; equal keys share one."""
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = f"K{len(self._constants)}"
            self.space[found] = value
        return found

    def dtype(self, dtype: DType) -> str:
        """A name for a NumPy dtype."""
        name = f"t_{'handle' if dtype.is_handle else dtype.scalar_name}"
        self.space[name] = storage_dtype(dtype)
        return name

    def scalar(self, value: Any, dtype: DType) -> str:
        """A name for a NumPy scalar of a dtype."""
        given, held = np.asarray(value), storage_dtype(dtype)
        made = (cast_array(given, held) if np.isfinite(value) else given.astype(held))[()]
        return self.constant(made, (dtype.scalar_name, repr(value)))

    def meaning(self, location: str) -> str:
        """A name for the function at `module:function`."""
        found = self._constants.get(("meaning", location))
        if found is None:
            found = "f_" + re.sub(r"\W", "_", location.rpartition(":")[2])
            found += "" if found not in self.space else f"_{len(self._constants)}"
            self._constants["meaning", location] = found
            self.space[found] = load_object(location)
        return found

    def site(self, node: Any, what: str, buffer: Buffer | None, dtype: DType, span: Span | None, name: str = "") -> str:
        """A name for the site of a node; one for each node and operation."""
        key = (id(node), what)
        found = self._site_names.get(key)
        if found is None:
            made = Site(len(self.sites), span, what, buffer, dtype, name)
            root = self.facts.roots.get(id(buffer.data)) if buffer is not None else None
            made.apart, made.partial = is_apart(node), id(node) in self.partial
            made.origin = root.offset if root is not None and root.kind == "shared" else 0
            self.sites.append(made)
            found = self._site_names[key] = f"s{made.number}"
            self.space[found] = made
        return found

    def output(self, node: Call, position: int, place: BufferLoad) -> BufferStore:
        """The store of one of the values that a call answers; always the same one, as sites are found by it."""
        key = (id(node), position)
        found = self._outputs.get(key)
        if found is None:
            value = Var("value", place.dtype)
            found = self._outputs[key] = BufferStore(
                place.buffer, value, place.indices, place.source, place.coords, span=place.span or node.span
            )
        return found

    def register(self, root: Root, data: Var, block: int) -> Register:
        """The register of a buffer, marked as used in `block`."""
        found = self.registers.get(id(data))
        if found is None:
            assert root.buffer is not None
            checked = "uninitialised" in self.checks and not assigned_first(self.facts, root.buffer)
            total = 1
            for extent in root.buffer.shape:
                total *= extent if isinstance(extent, int) else 1
            awaited = self.facts.later.get(id(data)) if "races" in self.checks else None
            found = Register(self.name(data, "r_"), root.buffer, total, checked, awaited)
            self.registers[id(data)] = found
        found.blocks.add(block)
        return found

    def view(self, root: Root, dtype: DType) -> MemoryView:
        """The view of a root's memory as elements of `dtype`."""
        held, _ = memory_dtype(dtype)
        position = root.offset if root.kind == "param" else 0
        key = (root.kind, position, root.space, held.name)
        found = self.views.get(key)
        if found is None:
            label = self.facts.func.params[position].name if root.kind == "param" else root.space or root.kind
            name = "m_" + re.sub(r"\W", "_", f"{label}_{held.name}")
            name += "" if name not in {view.name for view in self.views.values()} else f"_{len(self.views)}"
            found = self.views[key] = MemoryView(name, root.kind, held, position, root.space)
        return found


def is_apart(node: Any) -> bool:
    """Whether an access names each of its elements, not the first of a run of neighbours."""
    if not isinstance(node, BufferLoad | BufferStore):
        return False
    index = node.indices[-1]
    unit = isinstance(index, Ramp) and isinstance(index.stride, IntImm) and index.stride.value == 1
    return index.dtype.lanes > 1 and not unit


def assigned_first(facts: Facts, buffer: Buffer) -> bool:
    """Whether the statement after an allocation that first mentions the buffer stores to all of it."""

    def mentions(node: Any) -> bool:
        return any(getattr(item, "buffer", None) is buffer for item in walk(node))

    for node in facts.keep_alive:
        if not isinstance(node, Seq):
            continue
        at = next((i for i, s in enumerate(node.stmts) if isinstance(s, Alloc) and s.buffer is buffer), None)
        if at is None:
            continue
        first = next((s for s in node.stmts[at + 1 :] if mentions(s)), None)
        if isinstance(first, For) and isinstance(first.extent, IntImm) and isinstance(first.body, BufferStore):
            covers = buffer.shape == (first.extent.value,) and first.body.indices[0] is first.var
            covers = covers and isinstance(first.start, IntImm) and first.start.value == 0
            return covers and not mentions(first.body.value)
        if not isinstance(first, BufferStore) or first.buffer is not buffer or not buffer.is_scalar:
            return False
        return not any(isinstance(item, BufferLoad) and item.buffer is buffer for item in walk(first.value))
    return False
