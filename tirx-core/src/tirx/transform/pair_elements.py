"""Elements of four bits share their bytes: buffers of them become buffers of pairs.

before  A: Tx.Buffer((64,), "float4_e2m1fn");   B likewise
        B[Tx.ramp(i * 4, 1, 4)] = A[Tx.ramp(i * 4, 1, 4)];   x = A[j]
after   (32 elements of float4_e2m1fnx2)
        B[Tx.ramp(i * 2, 1, 2)] = A[Tx.ramp(i * 2, 1, 2)];   x = tirx.lane(A[j // 2], j % 2)

A single element can be read anywhere. Writing one would have to read its byte, change half of it and write it back, while
another thread writes the other half: in memory that threads share this is refused at the store; in a thread's own
memory it is what happens. A scalar has a byte to itself. Needs: loops vectorized.
"""

from __future__ import annotations

from ..arith import simplify
from ..intrinsic import call
from ..intrinsic.internal import LANE, WITH_LANE
from ..ir import (
    Alloc,
    Bind,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Call,
    Decl,
    Expr,
    IntImm,
    IRModule,
    PrimFunc,
    Ramp,
    Shuffle,
    Stmt,
    Var,
    const,
    mask_of,
    rewrite,
    walk,
)  # fmt: skip
from ..support.errors import Diagnostic, VerifyError
from .lower_storage import is_shared
from .pipeline import Pass, PassContext
from .ranged import Ranged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..target import ScopeModel

__all__ = ["pair_elements"]

_HOLDERS = (Alloc, Decl, BufferLoad, BufferStore, BufferRegion)


