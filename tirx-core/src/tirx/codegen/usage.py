"""What a function does with its variables and buffers, gathered in one walk before it is printed."""

from __future__ import annotations

from ..intrinsic import Intrinsic
from ..ir import Bind, BufferLoad, BufferRegion, BufferStore, Call, Decl, Expr, Node, Ramp, Stmt, Var, walk

__all__ = ["Usage"]


class Usage:
    """Facts about a function body.

    * `read`: ids of variables whose value is used
    * `written`: ids of pointer variables through which memory may be written
    * `vector_bytes`: id of a pointer variable -> the largest alignment, in bytes, that an access through it needs
    * `addressed`: ids of pointer variables whose address goes to an instruction
    """

    __slots__ = ("_aliases", "addressed", "read", "vector_bytes", "written")

    def __init__(self, body: Stmt) -> None:
        self.read: set[int] = set()
        self.written: set[int] = set()
        self.vector_bytes: dict[int, int] = {}
        self.addressed: set[int] = set()
        self._aliases: list[tuple[int, int]] = []
        for node in walk(body):
            self._visit(node)
        for alias, origin in reversed(self._aliases):  # a view is written: so is what it shows
            if alias in self.written:
                self.written.add(origin)
            self.vector_bytes[origin] = max(self.vector_bytes.get(origin, 0), self.vector_bytes.get(alias, 0))

    def _visit(self, node: Node) -> None:
        if isinstance(node, Var):
            self.read.add(id(node))
        elif isinstance(node, BufferLoad):
            self._access(node)
        elif isinstance(node, BufferStore):
            self._access(node)
            self.written.add(id(node.buffer.data))
            if node.value.dtype.is_handle:
                self.written |= _pointers(node.value)
        elif isinstance(node, Call):
            self._call(node)
        elif isinstance(node, Decl) and node.source is not None:
            self._aliases += [(id(node.buffer.data), origin) for origin in _pointers(node.source)]
        elif isinstance(node, Bind) and node.var.dtype.is_handle:
            self._aliases += [(id(node.var), origin) for origin in _pointers(node.value)]

    def _access(self, node: BufferLoad | BufferStore) -> None:
        data, last = id(node.buffer.data), node.indices[-1] if node.indices else None
        self.read.add(data)
        width = node.buffer.dtype.bytes * (last.lanes if isinstance(last, Ramp) and is_unit(last) else 1)
        width &= -width
        self.vector_bytes[data] = max(self.vector_bytes.get(data, 0), width)

    def _call(self, node: Call) -> None:
        """Pointers and places that go to an intrinsic are written unless its row says that they are only read."""
        row = node.op if isinstance(node.op, Intrinsic) else None
        for index, arg in enumerate(node.args):
            operand = None
            if row is not None and arg.dtype.is_handle and row.effect.kind not in ("pure", "atomic"):
                self.addressed |= _pointers(arg)
            if row is None and not arg.dtype.is_handle:
                continue  # functions of the module take numbers by value
            if row is not None and row.operands:
                operand = row.operands[min(index, len(row.operands) - 1)]
            if operand is not None and (operand.rw == "r" and row is not None and row.effect.kind != "opaque"):
                continue
            if isinstance(arg, Var) and arg.dtype.by_value and operand is not None and operand.rw == "w":
                self._aliases += [
                    (id(arg), origin) for other in node.args if other is not arg for origin in _pointers(other)
                ]
                continue  # it is encoded here: what is written through it is written in the arrays that it tells of
            self.written.update(_pointers(arg))


def _pointers(arg: Expr) -> set[int]:
    """Ids of the pointer variables that an operand gives access to; what its indices read does not count."""
    if isinstance(arg, BufferLoad | BufferRegion):
        return {id(arg.buffer.data)}
    if isinstance(arg, Var):
        return {id(arg)} if arg.dtype.is_handle else set()
    found: set[int] = set()
    for child in arg.children():
        if isinstance(child, Expr) and (
            child.dtype.is_handle or (isinstance(child, BufferLoad) and arg.dtype.is_handle)
        ):
            found |= _pointers(child)
    return found


def is_unit(ramp: Ramp) -> bool:
    """Whether a ramp counts by one."""
    return getattr(ramp.stride, "value", None) == 1
