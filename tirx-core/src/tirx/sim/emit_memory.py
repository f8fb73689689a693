"""Loads, stores and pointers as NumPy text.

Typed accesses index a flat view: element = base of the thread's instance + offset of the buffer + index. Sums are regrouped
so that what does not change in a loop is added before it. Checked accesses go through the checker, with the logical indices
that could not be proven to lie inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..intrinsic import Intrinsic
from ..ir import Add, Buffer, BufferLoad, BufferStore, DType, Expr, IntImm, Ramp, Var, as_expr
from .emit_base import Val
from .emit_expr import ExprEmitter
from .facts import Root
from .memory import LOCAL_BASE
from .pool import Register, memory_dtype

__all__ = ["MemoryEmitter"]

MEMORY_CHECKS = frozenset({"bounds", "uninitialised", "races", "alignment", "metrics"})


class MemoryEmitter(ExprEmitter):
    """Emits accesses of buffers. `operation` is the row of the asynchronous operation whose operands are emitted."""

    operation: Intrinsic | None = None

    @property
    def checked(self) -> bool:
        """Whether accesses of memory go through the checker."""
        return bool(self.checks & MEMORY_CHECKS)

    def root(self, buffer: Buffer) -> Root:
        """Where a buffer lives; pointers that no declaration explains are addresses."""
        found = self.facts.roots.get(id(buffer.data))
        return found if found is not None else Root("pointer", buffer)

    # ---- loads ------------------------------------------------------------------------------------------------------

    def _load(self, node: BufferLoad) -> Val:
        root = self.root(node.buffer)
        if root.kind == "register":
            return self._read_register(node, root)
        if root.kind == "pointer":
            return self._load_pointer(node)
        view, index = self.view(root, node.buffer), self.element(root, node.buffer, node.indices[-1])
        if self.checked:
            site = self.site(node, "load", node.source or node.buffer, node.dtype)
            text = f"ck.load({site}, {view}, {index.text}, {self.level.p}, {self.coords(node)})"
            return Val(self.temp(self._unpaired(text, node.dtype)), False, fresh=True)
        text = self._unpaired(f"{view}[{index.text}]", node.dtype)
        if index.same:
            text = f"spread({text}, {self.count()}, {self.pool.dtype(node.dtype)}, {node.dtype.lanes})"
        return Val(text, False, fresh=True)

    def _unpaired(self, text: str, dtype: DType) -> str:
        """Elements that share bytes, one by one."""
        return f"unpaired({text}, {self.pool.dtype(dtype)})" if dtype.is_packed and dtype.lanes > 1 else text

    def _load_pointer(self, node: BufferLoad) -> Val:
        address = self.address(node.buffer, node.indices[-1])
        site = self.site(node, "load", node.source or node.buffer, node.dtype)
        dtype = self.pool.constant(node.dtype, ("dtype", node.dtype.name))
        return Val(self.temp(f"cx.at({site}, {self.level.p}).load({address}, {dtype})"), False, fresh=True)

    def view(self, root: Root, buffer: Buffer) -> str:
        """The name of the typed view behind a root."""
        return self.fetch(self.pool.view(root, buffer.dtype).name)

    # ---- stores -----------------------------------------------------------------------------------------------------

    def store(self, node: BufferStore) -> None:
        """Emit a store."""
        root = self.root(node.buffer)
        self.put(node, root, self.typed(node.value) if root.kind != "register" else self.expr(node.value))

    def put(self, node: BufferStore, root: Root, value: Val) -> None:
        """Emit the store of a value that is there already."""
        if root.kind == "register":
            self._write_register(node, root, value)
        elif root.kind == "pointer":
            self._store_pointer(node, value)
        else:
            self._store_memory(node, root, value)

    def _store_memory(self, node: BufferStore, root: Root, value: Val) -> None:
        if node.value.dtype.is_packed and node.value.dtype.lanes > 1:
            value = Val(f"paired({value.text})", value.same, fresh=True)
        held = value.text if value.same else self.temp(value.text) if self.checked else value.text
        view, index = self.view(root, node.buffer), self.element(root, node.buffer, node.indices[-1])
        if self.checked:
            site = self.site(node, "store", node.source or node.buffer, node.value.dtype)
            self.line(f"ck.store({site}, {view}, {index.text}, {held}, {self.level.p}, {self.coords(node)})")
        elif index.same and not value.same:
            self.line(f"{view}[{index.text}] = {held}[-1]")
        else:
            self.line(f"{view}[{index.text}] = {held}")
        self.line_changed()

    def line_changed(self) -> None:
        """In blocks of loops that may spin: something was written."""

    def _store_pointer(self, node: BufferStore, value: Val) -> None:
        held = value.text if value.same else self.temp(value.text)
        address = self.address(node.buffer, node.indices[-1])
        site = self.site(node, "store", node.source or node.buffer, node.value.dtype)
        dtype = self.pool.constant(node.value.dtype, ("dtype", node.value.dtype.name))
        self.line(f"cx.at({site}, {self.level.p}).store({address}, {dtype}, {held})")

    # ---- indices ----------------------------------------------------------------------------------------------------

    def coords(self, node: BufferLoad | BufferStore) -> str:
        """Logical indices that are not proven to lie inside, as `((value, extent, dimension), ...)`."""
        if "bounds" not in self.checks:
            return "()"
        source, indices = (
            (node.source, node.coords) if node.source is not None and node.coords else (node.buffer, node.indices)
        )
        parts = []
        for axis, (index, extent) in enumerate(zip(indices, source.shape, strict=True)):
            if not self._inside(index, extent):
                limit = extent if isinstance(extent, int) else self.expr(extent).text
                value = self.expr(index)
                parts.append(f"({value.text if value.same else self.temp(value.text)}, {limit}, {axis}),")
        parts += self._reach(node)
        return f"({' '.join(parts)})" if parts else "()"

    def _reach(self, node: BufferLoad | BufferStore) -> list[str]:
        """The same for the element of the memory, where another name for it is declared larger than it is."""
        memory, index = node.buffer, node.indices[-1]
        if node.source is None or node.source.name == memory.name or len(memory.shape) != 1:
            return []
        whole = memory.shape[0]
        if (isinstance(whole, int) and not whole) or self._inside(index, whole):  # the launch sizes empty ones
            return []
        value, limit = self.expr(index), whole if isinstance(whole, int) else self.expr(whole).text
        return [f"({value.text if value.same else self.temp(value.text)}, {limit}, {memory.name!r}),"]

    def _inside(self, index: Expr, extent: int | Expr) -> bool:
        if (
            isinstance(index, Ramp)
            and isinstance(index.stride, IntImm)
            and index.stride.value >= 0
            and isinstance(extent, int)
        ):
            reach = index.stride.value * (index.lanes - 1)
            return self.facts.inside(index.base, extent - reach) if extent > reach else False
        return self.facts.inside(index, extent)

    def element(self, root: Root, buffer: Buffer, index: Expr) -> Val:
        """Position in the typed flat view, `(n,)` or `(n, lanes)`."""
        base = self._instance(root, buffer)
        _, width = memory_dtype(buffer.dtype)
        if isinstance(index, Ramp) and width == 1:
            first = self._sum(base, root, buffer, index.base, 1)
            step = self.expr(index.stride)
            if step.same:
                lanes = self.pool.constant(_arange(index.lanes), ("arange", index.lanes))
                offsets = lanes if step.text == "1" else f"{lanes} * {step.text}"
                return Val(
                    f"(({first.text}) + {offsets})" if first.same else f"(({first.text})[:, None] + {offsets})",
                    first.same,
                )
        if index.dtype.lanes > 1:
            position = self.array(index)
            extra = self._offset(root, buffer) or 0
            text = f"({position} + {extra})" if not base else f"({position} + ({base}[:, None] + {extra}))"
            return Val(text, False)
        found = self._sum(base, root, buffer, index, width)
        if width > 1:
            lanes = self.pool.constant(_arange(width), ("arange", width))
            return Val(
                f"(({found.text}) + {lanes})" if found.same else f"(({found.text})[:, None] + {lanes})", found.same
            )
        return found

    def _instance(self, root: Root, buffer: Buffer) -> str:
        """Per thread, where its instance of the memory starts in the typed view; nothing for parameters."""
        size = self.pool.view(root, buffer.dtype).dtype.itemsize
        if root.kind == "shared":
            return self.fetch(f"b_{root.space.replace('.', '_')}_{size}", per_thread=True)
        return self.fetch(f"b_local_{size}", per_thread=True) if root.kind == "local" else ""

    def _offset(self, root: Root, buffer: Buffer) -> int:
        size = self.pool.view(root, buffer.dtype).dtype.itemsize
        return root.offset // size if root.kind in ("shared", "local") else 0

    def _sum(self, base: str, root: Root, buffer: Buffer, index: Expr, scale: int) -> Val:
        """Base + offset + index * scale, with the parts that are known outside a loop added there."""
        offset = self._offset(root, buffer)
        terms = self._terms(index) if scale == 1 else [index]
        if not isinstance(buffer.elem_offset, int) or buffer.elem_offset:
            terms.append(as_expr(buffer.elem_offset))
        depths: dict[int, list[Expr]] = {}
        same = [str(offset)] if offset else []
        for term in terms:
            if self.facts.differs(term):
                depths.setdefault(self.depth_of(term), []).append(term)
            else:
                same.append(self.expr(term).text)
        total, key = base, (base, offset, scale)
        for depth in sorted(depths):
            parts = depths[depth]
            key = (*key, *(self.key(part) for part in parts))
            if depth < self.scope.depth:
                previous = total
                total = self.hoisted(key, depth, lambda p=previous, t=parts: self._added(p, t, scale))  # type: ignore[misc]
            else:
                total = self._added(total, parts, scale)
        if not same:
            return Val(total or "0", not total)
        constant = (
            " + ".join(same)
            if scale == 1
            else f"({' + '.join(same)}) * {scale}"
            if not offset
            else _scaled(same, scale)
        )
        return Val(f"{total} + {constant}" if total else constant, not total)

    def _added(self, total: str, parts: list[Expr], scale: int) -> str:
        texts = [self.expr(part).text for part in parts]
        if scale != 1:
            texts = [f"{text} * {scale}" for text in texts]
        return " + ".join(([total] if total else []) + texts)

    def _terms(self, index: Expr) -> list[Expr]:
        """Summands of an index, as long as no sum can wrap."""
        if isinstance(index, Add) and self.facts.fits(index):
            return self._terms(index.a) + self._terms(index.b)
        return [index]

    # ---- registers --------------------------------------------------------------------------------------------------

    def register(self, buffer: Buffer, root: Root) -> Register:
        """The register behind a buffer, with its names fetched."""
        return self.pool.register(root, buffer.data, self.block)

    def _place(self, register: Register, index: Expr, node: Any) -> str:
        """Text between the brackets of a register access in the current level."""
        p = "" if self.level.parent is None else self.level.p
        if register.is_scalar:
            return p or "..."
        position, span = index, 1
        if isinstance(index, Ramp):
            position, span = index.base, index.lanes
        value = self.expr(position)
        if "bounds" in self.checks and not self.facts.inside(position, register.count - span + 1):
            held = value.text if value.same else self.temp(value.text)
            site = self.site(node, "register", register.buffer, register.buffer.dtype)
            value = Val(
                self.temp(f"ck.register_index({site}, {held}, {register.count}, {span}, {self.level.p})"), value.same
            )
        if span > 1:
            rows = (
                f"{value.text}:{value.text} + {span}" if value.same else f"({value.text})[:, None] + np.arange({span})"
            )
            threads = (f", {p}" if p else "") if value.same else f", positions({self.level.p}, n)[:, None]"
            return rows + threads
        if value.same:
            return f"{value.text}, {p}" if p else value.text
        return f"{value.text}, positions({self.level.p}, n)"

    def _read_register(self, node: BufferLoad, root: Root) -> Val:
        register = self.register(node.buffer, root)
        index = node.indices[-1]
        place = self._place(register, index, node)
        if register.checked:
            site = self.site(node, "load", node.source or node.buffer, node.dtype)
            self.line(f"ck.initialised({site}, i_{register.name}[{place}], {self.level.p})")
        self._awaited(register, place, node, "r")
        turned = ".T" if isinstance(index, Ramp) and self.facts.differs(index.base) is False else ""
        whole = register.is_scalar and self.level.parent is None
        return Val(register.name if whole else f"{register.name}[{place}]{turned}", False, alias=True)

    def _write_register(self, node: BufferStore, root: Root, value: Val) -> None:
        register = self.register(node.buffer, root)
        index = node.indices[-1]
        if register.is_scalar and self.level.parent is None:
            self._rebind(register, node, value)
            return
        held = self.temp(value.text) if not value.same and not register.is_scalar else value.text
        place = self._place(register, index, node)
        self._awaited(register, place, node, "w")
        turned = f"turned({held})" if isinstance(index, Ramp) and self.facts.differs(index.base) is False else held
        self.line(f"{register.name}[{place}] = {turned}")
        if register.checked:
            self.line(f"i_{register.name}[{place}] = True")

    def _rebind(self, register: Register, node: BufferStore, value: Val) -> None:
        if value.same:
            text = f"spread({value.text}, n, {self.pool.dtype(node.value.dtype)})"
        else:
            text = value.text if value.fresh else f"{value.text}.copy()"
        self._awaited(register, "...", node, "w")
        self.line(f"{register.name} = {text}")
        if register.checked:
            self.line(f"i_{register.name}[...] = True")

    def _awaited(self, register: Register, place: str, node: Any, kind: str) -> None:
        """A use of a register that asynchronous operations use too: an ordinary one, or (`operation`) by one of them."""
        if register.awaited is None:
            return
        effect, p = register.awaited.effect, self.level.p
        site = self.site(node, "register use", node.source or node.buffer, node.buffer.dtype)
        if self.operation is None:
            self.line(f"ck.settled({site}, h_{register.name}[{place}], {p}, {effect.later!r}, {kind!r})")
            if effect.fenced:
                self.line(f"d_{register.name}[{place}] = cx.at({site}, {p}).fenced_in({effect.fenced!r})")
            return
        if effect.fenced:
            self.line(f"ck.handed({site}, d_{register.name}[{place}], {p}, {effect.fenced!r})")
        sign = "" if kind == "w" else "-"
        self.line(f"h_{register.name}[{place}] = {sign}cx.at({site}, {p}).group_in({effect.later!r})")

    # ---- addresses --------------------------------------------------------------------------------------------------

    def pointer(self, data: Var) -> str:
        """The address that a pointer variable holds."""
        root = self.facts.roots.get(id(data))
        if root is None or root.kind == "pointer":
            return self.variable(data).text
        if root.kind == "param":
            return self.fetch(self.pool.name(data))
        if root.kind == "local":
            return str(LOCAL_BASE + root.offset)
        base = self.fetch(f"a_{root.space.replace('.', '_')}", per_thread=True)
        return f"({base} + {root.offset})" if root.offset else base

    def address(self, buffer: Buffer, index: Expr) -> str:
        """Text of the address of an element (of its first lane)."""
        position = index.base if isinstance(index, Ramp) else index
        value = self.expr(position)
        if not isinstance(buffer.elem_offset, int) or buffer.elem_offset:
            value = Val(f"({value.text} + {self.expr(as_expr(buffer.elem_offset)).text})", value.same)
        wide = value.text if value.same else f"({value.text}).astype(np.int64)"
        kind, count = memory_dtype(buffer.dtype)
        size = kind.itemsize * count
        base = self.pointer(buffer.data)
        return base if wide == "0" else f"({base} + {wide} * {size})"


def _scaled(same: list[str], scale: int) -> str:
    return " + ".join([same[0], *(f"({text}) * {scale}" for text in same[1:])])


def _arange(lanes: int) -> Any:
    return np.arange(lanes, dtype=np.int64)[None, :]
