"""A thread's share of a tile operation: the loops it runs, and the coordinates it handles in them.

evenly      neighbours take neighbouring elements (or vectors), round after round; the last round is guarded
whole       the thread goes over all of it: private tiles
owned       the thread goes over what a distributed tile gives it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .. import script as Tx
from ..ir import Expr, Var, as_expr, logical_and
from ..ir.sizes import product
from .operand import Held, is_unit
from .owners import Owners, coordinates, held_at, owners_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..arith import Analyzer
    from ..tile.context import DispatchContext
    from .operand import Index, Tile

__all__ = ["Evenly", "Owned", "Share", "Whole", "loops", "split", "when"]

Coords = tuple["Index", ...]


class Share:
    """What one thread does. `each()` opens the loops and the guard, and gives the coordinates of one element.

    With a `vector` the innermost dimension is taken that many elements at a time: `each()` runs over the lanes of a vector
    in a vectorised loop, `chunks()` gives the first element of each vector only.
    """

    __slots__ = ("context", "vector")

    def __init__(self, context: DispatchContext, vector: int = 1) -> None:
        self.context = context
        self.vector = vector

    def extents(self) -> tuple[tuple[Index, bool], ...]:
        """The loops: how long, and whether they must be unrolled (they index registers)."""
        raise TypeError(f"{type(self).__name__} must define extents()")

    def at(self, steps: Sequence[Expr], analyzer: Analyzer) -> tuple[Coords, tuple[Expr, ...]]:
        """Coordinates in step `steps` of the loops, and what must hold for them to be this thread's."""
        raise TypeError(f"{type(self).__name__} must define at()")

    @contextmanager
    def steps(self) -> Iterator[tuple[list[Expr], Coords]]:
        """The loops and the guard, once per vector: the loops' variables and the coordinates."""
        with loops(self.extents(), self.context) as steps:
            coords, guards = self.at(steps, self.context.analyzer)
            with when(guards):
                yield steps, coords

    @contextmanager
    def chunks(self) -> Iterator[Coords]:
        """The loops and the guard, once per vector."""
        with self.steps() as (_, coords):
            yield coords

    @contextmanager
    def each(self) -> Iterator[Coords]:
        """The loops and the guard, once per element."""
        with self.chunks() as coords:
            if self.vector == 1:
                yield coords
                return
            with Tx.vectorized(self.vector) as lane:
                self.context.analyzer.bind(lane, 0, self.vector - 1)
                yield coords.beside(lane) if isinstance(coords, Held) else (*coords[:-1], as_expr(coords[-1]) + lane)

    def sample(self) -> tuple[Coords, Analyzer]:
        """Coordinates of any step, for predicates: with an analyzer that knows the loops."""
        analyzer = self.context.analyzer.child()
        steps = []
        for extent, _ in self.extents():
            step = Var("step", as_expr(0).dtype)
            analyzer.bind(step, 0, extent - 1 if isinstance(extent, int) else None)
            steps.append(step)
        return self.at(steps, analyzer)[0], analyzer


