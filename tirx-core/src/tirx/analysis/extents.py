"""How many members of each level a launch has, worked out from what a kernel declares and what its target fixes.

Extents multiply along the chain of levels: `N(a, c) = N(a, b) * N(b, c)`. Whatever two of the three say gives the
third; what disagrees or does not divide is an error that names both declarations. Levels with several launch axes
(`cta.x`, `cta.y`) multiply dimension by dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ..arith import simplify
from ..ir import EQ, Expr, FloorDiv, FloorMod, IntImm, as_expr, binary, const
from ..ir.sizes import Size, product, size_of
from ..support.errors import Diagnostic
from ..target import ScopeModel
from .launch_ids import Declaration, plural, size_text

__all__ = ["Extents", "resolve_extents"]

Pair = tuple[str, str]


class Fact:
    """The size of one pair of levels, and where it comes from."""

    __slots__ = ("because", "dims", "fixed", "given")

    def __init__(
        self, dims: Sequence[Size], because: Sequence[str], given: Declaration | None = None, *, fixed: bool = False
    ) -> None:
        self.fixed = fixed
        self.dims = tuple(dims)
        self.because = tuple(dict.fromkeys(because))
        self.given = given

    @property
    def total(self) -> Size:
        """All dimensions together."""
        return product(self.dims)

    @property
    def why(self) -> str:
        """Where it comes from, in words."""
        return " and ".join(self.because)


class Extents:
    """The resolved launch: the size of each pair of levels.

    `checks` are conditions, with messages, that only the launch itself can test.
    """

    __slots__ = ("active", "checks", "done", "facts", "model", "preferred", "problems")

    def __init__(self, model: ScopeModel, active: Sequence[str]) -> None:
        self.model = model
        self.active = tuple(active)
        self.facts: dict[Pair, Fact] = {}
        self.checks: list[tuple[Expr, str]] = []
        self.done: set[tuple[str, str, str]] = set()
        self.problems: list[Diagnostic] = []
        self.preferred: tuple[Size, ...] = ()

    def dims(self, parent: str, child: str) -> tuple[Size, ...]:
        """Extents per dimension; one dimension for levels without axes."""
        return self.facts[parent, child].dims

    def total(self, parent: str, child: str) -> Size:
        """Members of `child` in one `parent`."""
        return 1 if parent == child else self.facts[parent, child].total

    def levels(self) -> dict[Pair, int | None]:
        """All sizes; None where the launch decides."""
        found = {pair: fact.total for pair, fact in self.facts.items()}
        known: dict[Pair, int | None] = {pair: size if isinstance(size, int) else None for pair, size in found.items()}
        for level in self.model.levels:
            for outer, width in level.widths.items():
                known.setdefault((outer, level.name), width)
        return known

    def by_axes(self, pair: Pair) -> bool:
        """Whether a level is indexed by axes inside another, dimension by dimension."""
        level = self.model[pair[1]]
        return pair[0] in level.axes or pair[0] in level.reads


def resolve_extents(model: ScopeModel, found: Sequence[Declaration]) -> Extents:
    """The extents of a launch; `problems` say what is wrong."""
    extents = Extents(model, _active_levels(model, found))
    _declare(extents, found)
    for pair in _pairs(extents.active):
        width = model.fixed_width(*pair)
        if width is not None:
            _learn(
                extents, pair, Fact((width,), (f"{plural(pair[1], width)} in a {pair[0]} on this target",), fixed=True)
            )
    _close(extents)
    if extents.problems:  # what merely follows from declarations that disagree has no place of its own
        extents.problems = [item for item in extents.problems if item.span is not None] or extents.problems
        return extents
    _check_deferred(extents, found)
    _fill(extents)
    _check_ranks(extents, found)
    return extents


def _active_levels(model: ScopeModel, found: Sequence[Declaration]) -> list[str]:
    """Levels that this launch has: those that a launch always sizes, and those that the kernel mentions."""
    mentioned = {name for item in found for name in (item.parent, item.child)}
    for level in model.levels:
        if level.name in mentioned and level.requires:
            mentioned.add(level.requires)
    always = {model.levels[0].name} if model.levels else set()
    always |= {level.name for level in model.levels if level.axes and not level.optional}
    return [name for name in model.names if name in mentioned or name in always]


def _pairs(active: Sequence[str]) -> list[Pair]:
    return list(combinations(active, 2))


def _declare(extents: Extents, found: Sequence[Declaration]) -> None:
    """Take over what was declared: ids as they are, bound loops of one pair of levels side by side."""
    loops: dict[Pair, dict[int, Declaration]] = {}
    for item in found:
        if item.preferred is not None:
            extents.preferred = item.preferred
        if item.dims is None:
            continue
        pair = (item.parent, item.child)
        if not item.is_loop:
            _learn(extents, pair, _fact(item))
            continue
        other = loops.setdefault(pair, {}).setdefault(item.first, item)
        if other is not item:
            _agree(extents, pair, (_fact(other).total, _fact(other)), (_fact(item).total, _fact(item)))
    for pair, by_dimension in loops.items():
        items = list(by_dimension.values())
        dims = [_fact(by_dimension[d]).total if d in by_dimension else 1 for d in range(max(by_dimension) + 1)]
        _learn(extents, pair, Fact(dims, [item.where for item in items], items[-1]))


def _fact(item: Declaration) -> Fact:
    return Fact(item.dims or (), (item.where,), item)


def _is_one(size: Size) -> bool:
    return isinstance(size, int) and size == 1


def _padded(dims: Sequence[Size], count: int) -> tuple[Size, ...]:
    return (*dims, *(1,) * (count - len(dims)))


def _learn(extents: Extents, pair: Pair, fact: Fact) -> bool:
    """Note a fact; True when it is new. One that contradicts what is known is a problem."""
    old = extents.facts.get(pair)
    if old is None:
        extents.facts[pair] = fact
        return True
    if len(old.dims) != len(fact.dims) and extents.by_axes(pair):
        count = max(len(old.dims), len(fact.dims))
        sides = (
            [(old.total, fact.total)]
            if 1 in (len(old.dims), len(fact.dims))
            else list(zip(_padded(old.dims, count), _padded(fact.dims, count), strict=True))
        )
    else:
        sides = list(zip(old.dims, fact.dims, strict=True))
    for a, b in sides:
        _agree(extents, pair, (a, old), (b, fact))
    return False


def _agree(extents: Extents, pair: Pair, one: tuple[Size, Fact], two: tuple[Size, Fact]) -> None:
    (a, old), (b, new) = one, two
    if isinstance(a, int) and isinstance(b, int):
        if a != b:
            later = new.given or old.given
            declared, other, count, real = (new, old, b, a) if new.given else (old, new, a, b)
            extents.problems.append(
                Diagnostic(
                    f"{declared.given.label if declared.given else declared.why} declares "
                    f"{plural(pair[1], count)} in a {pair[0]}, but there are "
                    f"{other.why if other.fixed else f'{size_text(real)}: {other.why}'}",
                    later.span if later else None,
                    hint="make them agree, or leave the extent out where it follows from the others",
                )
            )
        return
    if old.given is None and new.given is None:
        return  # both follow from the same declarations
    difference = simplify(binary(EQ, as_expr(a), as_expr(b)))
    if isinstance(difference, IntImm) and difference.value:
        return
    extents.checks.append((difference, f"{plural(pair[1], a)} in a {pair[0]} ({old.why}) disagree with {new.why}"))


def _close(extents: Extents) -> None:
    """Apply `N(a, c) = N(a, b) * N(b, c)` until nothing more follows."""
    changed = True
    while changed and not extents.problems:
        changed = False
        for a, b, c in combinations(extents.active, 3):
            if (a, b, c) not in extents.done:
                changed |= _step(extents, a, b, c)


def _step(extents: Extents, a: str, b: str, c: str) -> bool:
    facts = extents.facts
    whole, outer, inner = facts.get((a, c)), facts.get((a, b)), facts.get((b, c))
    if outer is not None and inner is not None:
        extents.done.add((a, b, c))
        dims = _combined(extents, (a, b, c), outer, inner)
        return _learn(extents, (a, c), Fact(dims, (*outer.because, *inner.because)))
    if whole is None or (outer is None and inner is None):
        return False
    known, pair, wanted = (inner, (b, c), (a, b)) if inner is not None else (outer, (a, b), (b, c))
    assert known is not None
    extents.done.add((a, b, c))
    divided = _divided(extents, (a, c), whole, pair, known)
    return divided is not None and _learn(extents, wanted, Fact(divided, (*whole.because, *known.because)))


def _componentwise(extents: Extents, a: str, b: str, c: str) -> bool:
    return all(extents.by_axes(pair) for pair in ((a, b), (b, c), (a, c)))


def _combined(extents: Extents, levels: tuple[str, str, str], outer: Fact, inner: Fact) -> tuple[Size, ...]:
    if not _componentwise(extents, *levels):
        return (product((outer.total, inner.total)),)
    count = max(len(outer.dims), len(inner.dims))
    sides = zip(_padded(outer.dims, count), _padded(inner.dims, count), strict=True)
    return tuple(product(side) for side in sides)


def _divided(extents: Extents, whole_pair: Pair, whole: Fact, pair: Pair, known: Fact) -> tuple[Size, ...] | None:
    levels = (whole_pair[0], pair[1] if pair[0] == whole_pair[0] else pair[0], whole_pair[1])
    if not _componentwise(extents, *levels):
        quotient = _quotient(extents, whole_pair, (whole.total, whole), pair, (known.total, known))
        return None if quotient is None else (quotient,)
    count = max(len(whole.dims), len(known.dims))
    found = [
        _quotient(extents, whole_pair, (a, whole), pair, (b, known))
        for a, b in zip(_padded(whole.dims, count), _padded(known.dims, count), strict=True)
    ]
    return None if any(item is None for item in found) else tuple(item for item in found if item is not None)


def _quotient(
    extents: Extents, whole_pair: Pair, whole: tuple[Size, Fact], pair: Pair, part: tuple[Size, Fact]
) -> Size | None:
    (a, whole_fact), (b, part_fact) = whole, part
    text = (
        f"{plural(whole_pair[1], a)} in a {whole_pair[0]} ({whole_fact.why}) are not a multiple of "
        f"{part_fact.why if part_fact.fixed else f'{plural(pair[1], b)} in a {pair[0]} ({part_fact.why})'}"
    )
    if isinstance(a, int) and isinstance(b, int):
        if b and a % b == 0:
            return a // b
        at = part_fact.given or whole_fact.given
        extents.problems.append(Diagnostic(text, at.span if at else None))
        return None
    if isinstance(b, int) and isinstance(a, Expr):
        rest = simplify(binary(FloorMod, a, const(b, a.dtype)))
        if not (isinstance(rest, IntImm) and rest.value == 0):
            extents.checks.append((binary(EQ, rest, const(0, rest.dtype)), text))
        return size_of(simplify(binary(FloorDiv, a, const(b, a.dtype))))
    return None


def _check_deferred(extents: Extents, found: Sequence[Declaration]) -> None:
    for item in found:
        if item.dims is None and (item.parent, item.child) not in extents.facts:
            extents.problems.append(
                Diagnostic(
                    f"the extent of {item.label} does not follow from the other declarations",
                    item.span,
                    hint=f"give it: how many {item.child}s are in one {item.parent}, as a list such as [4]",
                )
            )


def _fill(extents: Extents) -> None:
    """What nobody declares is there once."""
    for pair in zip(extents.active, extents.active[1:], strict=False):
        if extents.problems:
            return
        if pair not in extents.facts:
            extents.facts[pair] = Fact((1,), (f"1 {pair[1]} in a {pair[0]}, as nothing else is declared",))
            _close(extents)


def _check_ranks(extents: Extents, found: Sequence[Declaration]) -> None:
    for item in found:
        fact = extents.facts.get((item.parent, item.child))
        if fact is None or item.dims is not None:
            continue
        beyond = fact.dims[len(item.vars) :]
        if any(not _is_one(size) for size in beyond):
            extents.problems.append(
                Diagnostic(
                    f"{item.label} has {len(fact.dims)} dimensions: {fact.why}",
                    item.span,
                    hint=f"give its extents, and one id per dimension: [{', '.join(map(size_text, fact.dims))}]",
                )
            )
