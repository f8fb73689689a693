"""Which threads reach a place in a kernel, as far as that is known before the launch.

The set is exact where the conditions on the way are functions of scope ids (any functions: comparisons, sums, `%`, `//`, also
their negations in `else` branches and after an early `return`). What is not understood is noted with the level at which it is
the same for all threads: inside one member of that level everybody agrees, so that operations of that scope are not concerned.

Of a set from which an `elect`-like instruction chose, it is known how many were chosen and not which: `choice` says among which
members, inside which level.
"""

from __future__ import annotations

from collections.abc import Sequence

from .space import THREAD, Space
from .steps import numbers, progressions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import Expr
    from ..support.span import Span

__all__ = ["ActiveSet", "Share", "Unclear"]


class Unclear:
    """A condition on the way: what it is (an expression, negated or not, or words), its line, the level at which it is uniform."""

    __slots__ = ("level", "negated", "source", "span")

    def __init__(self, source: Expr | str, level: str, span: Span | None = None, *, negated: bool = False) -> None:
        self.source = source
        self.level = level
        self.span = span
        self.negated = negated

    @property
    def text(self) -> str:
        """The condition as it reads in the kernel."""
        if isinstance(self.source, str):
            return self.source
        text = self.source.script()
        return f"`not ({text})`" if self.negated else f"`{text}`"

    @property
    def where(self) -> str:
        """The condition with its line."""
        return f"{self.text} in line {self.span.line}" if self.span is not None else self.text

    def at(self, level: str) -> Unclear:
        """The same, uniform at `level` only."""
        return Unclear(self.source, level, self.span, negated=self.negated)


class Share:
    """The threads of one member of a scope that do an operation together.

    `threads` is how many. They are `outer` members of level `unit`, by the mask of their numbers in the scope, and in each
    the threads of `child` whose numbers are in the mask `inner`; without a choice `unit` is the thread and `inner` one.
    """

    __slots__ = ("child", "inner", "outer", "scope", "unit")

    def __init__(self, scope: str, outer: int, unit: str = THREAD, inner: int = 1, child: str = THREAD) -> None:
        self.scope = scope
        self.outer = outer
        self.unit = unit
        self.inner = inner
        self.child = child

    @property
    def threads(self) -> int:
        """How many threads there are."""
        return self.outer.bit_count() * self.inner.bit_count()