class Evenly(Share):
    """Element (or vector) `round * threads + rank` of the space, counted row-major."""

    __slots__ = ("count", "space")

    def __init__(self, space: Sequence[Index], context: DispatchContext, vector: int = 1) -> None:
        super().__init__(context, vector)
        self.space = tuple(space)
        total = product(self.space)
        self.count: Index = total // vector  # vectors in all

    def extents(self) -> tuple[tuple[Index, bool], ...]:
        """A loop over rounds, where one is not enough."""
        threads = self.context.threads
        rounds = -(-self.count // threads) if isinstance(self.count, int) else Tx.ceildiv(self.count, threads)
        return () if isinstance(rounds, int) and rounds == 1 else ((rounds, False),)

    def at(self, steps: Sequence[Expr], analyzer: Analyzer) -> tuple[Coords, tuple[Expr, ...]]:
        """The chunk of this round, and whether there is one."""
        threads = self.context.threads
        rank = as_expr(self.context.rank)
        number = rank if not steps else steps[0] * threads + rank
        full = isinstance(self.count, int) and self.count % threads == 0
        guards = () if full else (analyzer.simplify(as_expr(number < self.count)),)
        if self.vector == 1:
            return split(number, self.space, analyzer), guards
        *outer, inner = split(number, (*self.space[:-1], self.space[-1] // self.vector), analyzer)
        return (*outer, inner * self.vector), guards


class Whole(Share):
    """Every element, by every thread."""

    __slots__ = ("space",)

    def __init__(self, space: Sequence[Index], context: DispatchContext, vector: int = 1) -> None:
        super().__init__(context, vector)
        self.space = tuple(space)

    def extents(self) -> tuple[tuple[Index, bool], ...]:
        """A loop per dimension."""
        inner = self.space[-1] // self.vector
        return tuple((extent, isinstance(extent, int)) for extent in (*self.space[:-1], inner))

    def at(self, steps: Sequence[Expr], analyzer: Analyzer) -> tuple[Coords, tuple[Expr, ...]]:
        """The loops' variables themselves."""
        return (*steps[:-1], steps[-1] * self.vector if self.vector > 1 else steps[-1]), ()


class Owned(Share):
    """The elements that a distributed tile gives to this thread; `once` picks one thread where several hold the same."""

    __slots__ = ("once", "owners", "space", "tile")

    def __init__(self, tile: Tile, space: Sequence[Index], *, once: bool = False, vector: int = 1) -> None:
        super().__init__(tile.context, vector)
        self.tile = tile
        self.space = tuple(space)
        self.owners: Owners = owners_of(tile)
        self.once = once

    def extents(self) -> tuple[tuple[Index, bool], ...]:
        """A loop per register part."""
        found = [part.extent for part in self.owners.parts if part.digit is None]
        if self.vector > 1:
            found[-1] //= self.vector
        return tuple((extent, True) for extent in found if extent > 1)

    def at(self, steps: Sequence[Expr], analyzer: Analyzer) -> tuple[Coords, tuple[Expr, ...]]:
        """Digits of the thread's ids and registers put together."""
        held = [part for part in self.owners.parts if part.digit is None]
        if self.vector > 1 and held[-1].extent == self.vector:
            held = held[:-1]
        taken = dict(zip(held, steps, strict=True))
        if self.vector > 1 and len(held) == len([part for part in self.owners.parts if part.digit is None]):
            taken[held[-1]] = taken[held[-1]] * self.vector
        coords = held_at(self.tile, coordinates(self.owners.parts, taken, len(self.space), analyzer), taken)
        return coords, (*self.owners.guards, *(self.owners.first if self.once else ()))


def split(number: Expr, space: Sequence[Index], analyzer: Analyzer) -> Coords:
    """The coordinates of element `number` of `space`, counted row-major."""
    coords: list[Index] = []
    for dim in reversed(range(len(space))):
        extent = space[dim]
        if is_unit(extent):
            coords.append(0)
            continue
        coords.append(
            analyzer.simplify(number % extent) if not all(map(is_unit, space[:dim])) else analyzer.simplify(number)
        )
        number = analyzer.simplify(number // extent)
    return tuple(reversed(coords))


@contextmanager
def loops(extents: Sequence[tuple[Index, bool]], context: DispatchContext) -> Iterator[list[Expr]]:
    """Loops inside each other, of the extents that are given; where they index registers they are unrolled."""
    if not extents:
        yield []
        return
    unrolled = all(registers for _, registers in extents)
    if len(extents) == 1:  # a frame of its own, so that the loop is named after this variable
        with Tx.grid(extents[0][0], unroll=unrolled) as i:
            yield _bound([i], extents, context)
        return
    with Tx.grid(*(extent for extent, _ in extents), unroll=unrolled) as steps:
        yield _bound(steps, extents, context)


def _bound(steps: Sequence[Var], extents: Sequence[tuple[Index, bool]], context: DispatchContext) -> list[Expr]:
    """The loops' variables, known to the analyzer."""
    for step, (extent, _) in zip(steps, extents, strict=True):
        context.analyzer.bind(step, 0, extent - 1 if isinstance(extent, int) else None)
    return list(steps)


@contextmanager
def when(conditions: Sequence[Expr]) -> Iterator[None]:
    """A branch on all of `conditions`; none where there are none."""
    if not conditions:
        yield
        return
    every = conditions[0]
    for condition in conditions[1:]:
        every = logical_and(every, condition)
    with Tx.If(every), Tx.Then():
        yield