class _Pairing(Ranged):
    """One function."""

    def __init__(self, func: PrimFunc, model: ScopeModel) -> None:
        super().__init__(func)
        self.model = model
        self.pairs: dict[int, Buffer] = {}
        self.problems: list[Diagnostic] = []
        self.own = {
            id(node.buffer.data)
            for node in walk(func.body, mask_of(Alloc))
            if isinstance(node, Alloc) and self._is_own(node)
        }
        self.rules: dict[type[Any], Any] = {BufferLoad: self._load, BufferRegion: self._region}

    def _is_own(self, node: Any) -> bool:
        """Whether an allocation is memory of one thread."""
        return not is_shared(node.buffer.scope_name, self.model)

    # ---- places -----------------------------------------------------------------------------------------------------

    def paired(self, buffer: Buffer) -> Buffer | None:
        """The same storage in pairs; None where elements are addressed as they are."""
        if buffer.dtype.unit is buffer.dtype or buffer.is_scalar:
            return None
        found = self.pairs.get(id(buffer))
        if found is None:
            (size,) = buffer.shape
            whole = (size + 1) // 2 if isinstance(size, int) else simplify((size + 1) // 2)
            found = self.pairs[id(buffer)] = buffer.replaced(dtype=buffer.dtype.unit, shape=(whole,))
            self.pairs[id(found)] = buffer  # keeps both alive: ids must stay taken
        return found

    def _half(self, index: Expr) -> Expr:
        """The pair that an element is in."""
        return self.analyzer.simplify(index // 2)

    def _lane(self, index: Expr, number: int) -> Expr:
        """The place of one lane."""
        one = index.base + index.stride * number if isinstance(index, Ramp) else Shuffle((index,), (number,))
        return self.analyzer.simplify(one)

    def _whole_pairs(self, index: Expr) -> Expr | None:
        """The index of the pairs that a vector access covers, where it covers whole ones."""
        if not (isinstance(index, Ramp) and isinstance(index.stride, IntImm) and index.stride.value == 1):
            return None
        if index.lanes % 2 or not self.analyzer.divides(2, index.base):
            return None
        start, count = self._half(index.base), index.lanes // 2
        return start if count == 1 else Ramp(start, const(1, start.dtype), count, span=index.span)

    # ---- expressions --------------------------------------------------------------------------------------------------

    def expression(self, expr: Expr) -> Expr:
        return rewrite(expr, self.rules, enter={Call: self._call})

    def _load(self, node: BufferLoad) -> Expr | None:
        pairs = self.paired(node.buffer)
        if pairs is None:
            return None
        (index,) = node.indices
        whole = self._whole_pairs(index)
        if whole is not None:
            return node.rebuild(buffer=pairs, indices=(whole,), source=node.source or node.buffer)
        if index.dtype.lanes == 1:
            return self._element(node, pairs, index)
        parts = tuple(self._element(node, pairs, self._lane(index, lane)) for lane in range(index.dtype.lanes))
        return Shuffle(parts, tuple(range(len(parts))), span=node.span)

    def _element(self, node: BufferLoad, pairs: Buffer, index: Expr) -> Expr:
        """One element out of its pair."""
        pair = node.rebuild(buffer=pairs, indices=(self._half(index),), source=node.source or node.buffer)
        which = self.analyzer.simplify(index % 2)
        if isinstance(which, IntImm):
            return Shuffle((pair,), (which.value,), span=node.span)
        return call(LANE, pair, which)

    def _region(self, node: BufferRegion) -> BufferRegion | None:
        pairs = self.paired(node.buffer)
        if pairs is None:
            return None
        (start,), (extent,) = node.starts, node.extents
        return node.rebuild(buffer=pairs, starts=(self._half(start),), extents=(self._half(extent + 1),))

    def _call(self, node: Call) -> Call | None:
        """Operands that are places: an address is that of the pair, and nothing is written to half a byte."""
        operands = getattr(node.op, "operands", ())
        args = list(node.args)
        for position, arg in enumerate(args):
            operand = operands[min(position, len(operands) - 1)] if operands else None
            if not isinstance(arg, BufferLoad) or self.paired(arg.buffer) is None or operand is None:
                continue
            if operand.kind in ("place", "output"):
                args[position] = self._place(node, arg)
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return None
        held = {id(new) for new, old in zip(args, node.args, strict=True) if new is not old}
        return node.rebuild(args=tuple(arg if id(arg) in held else self.expression(arg) for arg in args))

    def _place(self, node: Call, arg: BufferLoad) -> BufferLoad:
        pairs = self.paired(arg.buffer)
        assert pairs is not None
        (index,) = arg.indices
        whole = self._whole_pairs(index)
        if whole is None:
            index = index.base if isinstance(index, Ramp) else index
            if node.op.name != "address_of":
                self._refuse(
                    node, arg, f"`{node.op.name}` works on one element of `{{0}}`", "use a scalar of its type instead"
                )
            elif self.analyzer.divides(2, index + 1):
                self._refuse(
                    node, arg, "the address of an odd element of `{0}` is taken", "take that of the even one before it"
                )
            whole = self._half(self.expression(index))
        return arg.rebuild(buffer=pairs, indices=(whole,), source=arg.source or arg.buffer)

    def _refuse(self, node: Call | BufferStore, place: BufferLoad | BufferStore, text: str, hint: str) -> None:
        source = place.source or place.buffer
        message = f"{text.format(source.name)}, but {source.dtype} shares its byte with a neighbour"
        self.problems.append(Diagnostic(message, node.span or place.span, hint))

    # ---- statements -------------------------------------------------------------------------------------------------

    def statement(self, stmt: Stmt) -> Stmt | list[Stmt]:
        if isinstance(stmt, Alloc | Decl):
            pairs = self.paired(stmt.buffer)
            return super().statement(stmt if pairs is None else stmt.rebuild(buffer=pairs))
        if isinstance(stmt, BufferStore):
            return self._store(stmt)
        return super().statement(stmt)

    def _store(self, stmt: BufferStore) -> Stmt | list[Stmt]:
        pairs = self.paired(stmt.buffer)
        if pairs is None:
            return self.rebuilt(stmt)
        (index,) = stmt.indices
        whole, value = self._whole_pairs(index), self.expression(stmt.value)
        if whole is not None:
            return stmt.rebuild(buffer=pairs, indices=(whole,), value=value, source=stmt.source or stmt.buffer)
        if id(stmt.buffer.data) not in self.own:
            self._refuse(stmt, stmt, _SINGLE if index.dtype.lanes == 1 else _CROOKED, _TOGETHER)
            return stmt
        return self._one_by_one(stmt, pairs, index, value)

    def _one_by_one(self, stmt: BufferStore, pairs: Buffer, index: Expr, value: Expr) -> list[Stmt]:
        """Stores of single elements to memory of one thread: each changes half of its pair."""
        if index.dtype.lanes == 1:
            return [self._half_stored(stmt, pairs, index, value)]
        held = Var("elements", value.dtype, span=stmt.span)
        stores = (
            self._half_stored(stmt, pairs, self._lane(index, lane), Shuffle((held,), (lane,)))
            for lane in range(index.dtype.lanes)
        )
        return [Bind(held, value, span=stmt.span), *stores]

    def _half_stored(self, stmt: BufferStore, pairs: Buffer, index: Expr, value: Expr) -> Stmt:
        source = stmt.source or stmt.buffer
        place = self._half(index)
        old = BufferLoad(pairs, (place,), source, stmt.coords, span=stmt.span)
        new = call(WITH_LANE, old, self.analyzer.simplify(index % 2), value)
        return stmt.rebuild(buffer=pairs, indices=(place,), value=new, source=source)


_SINGLE = "one element of `{0}` is stored"
_CROOKED = "elements of `{0}` are stored that do not provably begin at an even one and lie side by side"
_TOGETHER = "store two or more neighbours at once, beginning at an even one: for j in Tx.vectorized(2)"


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without buffers of elements that share bytes."""
    return module.map(lambda func: _function(func, context))


def _function(func: PrimFunc, context: PassContext) -> PrimFunc:
    if not any(map(_is_paired, walk(func.body, mask_of(*_HOLDERS)))):
        return func
    model = func.attrs.get("target", context.target).scope_model(func.attrs)
    work = _Pairing(func, model)
    body = work.body(func.body)
    if work.problems:
        raise VerifyError(diagnostics=work.problems)
    return func.with_body(body)


def _is_paired(node: Any) -> bool:
    return isinstance(node, _HOLDERS) and node.buffer.dtype.unit is not node.buffer.dtype


pair_elements = Pass("pair_elements", run, requires=("vectorized",), ensures=("elements_paired",))