class ActiveSet:
    """The active threads of a `space`: a mask, an optional choice among them, and what is unclear. Immutable."""

    __slots__ = ("choice", "mask", "reasons", "space", "unclear")

    def __init__(
        self,
        space: Space,
        mask: int | None = None,
        *,
        choice: tuple[str, str] | None = None,
        unclear: Sequence[Unclear] = (),
        reasons: Sequence[Unclear] = (),
    ) -> None:
        self.space = space
        self.mask = space.everyone if mask is None else mask
        self.choice = choice
        self.unclear = tuple(unclear)
        self.reasons = tuple(reasons)  # the conditions that were understood, for messages

    def _with(self, mask: int, *reasons: Unclear) -> ActiveSet:
        return ActiveSet(self.space, mask, choice=self.choice, unclear=self.unclear, reasons=(*self.reasons, *reasons))

    # ---- narrowing ------------------------------------------------------------------------------------------------

    def where(self, truth: Sequence[int], reason: Unclear) -> ActiveSet:
        """The threads for which a condition holds, given its value for each thread of the space."""
        kept = self.mask & int("".join("1" if item else "0" for item in reversed(truth)), 2)
        if kept == self.mask:
            return self
        if self.choice is not None and not self._chosen_agree(kept):
            return self.unknown(reason.at(THREAD))
        return self._with(kept, reason)

    def _chosen_agree(self, kept: int) -> bool:
        """Whether narrowing to `kept` treats all candidates of one choice alike."""
        assert self.choice is not None
        within, child = self.choice
        size, inner = self.space.sizes[within], self.space.sizes[child]
        full = (1 << inner) - 1
        for start in range(0, self.space.count, size):
            places = [at for at in range(start, start + size, inner) if self.mask >> at & full]
            if len({kept >> at & full for at in places}) > 1:
                return False
        return True

    def unknown(self, what: Unclear) -> ActiveSet:
        """The set behind a condition that is not known: some of these threads, whole members of its level."""
        return ActiveSet(self.space, self.mask, choice=self.choice, unclear=(*self.unclear, what), reasons=self.reasons)

    def chosen(self, within: str, child: str, reason: Unclear) -> ActiveSet:
        """One `child` of each member of `within`, and nobody knows which."""
        space = self.space
        if not (space.holds(within) and space.holds(child)):
            return self.unknown(reason.at(child))
        if self.choice is not None:
            outer, old = self.choice
            if space.depth(within) < space.depth(old):
                return self if (outer, old) == (within, child) else self.unknown(reason.at(child))
            within = outer
        if len(set(space.members(child, self.mask))) > 1:
            return self.unknown(reason.at(child))
        return ActiveSet(
            space, self.mask, choice=(within, child), unclear=self.unclear, reasons=(*self.reasons, reason)
        )

    def joined(self, other: ActiveSet, mine: ActiveSet, others: ActiveSet, before: ActiveSet) -> ActiveSet:
        """The threads of both sides of a branch that `before` came to, `mine` and `others` entered, and these two came out of."""
        new = [item for side in (self, other) for item in side.unclear if item not in before.unclear]
        unclear = dict.fromkeys(before.unclear)
        if new:  # whoever left may be any of these threads, down to the level at which the sides differ
            changed = self.choice != before.choice or other.choice != before.choice
            parts = [(mine.mask, before.mask), (self.mask, mine.mask), (other.mask, others.mask)]
            levels = [self._level_of(part, whole) for part, whole in parts]
            levels += [item.level for item in new] + [THREAD] * changed
            finest = max(levels, key=self.space.depth)
            unclear.update(dict.fromkeys(item.at(finest) for item in new))
        reasons = dict.fromkeys((*self.reasons, *other.reasons))
        return ActiveSet(
            self.space, self.mask | other.mask, choice=before.choice, unclear=tuple(unclear), reasons=tuple(reasons)
        )

    def _level_of(self, part: int, whole: int) -> str:
        """The level down to which threads of `whole` agree on whether they are in `part`."""
        return self.space.level_of([part >> position & 1 for position in range(self.space.count)], whole)

    # ---- questions ------------------------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether nobody gets here."""
        return not self.mask

    def is_full(self, scope: str) -> bool:
        """Whether all threads of a member are here, if any of them is."""
        if self.problem(scope) is not None:
            return False
        return self.share(scope).threads == self.space.sizes[scope]

    def problem(self, scope: str) -> str | None:
        """Why the threads of a member of `scope` cannot be numbered here, or None."""
        if scope == THREAD:
            return None
        if not self.space.holds(scope):
            return self.space.why_not(scope)
        for item in self.unclear:
            if self.space.depth(item.level) > self.space.depth(scope):
                return f"which threads of a {scope} get here depends on {item.where}"
        return self._uneven(scope) or self._irregular(scope)

    def _irregular(self, scope: str) -> str | None:
        """Threads without a pattern that numbers could be computed from."""
        if not self.mask:
            return None
        share = self.share(scope)
        if progressions(numbers(share.outer)) is not None and progressions(numbers(share.inner)) is not None:
            return None
        return (
            f"{self._cause()} leaves {share.threads} threads of a {scope} that do not follow each other in equal steps"
        )

    def _cause(self) -> str:
        return " and ".join(item.where for item in self.reasons) or "the conditions around it"

    def _uneven(self, scope: str) -> str | None:
        """Members of which different threads are active."""
        parts = self._parts(scope)
        if len(set(parts)) <= 1:
            return None
        counts = sorted({item.bit_count() for item in parts}, reverse=True)
        found = f"{' or '.join(map(str, counts))} threads" if len(counts) > 1 else "different threads"
        return f"{self._cause()} leaves {found} of a {scope}, not the same in each"

    def _parts(self, scope: str) -> list[int]:
        """What must agree between the members of a scope: the threads of each; of those that were chosen from, one by one."""
        if self.choice is None or self.space.sizes[scope] <= self.space.sizes[self.choice[1]]:
            return self.space.members(scope, self.mask)
        within, child = self.choice
        inner = self.space.members(child, self.mask)
        if len(set(inner)) > 1 or self.space.sizes[scope] <= self.space.sizes[within]:
            return inner
        return [self._units(part, within) for part in self.space.members(scope, self.mask)]

    def _units(self, mask: int, level: str) -> int:
        """The members of `level` with threads in `mask`, as a mask of their numbers."""
        size = self.space.sizes[level]
        full, found, number = (1 << size) - 1, 0, 0
        while mask >> number * size:
            if mask >> number * size & full:
                found |= 1 << number
            number += 1
        return found

    def share(self, scope: str) -> Share:
        """The threads that do an operation of `scope` together. Asked only where `problem(scope)` is None."""
        if scope == THREAD or not self.mask:
            return Share(THREAD, 1 if self.mask else 0)
        first = self.space.members(scope, self.mask)[0]
        if self.choice is None or self.space.sizes[scope] <= self.space.sizes[self.choice[1]]:
            return Share(scope, first)
        within, child = self.choice
        inner = self.space.members(child, self.mask)[0]
        if self.space.sizes[scope] <= self.space.sizes[within]:
            return Share(scope, 1, within, inner, child)
        return Share(scope, self._units(first, within), within, inner, child)

    def bounds(self, values: Sequence[int]) -> tuple[int, int, int]:
        """Smallest and largest of `values` over the active threads, and the greatest common step between them."""
        from math import gcd  # a builtin module

        found = sorted({value for position, value in enumerate(values) if self.mask >> position & 1})
        step = 0
        for value in found[1:]:
            step = gcd(step, value - found[0])
        return found[0], found[-1], step
