"""What is known of a lowered device function before it is translated.

Which values differ between threads, bounds of integers, where buffers live, which statements contain something that waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from ..arith import Analyzer
from ..backend import find
from ..intrinsic import Intrinsic, effect_of
from ..intrinsic.internal import launch_axis, unmarked
from ..ir import (
    Add,
    Alloc,
    Bind,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Call,
    Decl,
    Div,
    DType,
    Evaluate,
    Expr,
    FloorDiv,
    For,
    IntImm,
    Let,
    LShift,
    Mul,
    Neg,
    Node,
    PrimFunc,
    Stmt,
    Sub,
    Var,
    While,
    variable_of,
    walk,
)  # fmt: skip

__all__ = ["Facts", "Root", "row_of"]

# Barriers of these levels do not cut a function into blocks: their threads run together anyway.
NARROW_LEVELS = frozenset({"warp", "thread"})
GATHERED = "warp"  # the level whose threads hold values for each other
MAY_WRAP = (Add, Sub, Mul, Neg, LShift, Div, FloorDiv)
UNIFORM_GROUPS = ("tirx.sim.meanings.math:", "tirx.sim.meanings.vector:", "tirx.sim.meanings.memory:")
ADDRESSING = frozenset({"address_of"})


class Root:
    """Where the storage behind a pointer variable is.

    `kind`: `register` (arrays per thread, no address), `local` (bytes per thread), `shared` (bytes per cta, in memory `space`),
    `param` (number `offset` of the function), `pointer` (an address computed in the kernel).
    """

    __slots__ = ("buffer", "kind", "offset", "space")

    def __init__(self, kind: str, buffer: Buffer | None, offset: int = 0, space: str = "") -> None:
        self.kind = kind
        self.buffer = buffer
        self.offset = offset
        self.space = space


def row_of(call: Call) -> Intrinsic | None:
    """The intrinsic that a call names; None for functions of the module."""
    return call.op if isinstance(call.op, Intrinsic) else None


class Facts:
    """Facts of one function launched with `extents` (per axis name)."""

    def __init__(self, func: PrimFunc, extents: Mapping[str, int], dynamic_shared: int) -> None:
        self.func = func
        self.extents = extents
        self.analyzer = Analyzer()
        self.variant: set[int] = set()
        self.roots: dict[int, Root] = {}
        self.space_bytes: dict[str, int] = {}
        self.local_bytes = 0
        self.cut: set[int] = set()
        self.keep_alive: list[Node] = list(walk(func.body))
        self._layout(dynamic_shared)
        self._values()
        self.spins = False
        axes = {launch_axis(node) for node in self.keep_alive if isinstance(node, Call)}
        self.axes = sorted(axis for axis in axes if axis is not None)
        discarded = {id(n.value) for n in self.keep_alive if isinstance(n, Evaluate)}
        self.used_atomics = {
            id(n)
            for n in self.keep_alive
            if isinstance(n, Call) and id(n) not in discarded and effect_of(n).kind == "atomic"
        }
        self.written = _written(self.keep_alive)
        rows = [(node, row) for node in self.keep_alive if isinstance(node, Call) and (row := row_of(node)) is not None]
        self.apart = any(row.effect.apart for _, row in rows)
        self.later = {data: row for node, row in rows if row.effect.later for data in _registers(node, row)}
        self._cuts()
        self.together = self.spins or any(_needs_all(n) for n in self.keep_alive)
        self.parks = self.spins or any(_waits(n) for n in self.keep_alive)

    # ---- storage --------------------------------------------------------------------------------------------------

    def _layout(self, dynamic_shared: int) -> None:
        for position, param in enumerate(self.func.params):
            data = variable_of(param)
            if data.dtype.is_handle:
                self.roots[id(data)] = Root("param", param if isinstance(param, Buffer) else None, position)
        addressed = self._addressed()
        for node in self.keep_alive:
            if isinstance(node, Alloc):
                self._allocate(node.buffer, addressed, dynamic_shared)
            elif isinstance(node, Decl) and id(node.buffer.data) not in self.roots and node.source is not None:
                self.roots[id(node.buffer.data)] = Root("pointer", node.buffer)

    def _allocate(self, buffer: Buffer, addressed: set[int], dynamic_shared: int) -> None:
        owner = _owner_level(buffer.scope_name)
        size = _elements(buffer) * buffer.dtype.bytes
        if owner == "thread":
            if id(buffer.data) not in addressed:
                self.roots[id(buffer.data)] = Root("register", buffer)
                return
            self.local_bytes = _aligned(self.local_bytes, buffer)
            self.roots[id(buffer.data)] = Root("local", buffer, self.local_bytes)
            self.local_bytes += size
            return
        space = "shared" if buffer.scope_name.startswith("shared") else buffer.scope_name
        start = _aligned(self.space_bytes.get(space, 0), buffer)
        if buffer.allocated_addr and isinstance(buffer.allocated_addr[0], int):
            start = buffer.allocated_addr[0]
        if buffer.scope_name == "shared.dyn":
            size = max(size, dynamic_shared)
        self.roots[id(buffer.data)] = Root("shared", buffer, start, space)
        self.space_bytes[space] = max(self.space_bytes.get(space, 0), start + size)

    def _addressed(self) -> set[int]:
        """Ids of pointer variables whose storage is viewed in several types, or whose address is taken."""
        found: set[int] = set()
        types: dict[int, DType] = {}
        for node in self.keep_alive:
            if isinstance(node, Alloc | Decl | BufferLoad | BufferStore):
                data = id(node.buffer.data)
                if types.setdefault(data, node.buffer.dtype) is not node.buffer.dtype or node.buffer.dtype.lanes > 1:
                    found.add(data)
                if node.buffer.elem_offset != 0:
                    found.add(data)
            if isinstance(node, BufferRegion):
                found.add(id(node.buffer.data))
            elif isinstance(node, Call):
                found |= self._escaping(node)
            elif isinstance(node, Var) and node.dtype.is_handle:
                found.add(id(node))
        return found

    def _escaping(self, call: Call) -> set[int]:
        row = row_of(call)
        if row is None:
            return set()
        if row.name in ADDRESSING:
            return {id(arg.buffer.data) for arg in call.args if isinstance(arg, BufferLoad)}
        operands = (
            list(row.operands) + [row.operands[-1]] * (len(call.args) - len(row.operands)) if row.operands else []
        )
        pairs = zip(call.args, operands, strict=False)
        return {id(arg.buffer.data) for arg, op in pairs if op.kind == "place" and isinstance(arg, BufferLoad)}

    # ---- values ---------------------------------------------------------------------------------------------------

    def _values(self) -> None:
        for node in self.keep_alive:
            if isinstance(node, Bind | Let):
                self._bind(node.var, node.value)
            elif isinstance(node, For):
                self._loop(node)
            elif isinstance(node, Decl) and node.source is not None and self.differs(node.source):
                self.variant.add(id(node.buffer.data))

    def _bind(self, var: Var, value: Expr) -> None:
        if self.differs(value):
            self.variant.add(id(var))
        value = unmarked(value)
        axis = launch_axis(value)
        if axis is not None:
            self.analyzer.bind(var, 0, self.extents.get(axis, 1) - 1)
        elif var.dtype.is_integer and var.dtype.lanes == 1 and self.fits(value):
            self.analyzer.bind_value(var, value)

    def _loop(self, loop: For) -> None:
        if any(self.differs(part) for part in (loop.start, loop.extent, loop.step)):
            self.variant.add(id(loop.var))
        step = self.analyzer.bounds(loop.step)
        start, extent = self.analyzer.bounds(loop.start), self.analyzer.bounds(loop.extent)
        sound = self.fits(loop.start) and self.fits(loop.extent)
        if sound and step.low is not None and step.low > 0 and start.low is not None:
            high = None if start.high is None or extent.high is None else max(start.low, start.high + extent.high - 1)
            self.analyzer.bind(loop.var, start.low, high)

    def differs(self, expr: Expr) -> bool:
        """Whether a value may differ between the threads of a launch."""
        for node in walk(expr):
            if isinstance(node, BufferLoad) or (isinstance(node, Var) and self._var_differs(node)):
                return True
            if isinstance(node, Call) and not self._same_for_all(node):
                return True
        return False

    def _var_differs(self, var: Var) -> bool:
        """Pointers to the memory of a cta differ from cta to cta."""
        root = self.roots.get(id(var)) if var.dtype.is_handle else None
        return id(var) in self.variant or (root is not None and root.kind not in ("param", "local", "pointer"))

    def _same_for_all(self, call: Call) -> bool:
        row = row_of(call)
        if row is None or not row.effect.is_pure or row.meaning is None:
            return False
        return row.meaning.startswith(UNIFORM_GROUPS) or row.name in ("if_then_else", "likely")

    def fits(self, expr: Expr) -> bool:
        """Whether an integer expression provably does not wrap, nor anything in it."""
        return all(self._in_range(node) for node in walk(expr) if isinstance(node, MAY_WRAP))

    def _in_range(self, node: Any) -> bool:
        dtype = node.dtype
        if not dtype.is_integer:
            return True
        if dtype.is_uint:  # the analyzer wraps these itself
            return self._unsigned_in_range(node, dtype)
        return self.analyzer.bounds(node).within(dtype.min_int, dtype.max_int)

    def _unsigned_in_range(self, node: Any, dtype: DType) -> bool:
        if isinstance(node, Neg | Div | FloorDiv):
            return not isinstance(node, Neg)
        a, b = self.analyzer.bounds(node.a), self.analyzer.bounds(node.b)
        if a.low is None or a.high is None or b.low is None or b.high is None:
            return False
        if isinstance(node, Sub):
            return a.low >= b.high
        if isinstance(node, LShift):
            return b.high < dtype.bits and a.high << b.high <= dtype.max_int
        return (a.high + b.high if isinstance(node, Add) else a.high * b.high) <= dtype.max_int

    def inside(self, expr: Expr, extent: int | Expr) -> bool:
        """Whether an index provably lies in [0, extent)."""
        if expr.dtype.lanes != 1 or not self.fits(expr):
            return False
        if not isinstance(extent, int):
            low = self.analyzer.bounds(extent).low
            extent = low if low is not None else 0
        return self.analyzer.bounds(expr).within(0, extent - 1)

    # ---- what waits -------------------------------------------------------------------------------------------------

    def _cuts(self) -> None:
        self._cut(self.func.body)

    def _cut(self, stmt: Stmt) -> bool:
        """Whether `stmt` must be cut into blocks; children are visited too."""
        inner = [self._cut(child) for child in stmt.children() if isinstance(child, Stmt)]
        own = any(blocking(node) for expr in expressions(stmt) for node in walk(expr))
        if isinstance(stmt, While | For) and self._may_spin(stmt):
            own = self.spins = True
        if own or any(inner):
            self.cut.add(id(stmt))
            return True
        return False

    def _may_spin(self, loop: While | For) -> bool:
        """Whether a loop may wait for what other threads write."""
        if isinstance(loop, While) and any(self._reads_shared_memory(node) for node in walk(loop.condition)):
            return True
        discarded = {
            id(node.value) for node in walk(loop.body) if isinstance(node, Evaluate) and not _outputs(node.value)
        }
        calls = [node for node in walk(loop) if isinstance(node, Call) and id(node) not in discarded]
        return any(_observes(call) for call in calls)

    def _reads_shared_memory(self, node: Node) -> bool:
        """Whether a load sees what other threads may write while the kernel runs."""
        if not isinstance(node, BufferLoad):
            return False
        root = self.roots.get(id(node.buffer.data))
        if root is not None and root.kind in ("register", "local"):
            return False
        return root is None or root.kind != "param" or id(node.buffer.data) in self.written


def _written(nodes: Sequence[Node]) -> set[int]:
    """Ids of pointers through which the kernel may write: stored to, or known under another name, or given to what may write."""
    found: set[int] = set()
    for node in nodes:
        if isinstance(node, BufferStore):
            found.add(id(node.buffer.data))
        elif isinstance(node, Decl | Bind):
            source = node.source if isinstance(node, Decl) else node.value
            if source is not None and source.dtype.is_handle:
                found |= _pointers(source)
        elif isinstance(node, Call) and not effect_of(node).is_silent:
            found |= _pointers(node)
    return found


def _pointers(expr: Expr) -> set[int]:
    return {
        id(node.buffer.data) if isinstance(node, BufferLoad) else id(node)
        for node in walk(expr)
        if isinstance(node, BufferLoad | Var)
    }


def _registers(call: Call, row: Intrinsic) -> list[int]:
    """Ids of the storage that an operation uses until it is waited for: its outputs, and what it takes where that is fenced."""
    taken = [
        arg
        for at, arg in enumerate(call.args)
        if row.effect.fenced or row.operands[min(at, len(row.operands) - 1)].kind == "output"
    ]
    return [id(arg.buffer.data) for arg in taken if isinstance(arg, BufferLoad)]


def _observes(call: Call) -> bool:
    """Whether a call sees what other threads do: the result of an atomic, a read that is not plain."""
    row = row_of(call)
    return (
        row is not None
        and row.effect.kind in ("atomic", "read", "opaque")
        and row.name not in ("masked_load", "assume")
    )


def _outputs(value: Expr) -> bool:
    """Whether a call gives values to operands."""
    row = row_of(value) if isinstance(value, Call) else None
    return row is not None and any(operand.kind == "output" for operand in row.operands)


def _waits(node: Node) -> bool:
    row = row_of(node) if isinstance(node, Call) else None
    return row is not None and row.effect.kind == "wait"


def _needs_all(node: Node) -> bool:
    """Whether a call waits for other ctas, so that all must run at the same time."""
    row = row_of(node) if isinstance(node, Call) else None
    if row is None:
        return False
    return row.effect.kind == "wait" or (row.effect.barrier is not None and row.effect.barrier.level == "kernel")


def blocking(node: Node) -> bool:
    """Whether a call may make its threads wait for threads beyond their warp."""
    row = row_of(node) if isinstance(node, Call) else None
    if row is None:
        return False
    if row.effect.kind == "wait":
        return True
    return row.effect.barrier is not None and row.effect.barrier.level not in NARROW_LEVELS


def gathers(node: Node) -> bool:
    """Whether threads of a warp meet in a call: they exchange values, vote, or have a barrier of their own. Fences do not."""
    row = row_of(node) if isinstance(node, Call) else None
    if row is None or row.effect.kind != "sync":
        return False
    barrier = row.effect.barrier
    return row.answers if barrier is None else barrier.level == GATHERED


def expressions(stmt: Stmt) -> list[Expr]:
    """Expressions that belong to a statement itself, not to statements inside it."""
    return [child for child in stmt.children() if isinstance(child, Expr)]


def _owner_level(scope: str) -> str:
    known = {"local": "thread", "shared": "cta", "shared.dyn": "cta", "global": "kernel"}
    if scope in known:
        return known[scope]
    row = find("storage_scopes", scope)
    level = row.owner_level if row is not None else "cta"
    return str(level) if level in ("thread", "cta", "kernel") else "cta"


def _elements(buffer: Buffer) -> int:
    sizes = [extent.value if isinstance(extent, IntImm) else extent for extent in buffer.shape]
    return prod(size if isinstance(size, int) else 0 for size in sizes)


def _aligned(position: int, buffer: Buffer) -> int:
    align = max(buffer.align, buffer.dtype.bytes, 16)
    return -(-position // align) * align
