"""Exchange between the threads of a warp, on a device without sub-groups: values travel through local memory.

before  if row < rows:
            total += A[row, lane]
            total += tvm_warp_shuffle_xor(mask, total, 1, 32, 32)
            B[row] = total
after   inside = row < rows
        if inside: total += A[row, lane]
        if inside: exchanged[rank] = total
        barrier
        got = exchanged[source]
        barrier
        if inside: total += got; B[row] = total

A barrier is for the whole work-group, so a branch that perhaps not all of its threads take is cut at each exchange. What cannot be cut
(a loop that threads may leave at different times) is an error at its line. Runs after the fork to the simulator, which knows warps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from tirx.arith import Analyzer
from tirx.intrinsic import effect_of
from tirx.intrinsic.core.calls import launch_index
from tirx.intrinsic.core.collective import tvm_storage_sync
from tirx.intrinsic.internal import launch_axis
from tirx.ir import (
    Alloc,
    And,
    Attr,
    Bind,
    Break,
    Buffer,
    BufferLoad,
    BufferStore,
    Call,
    Continue,
    Decl,
    DType,
    Evaluate,
    Expr,
    FloorMod,
    For,
    If,
    IRModule,
    Node,
    Not,
    PrimFunc,
    Return,
    Select,
    Seq,
    Stmt,
    Var,
    While,
    const,
    rewrite,
    seq,
    substitute,
    variables,
    walk,
)  # fmt: skip
from tirx.support.errors import TargetError
from tirx.transform.pipeline import Pass, PassContext

__all__ = ["warps_through_local_memory"]

_SHUFFLES = ("tvm_warp_shuffle", "tvm_warp_shuffle_up", "tvm_warp_shuffle_down", "tvm_warp_shuffle_xor")
_EXCHANGES = frozenset((*_SHUFFLES, "tirx.warp_sync"))
_BARRIERS = _EXCHANGES | {"tvm_storage_sync"}
_HINT = (
    "let all threads of the work-group run the loop equally often, or use a device with sub-groups (-subgroups=true)"
)


def _has(node: Node, names: frozenset[str]) -> bool:
    return any(isinstance(item, Call) and item.op.name in names for item in walk(node, Call.BIT))


def _refuse(node: Stmt, what: str) -> TargetError:
    return TargetError(f"{what}, and the device has no sub-groups", span=node.span, hint=_HINT)


class _Warps:
    """One kernel."""

    def __init__(self, func: PrimFunc) -> None:
        self.launch = func.attrs["launch"]
        self.slots: dict[DType, Buffer] = {}
        self.threads = self._threads()
        self.rank = Var("rank", DType("int32"))
        self.analyzer = Analyzer()
        self.analyzer.bind(self.rank, 0, self.threads - 1)
        self.uniform = {id(param) for param in func.params if isinstance(param, Var) and not param.dtype.is_handle}

    def body(self, body: Stmt) -> Stmt:
        """The kernel without exchanges."""
        made = self.spread(body, None)
        allocs = [Alloc(slot) for slot in self.slots.values()]
        return seq([*allocs, Bind(self.rank, self.analyzer.simplify(self._rank())), *made])

    def _threads(self) -> int:
        """Number of threads in a work-group."""
        sizes = [self.launch.extent(f"thread.{axis}") for axis in "xyz"]
        if None in sizes:
            raise TargetError("threads exchange values, and their number is not known before the launch", hint=_HINT)
        return prod(sizes)

    def _rank(self) -> Expr:
        """Number of the thread in its work-group."""
        found: Expr = const(0, "int32")
        for axis in "zyx":
            if (extent := self.launch.extent(f"thread.{axis}")) > 1:
                found = found * extent + launch_index(axis=f"thread.{axis}")
        return found

    def _slot(self, dtype: DType) -> Buffer:
        """One element of local memory for each thread."""
        if dtype not in self.slots:
            self.slots[dtype] = Buffer("exchanged", (self.threads,), dtype, scope="shared", layout=None)
        return self.slots[dtype]

    # ---- statements -------------------------------------------------------------------------------------------

    def spread(self, node: Stmt, guard: Expr | None) -> list[Stmt]:
        """`node` for the threads where `guard` holds; all threads reach what is not below a branch in the result."""
        if isinstance(node, Seq):
            return self._sequence(list(node.stmts), guard)
        return self._sequence([node], guard)

    def _meets(self, node: Stmt, guard: Expr | None) -> bool:
        return _has(node, _EXCHANGES if guard is None else _BARRIERS)

    def _sequence(self, stmts: list[Stmt], guard: Expr | None) -> list[Stmt]:
        out: list[Stmt] = []
        run: list[Stmt] = []  # statements that nobody has to reach
        while stmts:
            node, stmts = stmts[0], stmts[1:]
            if isinstance(node, Bind) and self.is_uniform(node.value):
                self.uniform.add(id(node.var))
            rest_meets = any(self._meets(item, guard) for item in stmts)
            if rest_meets and isinstance(node, If) and isinstance(node.then, Return) and node.orelse is None:
                node, stmts = If(Not(node.condition), seq(stmts), span=node.span), []
            elif rest_meets and _leaves(node):
                raise _refuse(node, "threads leave before others exchange values")
            if not self._meets(node, guard):
                run.append(node)
                continue
            if isinstance(node, Bind | BufferStore | Evaluate):
                made, left = self._exchange(node, guard, run, stmts, out)
                out += made
                run = [] if left is None else [left]
                continue
            stmts = self._flush(run, guard, stmts, out)
            run = []
            out += self._compound(node, guard)
        self._flush(run, guard, stmts, out)
        return out

    def _flush(self, run: list[Stmt], guard: Expr | None, rest: list[Stmt], out: list[Stmt]) -> list[Stmt]:
        """Append a run of statements to `out`; the rest, with values that the run has bound now read from variables."""
        if not run:
            return rest
        if guard is None:
            out += run
            return rest
        later = {id(var) for item in rest for var in variables(item)}
        inner: list[Stmt] = []
        replaced: dict[Var, Expr] = {}
        for item in run:
            item = substitute(item, replaced) if replaced else item
            if isinstance(item, Alloc | Decl) or (isinstance(item, Bind) and item.var.dtype.is_handle):
                out.append(item)
            elif isinstance(item, Bind) and id(item.var) in later:
                kept = _scalar(item.var.name, item.var.dtype)
                out.append(Alloc(kept))
                inner.append(_store(kept, item.value))
                replaced[item.var] = _load(kept)
            else:
                inner.append(item)
        if inner:
            out.append(If(guard, seq(inner)))
        return [substitute(item, replaced) for item in rest] if replaced else rest

    def _compound(self, node: Stmt, guard: Expr | None) -> list[Stmt]:
        if isinstance(node, If):
            return self._branch(node, guard)
        if isinstance(node, For):
            return self._loop(node, guard)
        if isinstance(node, While):
            if not self.is_uniform(node.condition):
                raise _refuse(node, "threads exchange values in a loop that they may leave at different times")
            return [node.rebuild(body=seq(self.spread(node.body, guard)))]
        if isinstance(node, Attr):
            return [node.rebuild(body=seq(self.spread(node.body, guard)))]
        raise _refuse(node, f"threads exchange values in {type(node).__name__}")

    def _branch(self, node: If, guard: Expr | None) -> list[Stmt]:
        if guard is None and self.is_uniform(node.condition):
            orelse = None if node.orelse is None else seq(self.spread(node.orelse, None))
            return [node.rebuild(then=seq(self.spread(node.then, None)), orelse=orelse)]
        inside = Var("inside", DType("bool"))
        out: list[Stmt] = [Bind(inside, node.condition if guard is None else And(guard, node.condition))]
        out += self.spread(node.then, inside)
        if node.orelse is not None:
            other = Var("outside", DType("bool"))
            out.append(Bind(other, Not(inside) if guard is None else And(guard, Not(inside))))
            out += self.spread(node.orelse, other)
        return out

    def _loop(self, node: For, guard: Expr | None) -> list[Stmt]:
        if not all(map(self.is_uniform, (node.start, node.extent, node.step))):
            raise _refuse(node, "threads exchange values in a loop that they may run a different number of times")
        if any(_leaves(item) for item in _parts(node.body)):
            raise _refuse(node, "threads exchange values in a loop that they may leave at different times")
        self.uniform.add(id(node.var))
        return [node.rebuild(body=seq(self.spread(node.body, guard)))]

    # ---- exchanges --------------------------------------------------------------------------------------------

    def _exchange(
        self, node: Stmt, guard: Expr | None, run: list[Stmt], rest: list[Stmt], out: list[Stmt]
    ) -> tuple[list[Stmt], Stmt | None]:
        """What brings the values, and the statement that uses them (None: nothing is left of it)."""
        rest[:] = self._flush(run, guard, [node, *rest], out)
        node = rest.pop(0)
        if (
            isinstance(node, Evaluate)
            and isinstance(node.value, Call)
            and node.value.op.name in _BARRIERS - set(_SHUFFLES)
        ):
            return [_barrier()], None
        made: list[Stmt] = []

        def brought(item: Call) -> Expr | None:
            return self._bring(item, guard, made) if item.op.name in _SHUFFLES else None

        node = rewrite(node, {Call: brought})
        return made, None if isinstance(node, Evaluate) and not isinstance(node.value, Call) else node

    def _bring(self, node: Call, guard: Expr | None, made: list[Stmt]) -> Expr:
        """The value of another thread."""
        _, value, position, width, warp = node.args
        slot = self._slot(value.dtype)
        source = self.analyzer.simplify(_source(node.op.name, FloorMod(self.rank, warp), self.rank, position, width))
        made += [*_guarded(guard, BufferStore(slot, value, (self.rank,))), _barrier()]
        taken = BufferLoad(slot, (source,))
        if guard is None or not _reads_memory(source):
            got = Var("got", value.dtype)
            made += [Bind(got, taken), _barrier()]
            return got
        kept = _scalar("got", value.dtype)
        made += [Alloc(kept), *_guarded(guard, _store(kept, taken)), _barrier()]
        return _load(kept)

    def is_uniform(self, value: Expr) -> bool:
        """Whether all threads of a work-group have the same value, as far as that is easily seen."""
        return all(self._same(node) for node in walk(value))

    def _same(self, node: Node) -> bool:
        if isinstance(node, BufferLoad):
            return False
        if isinstance(node, Var):
            return id(node) in self.uniform
        if isinstance(node, Call):
            axis = launch_axis(node)
            return axis.startswith("cta.") if axis is not None else effect_of(node).is_pure
        return True


def _source(name: str, lane: Expr, rank: Expr, position: Expr, width: Expr) -> Expr:
    """Number of the thread from which a value comes; the thread itself where there is no other."""
    own: Expr = FloorMod(lane, width)
    if name == "tvm_warp_shuffle":
        found: Expr = rank - own + FloorMod(position, width)
        return found
    if name == "tvm_warp_shuffle_up":
        return Select(own >= position, rank - position, rank)
    if name == "tvm_warp_shuffle_down":
        return Select(own + position < width, rank + position, rank)
    other = own ^ position
    return Select(other < width, rank - own + other, rank)


def _reads_memory(value: Expr) -> bool:
    """Whether only threads that mean to may compute a value."""
    return any(isinstance(node, BufferLoad) and not node.buffer.is_scalar for node in walk(value))


def _parts(node: Stmt) -> Sequence[Stmt]:
    return node.stmts if isinstance(node, Seq) else (node,)


def _leaves(node: Stmt) -> bool:
    """Whether a statement may end the thread, or the turn of a loop around it."""
    if isinstance(node, Return | Break | Continue):
        return True
    if isinstance(node, For | While):
        return any(isinstance(item, Return) for item in walk(node))
    return any(_leaves(item) for item in node.children() if isinstance(item, Stmt))


def _barrier() -> Stmt:
    return Evaluate(tvm_storage_sync("shared"))


def _guarded(guard: Expr | None, node: Stmt) -> Iterable[Stmt]:
    return [node if guard is None else If(guard, node)]


def _scalar(name: str, dtype: DType) -> Buffer:
    return Buffer(name, (1,), dtype, scope="local", layout=None, is_scalar=True)


def _store(scalar: Buffer, value: Expr) -> Stmt:
    return BufferStore(scalar, value, (const(0, "int32"),))


def _load(scalar: Buffer) -> Expr:
    return BufferLoad(scalar, (const(0, "int32"),))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without exchanges that the device does not have."""
    return module.map(lambda func: _function(func, context))


def _function(func: PrimFunc, context: PassContext) -> PrimFunc:
    target = func.attrs.get("target", context.target)
    if "launch" not in func.attrs or target["subgroups"] or not _has(func.body, _EXCHANGES):
        return func
    return func.with_body(_Warps(func).body(func.body))


warps_through_local_memory = Pass("warps_through_local_memory", run, requires=("target",))
