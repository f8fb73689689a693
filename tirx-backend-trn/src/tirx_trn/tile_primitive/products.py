"""Matrix products: `nc_matmul` of up to 128 x 128 by 128 x 512, summed in a bank of PSUM along K.

    D (M on partitions) = A.T.T @ B       stationary A, moving B
    D (N on partitions)                   stationary B, moving A: the product comes out transposed

Both are contracted along their partitions. A matrix that has K along its free dimension is copied transposed first. Results go straight
to a float32 tile of PSUM, else through a bank. NKI: nisa.nc_matmul.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import product
from math import prod
from typing import Any, NamedTuple

from tirx import script as Tx
from tirx.arith import simplify
from tirx.ir import BufferRegion, Expr, FloatImm, IntImm, TileCall, as_expr, const
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.tile.shapes import is_one
from tirx.variants import loops

from .. import script as nki
from ..hardware import BANK_BYTES, PARTITIONS, PSUM, SBUF
from ..layout import trainium
from ..table import FLOATS
from .digits import Side, blocks_of, constant_extents
from .rules import declining, in_memory, regions, types

__all__ = ["VARIANTS"]

M, N, K = range(3)
_BANK = BANK_BYTES // 4
_WORKSPACE = {"acc_psum": "float32 (128, 512) or (8, 128, 512) in trn.psum: the bank that sums up"}


class _Form(NamedTuple):
    """How an operation names its matrices, and along which of M, N, K each runs."""

    out: str
    dims: dict[str, tuple[int, int]]


def _form(call: TileCall) -> _Form:
    if call.op.name == "gemm":
        a = (K, M) if call.attr("transpose_A") else (M, K)
        b = (N, K) if call.attr("transpose_B") else (K, N)
        return _Form("D", {"D": (M, N), "A": a, "B": b, "C": (M, N)})
    a = (K, M) if call.attr("transA") else (M, K)
    return _Form("C", {"C": (M, N), "A": a, "B": (K, N) if call.attr("transB") else (N, K)})


def _side(name: str, region: BufferRegion, dims: tuple[int, int]) -> Side:
    """A matrix along M, N, K; dimensions of one element before or between do not count."""
    extents = constant_extents(name, region)
    wide = [at for at, extent in enumerate(extents) if not is_one(extent)]
    chosen = wide if len(wide) == 2 else [len(extents) - 2, len(extents) - 1]
    along: list[int | None] = [None] * len(extents)
    for at, dim in zip(chosen, dims, strict=True):
        along[at] = dim
    return Side(name, region, extents, along)


class _Range(NamedTuple):
    """Elements of M, N or K that instructions go through: `size` at a time from `offset` on, in `turns` of (count, step)."""

    offset: int
    size: int
    turns: tuple[tuple[int, int], ...]


def _ranges(dim: int, extent: int, sides: Sequence[Side], most: int) -> list[_Range]:
    """Dimension `dim` as ranges of at most `most`: partitions together, free elements as many as fit."""
    found: list[_Range] = []
    for block in blocks_of(dim, extent, [side for side in sides if dim in side.along]):
        digits = list(block.digits)
        size = 1
        while digits and size * digits[-1].size <= most:
            size *= digits.pop().size
        turns = tuple((digit.size, digit.step) for digit in digits[:-1])
        if not digits:
            found.append(_Range(block.offset, size, turns))
            continue
        last = digits[-1]
        chunk = most // size
        count, left = divmod(last.size, chunk)
        found.append(_Range(block.offset, size * chunk, (*turns, (count, chunk * last.step)) if count > 1 else turns))
        if left:
            found.append(_Range(block.offset + count * chunk * last.step, size * left, turns))
    return found


class _Product:
    """One call."""

    def __init__(self, call: TileCall, context: DispatchContext) -> None:
        self.call = call
        self.context = context
        self.form = _form(call)
        tiles = regions(call)
        self.out = self.form.out
        self.sides = {name: _side(name, tiles[name], dims) for name, dims in self.form.dims.items() if name in tiles}
        self.lanes = self._lanes()
        self.stationary, self.moving = ("A", "B") if self.lanes == M else ("B", "A")

    def extent(self, dim: int) -> int:
        """The size of M, N or K."""
        side = self.sides["B" if dim == N else "A"]
        at = next((at for at, along in enumerate(side.dims) if along == dim))
        return constant_extents(side.name, side.region)[at]

    def _lanes(self) -> int:
        """Which dimension of the result lies along partitions: M where none does."""
        side = self.sides[self.out]
        found = [dim for dim in (M, N) if self._wide(side, dim, "P")]
        if len(found) > 1:
            decline(f"both dimensions of `{side.name}` lie along partitions")
        return found[0] if found else N if self._wide(side, M, "F") and self.extent(N) == 1 else M

    def _wide(self, side: Side, dim: int, axis: str) -> bool:
        """Whether a matrix has more than one element of a dimension along an axis."""
        return self.extent_of(side, dim) > 1 and any(item.axis == axis for item in side.axes(dim))

    def extent_of(self, side: Side, dim: int) -> int:
        """The size of a dimension of one matrix."""
        return constant_extents(side.name, side.region)[side.along[dim]]

    # ---- building ---------------------------------------------------------------------------------------------------

    def emit(self) -> None:
        """Every block of the result, and its sum along K."""
        for name in ("A", "B"):
            self._bring(name)
        free = N if self.lanes == M else M
        out = [side for name, side in self.sides.items() if name not in ("A", "B")]
        feed = [self.sides["A"], self.sides["B"]]
        rows = _ranges(self.lanes, self.extent(self.lanes), [*out, *feed], PARTITIONS)
        columns = _ranges(free, self.extent(free), [*out, *feed], _BANK)
        steps = _ranges(K, self.extent(K), feed, PARTITIONS)
        for row, column in product(rows, columns):
            with ExitStack() as stack:
                at = {self.lanes: self._enter(stack, row), free: self._enter(stack, column)}
                self._block(at, steps)

    def _enter(self, stack: ExitStack, part: _Range) -> tuple[Expr, int]:
        """Loops over a range: where an instruction starts, and how much it takes."""
        start: Expr = const(part.offset)
        found = stack.enter_context(loops([(count, False) for count, _ in part.turns], self.context))
        for (_, step), var in zip(part.turns, found, strict=True):
            start = start + var * step
        return simplify(start), part.size

    def _bring(self, name: str) -> None:
        """A matrix with K along its partitions, in SBUF: copied where it is not."""
        side, other = self.sides[name], M if name == "A" else N
        if side.buffer.scope_name == SBUF and not self._wide(side, other, "P") and self._lies_along(side):
            return
        first, second = self.form.dims[name]
        size = [self.extent(first), self.extent(second)]
        shape = [
            -(-n // PARTITIONS) * PARTITIONS if dim == K and n > PARTITIONS else n
            for n, dim in zip(size, (first, second), strict=True)
        ]
        layout = trainium("PF" if first == K else "FP", shape)
        made = self.context.alloc(shape, side.buffer.dtype, SBUF, f"{name.lower()}_turned", layout)
        region: BufferRegion = made[0 : size[0], 0 : size[1]]
        Tx.tile.copy(region, side.region)
        self.sides[name] = Side(name, region, size, (first, second))

    def _lies_along(self, side: Side) -> bool:
        """Whether K runs along the partitions, from the first one on where it goes round them more than once."""
        if self._wide(side, K, "Bank") or (self.extent_of(side, K) > 1 and side.axes(K)[-1].axis != "P"):
            return False
        start = side.start(K)
        return not self._wide(side, K, "F") or (isinstance(start, int) and start % PARTITIONS == 0)

    def _reach(self, name: str, at: dict[int, tuple[Expr, int]]) -> BufferRegion:
        """What an instruction takes of a matrix."""
        side = self.sides[name]
        starts = tuple(
            start if dim is None else simplify(as_expr(start + at[dim][0]))
            for start, dim in zip(side.region.starts, side.dims, strict=True)
        )
        extents = tuple(const(1 if dim is None else at[dim][1]) for dim in side.dims)
        return BufferRegion(side.buffer, starts, extents, span=side.region.span)

    def _block(self, at: dict[int, tuple[Expr, int]], steps: Sequence[_Range]) -> None:
        """One block of the result."""
        result = self._reach(self.out, at)
        size = tuple(at[dim][1] for dim in (self.lanes, N if self.lanes == M else M))
        direct = result.buffer.scope_name == PSUM and result.buffer.dtype.name == "float32" and self._plain()
        bank = result if direct else self._bank((size[0], size[1]))
        accum: Any = self._accum() if direct else False
        for part in steps:
            accum = self._sum(bank, at, part, accum)
        if not direct:
            self._finish(result, bank, at, (size[0], size[1]))

    def _sum(self, bank: Any, at: dict[int, tuple[Expr, int]], part: _Range, accum: Any) -> bool:
        """Products along a range of K; the first replaces what the bank holds unless `accum`."""
        total = prod(count for count, _ in part.turns)
        if accum is not True and total > 1:
            first = _Range(part.offset, part.size, ())
            self._sum(bank, at, first, accum)
            (count, step), *inner = part.turns
            assert not inner
            rest = _Range(part.offset + step, part.size, ((count - 1, step),) if count > 2 else ())
            return self._sum(bank, at, rest, True)
        with ExitStack() as stack:
            every = {**at, K: self._enter(stack, part)}
            nki.matmul(bank, self._reach(self.stationary, every), self._reach(self.moving, every), accum)
        return True

    def _bank(self, size: tuple[int, int]) -> Any:
        given = self.context.workspace("acc_psum")
        if given is None:
            return self.context.alloc(size, "float32", PSUM, "acc")
        return given[0, 0 : size[0], 0 : size[1]] if given.ndim == 3 else given[0 : size[0], 0 : size[1]]

    # ---- scaling ----------------------------------------------------------------------------------------------------

    def _factor(self, name: str, default: float) -> Any:
        value = self.call.operand(name) if name in self.form_scalars else None
        if value is None:
            return default
        return value.value if isinstance(value, IntImm | FloatImm) else value

    @property
    def form_scalars(self) -> tuple[str, ...]:
        """Scalars that the operation has."""
        return ("alpha", "beta") if self.call.op.name == "gemm" else ("accum",)

    def _accum(self) -> Any:
        """Whether products are added to what the result holds."""
        return self._factor("accum", False) if self.call.op.name == "gemm_async" else False

    def _plain(self) -> bool:
        return self.call.op.name == "gemm_async" or (self._factor("alpha", 1.0) == 1 and self._known_zero())

    def _known_zero(self) -> bool:
        beta = self._factor("beta", 0.0)
        return isinstance(beta, int | float) and beta == 0

    def _finish(self, result: BufferRegion, bank: Any, at: dict[int, tuple[Expr, int]], size: tuple[int, int]) -> None:
        """From the bank to the result: scaled, and added to C."""
        accum = self._accum()
        alpha, beta = self._factor("alpha", 1.0), self._factor("beta", 0.0)
        if self.call.op.name == "gemm_async":
            alpha, beta = 1.0, float(bool(accum))
        if isinstance(beta, int | float) and beta == 0:
            _scaled(result, bank, alpha)
            return
        held: Any = self._reach("C", at)
        if not (isinstance(beta, int | float) and beta == 1) or held.buffer.scope_name == PSUM:
            made = self.context.alloc(size, "float32", SBUF)
            _scaled(made, held, beta)
            held = made
        nki.scalar_tensor_tensor(result, bank, alpha, held, "mul", "add")


def _scaled(result: Any, data: Any, factor: Any) -> None:
    if isinstance(factor, int | float) and factor == 1:
        nki.tensor_copy(result, data)
    else:
        nki.tensorscalar(result, data, factor, "mul")


def _emit(call: TileCall, context: DispatchContext) -> None:
    _Product(call, context).emit()


def _matrices(call: TileCall, context: DispatchContext) -> Verdict:
    work = _Product(call, context)
    if "SFA" in call.names and call.operand("SFA") is not None:
        decline(
            "products of blocks with scale factors are not offered: nc_matmul_mx of NeuronCore-v4 takes packed types"
        )
    a, out = (work.sides[name].buffer.dtype.name for name in ("A", work.out))
    if a not in FLOATS or out not in FLOATS:
        decline("the tensor engine multiplies floats (nisa.nc_matmul); cast first", A=a, out=out)
    return accept(M=work.extent(M), N=work.extent(N), K=work.extent(K), stationary=work.stationary)


def _apart(call: TileCall, context: DispatchContext) -> Verdict:
    """Blocks of the result are written while other blocks of the matrices are still to be read."""
    work = _Product(call, context)
    out = work.sides[work.out].region
    for name in ("A", "B"):
        if work.sides[name].buffer is out.buffer and not _disjoint(out, work.sides[name].region, context):
            decline(
                f"`{work.out}` is written where `{name}` is read; give the product a tile of its own",
                buffer=out.buffer.name,
            )
    return accept()


def _disjoint(one: BufferRegion, other: BufferRegion, context: DispatchContext) -> bool:
    """Whether two regions of a buffer provably share no element."""
    prove = context.analyzer.prove
    return any(
        prove(a + n <= b) or prove(b + m <= a)
        for a, n, b, m in zip(one.starts, one.extents, other.starts, other.extents, strict=True)
    )


def _accumulates(call: TileCall, context: DispatchContext) -> Verdict:
    work = _Product(call, context)
    accum, side = work._accum(), work.sides[work.out]
    direct = side.buffer.scope_name == PSUM and side.buffer.dtype.name == "float32"
    if not direct and not isinstance(accum, bool | int):
        decline(
            "whether to add to a tile outside of PSUM is decided while the kernel is built",
            accum=as_expr(accum).script(),
        )
    return accept(accum=accum if isinstance(accum, bool | int) else as_expr(accum).script(), in_psum=direct)


VARIANTS = tuple(
    Variant(
        operation,
        "trn",
        "default",
        priority=10,
        emit=declining(_emit),
        predicates=(
            in_memory(),
            types,
            Predicate("matrices", _matrices),
            Predicate("overlap", _apart),
            Predicate("accumulation", _accumulates),
        ),
        workspace=_WORKSPACE,
        doc=doc,
    )
    for operation, doc in (
        ("gemm", "nc_matmul, summed along K in a bank of PSUM; matrices are transposed where K is not on partitions"),
        ("gemm_async", "as gemm; NKI makes readers wait itself. No scale factors"),
    )
)
