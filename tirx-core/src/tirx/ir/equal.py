"""Structural equality and hashing: the same program up to the names of bound variables; spans and provenance ignored."""

from __future__ import annotations

from .buffer import Buffer
from .expr import Call, FloatImm, Op, Var
from .function import IRModule, PrimFunc
from .layout import Layout
from .node import Node
from .stmt import Alloc, Decl

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["structural_equal", "structural_hash"]


def structural_equal(a: Any, b: Any, *, map_free: bool = False) -> bool:
    """Whether two expressions, statements, functions or modules are the same program.

    Variables and buffers that are met for the first time are matched with each other, one to one. Inside a lone
    expression or statement, variables that nothing defines are free: they must be the same object, unless `map_free`.
    """
    whole = isinstance(a, PrimFunc | IRModule)
    return _Comparison(bijective=whole or map_free).equal(a, b)


class _Comparison:
    """An explicit stack of pairs still to compare, and the one-to-one map of variables and buffers met so far."""

    def __init__(self, bijective: bool) -> None:
        self.bijective = bijective
        self.forward: dict[int, Any] = {}
        self.backward: dict[int, Any] = {}
        self.stack: list[tuple[Any, Any]] = []

    def equal(self, a: Any, b: Any) -> bool:
        self.stack.append((a, b))
        while self.stack:
            left, right = self.stack.pop()
            if not self._step(left, right):
                return False
        return True

    def _step(self, a: Any, b: Any) -> bool:
        if type(a) is not type(b):
            return False
        if isinstance(a, Var):
            return self._match(a, b, lambda: bool(a.dtype is b.dtype))
        if isinstance(a, Buffer):
            return self._match(a, b, lambda: self._buffers(a, b))
        if isinstance(a, Node):
            return self._nodes(a, b)
        if isinstance(a, tuple | list):
            return len(a) == len(b) and self._push(zip(a, b, strict=True))
        if isinstance(a, dict):
            return a.keys() == b.keys() and self._push((a[key], b[key]) for key in a)
        if isinstance(a, PrimFunc):
            return self._functions(a, b)
        if isinstance(a, IRModule):
            return self._modules(a, b)
        if isinstance(a, Op):
            return bool(a.name == b.name)
        return bool(a == b)

    def _push(self, pairs: Any) -> bool:
        self.stack.extend(reversed(list(pairs)))
        return True

    def _match(self, a: Any, b: Any, alike: Any) -> bool:
        if id(a) in self.forward or id(b) in self.backward:
            return self.forward.get(id(a)) is b and self.backward.get(id(b)) is a
        if not self.bijective and a is not b:
            return False
        self.forward[id(a)], self.backward[id(b)] = b, a
        return bool(alike())

    def _nodes(self, a: Node, b: Node) -> bool:
        if isinstance(a, FloatImm):
            return a.dtype is b.dtype and repr(a.value) == repr(b.value)  # type: ignore[attr-defined]
        if isinstance(a, Call) and a.op.name != b.op.name:  # type: ignore[attr-defined]
            return False
        if isinstance(a, Alloc | Decl) and not self._define_buffer(a.buffer, b.buffer):  # type: ignore[attr-defined]
            return False
        defined = _DEFINED.get(type(a).__name__, ())
        for name in defined:
            if not self._define(getattr(a, name), getattr(b, name)):
                return False
        names = [field.name for field in a.FIELDS if field.compared]
        return self._push((getattr(a, name), getattr(b, name)) for name in names)

    def _define(self, a: Any, b: Any) -> bool:
        pairs = list(zip(a, b, strict=True)) if isinstance(a, tuple) and len(a) == len(b) else [(a, b)]
        for left, right in pairs:
            if not (isinstance(left, Var) and isinstance(right, Var)):
                return False
            if id(left) not in self.forward and id(right) not in self.backward:
                self.forward[id(left)], self.backward[id(right)] = right, left
                if left.dtype is not right.dtype:
                    return False
        return True

    def _define_buffer(self, a: Buffer, b: Buffer) -> bool:
        if id(a) in self.forward or id(b) in self.backward:
            return True
        self.forward[id(a)], self.backward[id(b)] = b, a
        return self._buffers(a, b)

    def _buffers(self, a: Buffer, b: Buffer) -> bool:
        plain = (a.dtype, a.scope_name, a.align, a.offset_factor, a.is_scalar, a.has_default_layout, len(a.shape))
        if plain != (b.dtype, b.scope_name, b.align, b.offset_factor, b.is_scalar, b.has_default_layout, len(b.shape)):
            return False
        if not a.has_default_layout and not self._layouts(a.layout, b.layout):
            return False
        if id(a.data) not in self.forward and id(b.data) not in self.backward:
            self.forward[id(a.data)], self.backward[id(b.data)] = b.data, a.data
        parts = ("data", "shape", "strides", "elem_offset", "allocated_addr")
        return self._push((getattr(a, part), getattr(b, part)) for part in parts)

    def _layouts(self, a: Layout | None, b: Layout | None) -> bool:
        """Layouts of one class with the same parts, which may hold variables."""
        if a is None or b is None or type(a) is not type(b):
            return a is b
        return self._push([(a.parts(), b.parts())])

    def _modules(self, a: IRModule, b: IRModule) -> bool:
        """Functions by name, each for itself: a variable that lowering uses in two functions is none of theirs."""
        if list(a.functions) != list(b.functions):
            return False
        return self._push([(a.attrs, b.attrs)]) and all(
            _Comparison(bijective=True).equal(a[name], b[name]) for name in a.functions
        )

    def _functions(self, a: PrimFunc, b: PrimFunc) -> bool:
        if (a.name, a.result, len(a.params)) != (b.name, b.result, len(b.params)):
            return False
        return self._push([(a.params, b.params), (a.attrs, b.attrs), (a.body, b.body)])


_DEFINED = {"Bind": ("var",), "For": ("var",), "Let": ("var",), "ScopeIdDef": ("vars",), "IndexFunction": ("vars",)}


def structural_hash(value: Any) -> int:
    """A hash that equal programs share; variables count by the order in which they are met."""
    order: dict[int, int] = {}
    parts: list[Any] = []
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Var | Buffer):
            first = id(item) not in order
            parts.append((type(item).__name__, order.setdefault(id(item), len(order)), str(item.dtype)))
            if first and isinstance(item, Buffer):
                stack.extend(reversed([item.scope_name, *item.shape]))
        elif isinstance(item, Node):
            parts.append(type(item).__name__)
            stack.extend(getattr(item, field.name) for field in reversed(item.FIELDS) if field.compared)
        elif isinstance(item, tuple | list):
            parts.append(len(item))
            stack.extend(reversed(item))
        elif isinstance(item, dict):
            stack.extend(item[key] for key in sorted(item, reverse=True))
        elif isinstance(item, PrimFunc):
            stack.extend([item.body, item.attrs, item.params, item.name])
        elif isinstance(item, IRModule):
            parts.extend(structural_hash(func) for func in item)
            stack.append(item.attrs)
        else:
            parts.append(item.name if isinstance(item, Op) else repr(item))
    return hash(tuple(parts))
