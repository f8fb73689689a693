"""`copy` by `ldmatrix` and `stmatrix`: between shared memory and registers that hold 8 x 8 matrices of 16 bits.

A matrix lies in memory as eight rows of 16 bytes, whose addresses eight lanes give; each lane gets two neighbours of one row,
or with `.trans` of one column. Four, two or one matrices go at a time. PTX ISA 9.7.14.5.15 and 16.
"""

from __future__ import annotations

from collections.abc import Sequence

from tirx.ir import Expr, TileCall, as_expr
from tirx.tile import Declined, Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import Tile, copy_tiles, has_runs, is_unit, owners_of

from ..layout.mma import ldmatrix_layout
from ..ptx.chain import ptx
from .lanes import Fragments, Registers, fragments, parts

__all__ = ["VARIANTS"]

SIDE = 8  # rows and columns of a matrix
BLOCKS = ((2, 2), (1, 4), (4, 1), (2, 1), (1, 2), (1, 1))  # matrices that go at a time, by rows and columns


class Plan:
    """Which matrices go at a time, and which registers hold them."""

    def __init__(self, call: TileCall, context: DispatchContext) -> None:
        target, source = copy_tiles(call, context)
        self.loads = target.storage == "distributed"
        self.tile, self.memory = (target, source) if self.loads else (source, target)
        self.context = context
        self.dims = _matrix_dims(self.tile)
        self.run, self.transposed, self.found = self._matrices()
        rows, columns = (self.found.counts[dim] for dim in self.dims)
        self.block = next(block for block in BLOCKS if rows % block[0] == columns % block[1] == 0)
        blocked = dict(zip(self.dims, self.block, strict=True))
        self.sizes = [blocked.get(dim, 1) for dim in range(len(self.tile.extents))]

    def _matrices(self) -> tuple[int, bool, Fragments]:
        """The dimension that memory keeps together, whether `.trans` is needed, and the registers of each matrix."""
        run = _run_dim(self.memory, self.dims)
        if run is None:
            decline(f"no rows of 16 bytes of `{self.memory.buffer.name}` lie together and aligned")
        shape = [SIDE if dim in self.dims else 1 for dim in range(len(self.tile.extents))]
        for transposed in (False, True):
            found = _fragments(self.tile, shape, transposed=transposed)
            if found is not None:
                return run, transposed != (run == self.dims[0]), found
        return decline(
            f"`{self.tile.buffer.name}` does not hold 8 x 8 matrices as the instruction gives them to the lanes"
        )

    @property
    def order(self) -> list[tuple[int, int]]:
        """Row and column of each matrix of a block: those that lie behind each other come first, so that lines count on."""
        rows, columns = map(range, self.block)
        if self.run == self.dims[0]:
            return [(row, column) for row in rows for column in columns]
        return [(row, column) for column in columns for row in rows]

    @property
    def mnemonic(self) -> str:
        """The instruction."""
        count = self.block[0] * self.block[1]
        trans = ".trans" if self.transposed else ""
        return f"{'ld' if self.loads else 'st'}matrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"


def _fragments(tile: Tile, shape: Sequence[int], *, transposed: bool) -> Fragments | None:
    """The matrices of a tile, or None when they lie otherwise."""
    try:
        return fragments(tile, ldmatrix_layout(1, transposed=transposed), shape, 2)
    except Declined:
        return None


def _matrix_dims(tile: Tile) -> tuple[int, int]:
    """The two dimensions that matrices lie in."""
    long = [dim for dim, extent in enumerate(tile.extents) if not is_unit(extent)]
    if len(long) < 2:
        decline(f"`{tile.buffer.name}` has fewer than two dimensions", extents=tile.extents)
    return long[-2], long[-1]


def _run_dim(memory: Tile, dims: Sequence[int]) -> int | None:
    """The dimension of the space along which eight elements of memory lie together."""
    for own, dim in reversed(list(enumerate(memory.dims))):
        if dim is not None and dim in dims and has_runs(memory, SIDE, own):
            return dim
    return None


def _plan(call: TileCall, context: DispatchContext) -> Plan:
    return context.once(Plan, lambda: Plan(call, context))


# ---- predicates -----------------------------------------------------------------------------------------------------


def _sides(call: TileCall, context: DispatchContext) -> Verdict:
    target, source = copy_tiles(call, context)
    tiles = {"dst": target, "src": source}
    spread = [name for name, tile in tiles.items() if tile.storage == "distributed"]
    shared = [name for name, tile in tiles.items() if tile.scope.startswith("shared")]
    if len(spread) != 1 or len(shared) != 1:
        decline("one side is shared memory, the other spread over registers", dst=target.scope, src=source.scope)
    if target.dtype.bits != 16:
        decline("elements have 16 bits", dtype=target.dtype.name)
    return accept()


def _whole_warps(call: TileCall, context: DispatchContext) -> Verdict:
    if context.scope == "thread" or context.threads % 32 or not context.active.is_full("warp"):
        decline("an instruction of whole warps", threads=context.threads)
    return accept()


def _matrices(call: TileCall, context: DispatchContext) -> Verdict:
    plan = _plan(call, context)
    arch, present = context.target["arch"], ptx[plan.mnemonic].archs
    if arch not in present:
        decline("the architecture lacks the instruction", arch=arch, since=present[0])
    return accept(instruction=plan.mnemonic)


# ---- emission -------------------------------------------------------------------------------------------------------


def emit_matrices(call: TileCall, context: DispatchContext) -> None:
    """One instruction per block of matrices."""
    plan = _plan(call, context)
    lane = context.analyzer.simplify(as_expr(context.id("thread", "warp")))
    base = _warp_base(plan)
    blocks = plan.found.grouped(plan.sizes)
    registers = Registers(plan.tile, blocks)
    instruction = ptx[plan.mnemonic]
    for block in parts(blocks.counts, context, regular=registers.regular is not None):
        held, address = registers.of(block), _address(plan, base, block, lane)
        values = [held[row * plan.block[1] + column] for row, column in plan.order]
        instruction(*values, address) if plan.loads else instruction(address, *values)


def _warp_base(plan: Plan) -> list[Expr | int]:
    """Where the part of this warp begins in the space."""
    base: list[Expr | int] = [0] * len(plan.tile.extents)
    for part in owners_of(plan.tile).parts:
        if part.dim is not None and part.digit is not None and part.axis != "laneid":
            base[part.dim] = base[part.dim] + part.digit * part.weight
    return base


def _address(plan: Plan, base: Sequence[Expr | int], block: Sequence[Expr | int], lane: Expr) -> Expr:
    """The row of a matrix that a lane gives: lanes count rows first, over all matrices that lie behind each other."""
    coords = list(base)
    for dim, count in zip(plan.dims, plan.block, strict=True):
        lines = SIDE * plan.block[dim == plan.dims[0]]  # of the other dimension
        within = lane // lines % count * SIDE if dim == plan.run else lane % (count * SIDE)
        coords[dim] = plan.context.analyzer.simplify(
            as_expr(coords[dim] + block[dim] * plan.sizes[dim] * SIDE + within)
        )
    address: Expr = plan.memory.buffer.ptr_to(plan.memory.indices(coords))
    return address


VARIANTS = (
    Variant(
        "copy", "cuda", "ldstmatrix", priority=10, emit=emit_matrices, doc="8 x 8 matrices of 16 bits, by `ldmatrix` and `stmatrix`",
        predicates=(
            Predicate("shared memory and registers", _sides), Predicate("whole warps", _whole_warps),
            Predicate("8 x 8 matrices", _matrices),
        ),
    ),
)  # fmt: skip
