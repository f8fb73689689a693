"""The threads that an active set speaks of: one member of the widest level whose size is known before the launch.

On a machine with threads that is a cta of constant size (a cluster, where the kernel declares one); where only the launch
knows how many threads a cta has, it is the widest level of fixed width inside. On a machine without threads it is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..analysis import Extents
from ..ir.sizes import Size
from ..target import ScopeModel

__all__ = ["Space"]

THREAD = "thread"


class Space:
    """`levels`, outermost first, with the number of threads in one member of each in `sizes`; the first one holds them all.

    Levels wider than a cta count only where calls of `scopes` need them: they have many threads.
    """

    __slots__ = ("_scopes", "depths", "dims", "levels", "model", "reasons", "sizes")

    def __init__(self, model: ScopeModel, extents: Extents | None = None, scopes: Iterable[str] = ()) -> None:
        self.model = model
        self._scopes = frozenset(scopes)
        self.depths = {name: number for number, name in enumerate(model.names or ("kernel", THREAD))}
        self.reasons: dict[str, str] = {}
        self.sizes = {THREAD: 1} if extents is None else self._sizes(extents)
        self.levels = tuple(self.sizes)
        self.dims: dict[tuple[str, str], tuple[Size, ...]] = (
            {} if extents is None else {pair: fact.dims for pair, fact in extents.facts.items()}
        )

    def _sizes(self, extents: Extents) -> dict[str, int]:
        """Threads per member of each level below the launch, as far as that is known."""
        wanted = min((self.depth(name) for name in ("cta", *self._scopes) if name in self.depths), default=0)
        known = {name: self._size(extents, name) for name in self.model.names[1:-1] if self.depth(name) >= wanted}
        return self._nested({name: size for name, size in known.items() if size is not None} | {THREAD: 1})

    def _size(self, extents: Extents, name: str) -> int | None:
        if name not in extents.active:
            return self.model.fixed_width(name, THREAD)
        size = extents.total(name, THREAD)
        if not isinstance(size, int):
            self.reasons[name] = f"only the launch knows how many threads a {name} has"
            return None
        if extents.preferred and name == self.model["cta"].preferred:
            self.reasons[name] = f"the launch chooses between two sizes of a {name}"
            return None
        return size

    def _nested(self, found: dict[str, int]) -> dict[str, int]:
        """Without levels of fixed width that this launch has no whole number of."""
        kept: dict[str, int] = {}
        for name, size in found.items():
            around = next(reversed(kept.items()), (name, size))
            if around[1] % size == 0:
                kept[name] = size
            else:
                self.reasons[name] = (
                    f"a {around[0]} of this launch has {around[1]} threads, no whole number of {name}s of {size}"
                )
        return kept

    @property
    def count(self) -> int:
        """How many threads there are."""
        return self.sizes[self.levels[0]]

    @property
    def everyone(self) -> int:
        """The mask of all threads."""
        return (1 << self.count) - 1

    def holds(self, level: str) -> bool:
        """Whether the members of `level` lie inside, as sets of threads."""
        return level in self.sizes

    def why_not(self, level: str) -> str:
        """Why `level` does not lie inside, in words."""
        if not self.dims:
            return "a function that kernels call does not know how they are launched"
        return self.reasons.get(level, f"this launch has no {level}s")

    def depth(self, level: str) -> int:
        """Position of a level: larger is further inside."""
        return self.depths.get(level, len(self.depths) - 1)

    def inner(self, a: str, b: str) -> str:
        """The level of the two that lies further inside."""
        return a if self.depth(a) >= self.depth(b) else b

    def ids(self, within: str, child: str, dimension: int = 0) -> list[int] | None:
        """The id of each thread's `child` inside its `within`; None where it does not follow from the position."""
        if not (self.holds(within) and self.holds(child)) or self.sizes[within] % self.sizes[child]:
            return None
        outer, inner = self.sizes[within], self.sizes[child]
        linear = [position % outer // inner for position in range(self.count)]
        dims = self.dims.get((within, child), ())
        return linear if len(dims) < 2 else _component(linear, dims, dimension)

    def level_of(self, values: Sequence[int], mask: int) -> str:
        """The widest level whose members agree on `values`, among the threads of `mask`."""
        seen: Sequence[int | None] = values
        if mask != self.everyone:
            seen = [value if mask >> position & 1 else None for position, value in enumerate(values)]
        for level in self.levels:
            size = self.sizes[level]
            if all(len({*seen[start : start + size]} - {None}) <= 1 for start in range(0, self.count, size)):
                return level
        return THREAD

    def members(self, level: str, mask: int) -> list[int]:
        """The masks of those members of `level` that have threads in `mask`, each counted from its own first thread."""
        size = self.sizes[level]
        part = (1 << size) - 1
        found = (mask >> start & part for start in range(0, self.count, size))
        return [item for item in found if item]


def _component(linear: Sequence[int], dims: Sequence[Size], dimension: int) -> list[int] | None:
    """One component of a linear index, dimension 0 fastest."""
    known = [size for size in dims if isinstance(size, int)]
    if len(known) != len(dims) or dimension >= len(known):
        return None
    below = 1
    for size in known[:dimension]:
        below *= size
    return [value // below % known[dimension] for value in linear]
