"""Active threads against running every thread by itself: random conditions, loops and early leaving.

Each call in a random program is visited by some threads. What the compiler knows of a call (how many threads of a scope take
part, and the number of each) must agree with every visit; where it says that it does not know, no claim is made. In programs
whose conditions are all functions of ids it must know exactly when the threads of all members are alike.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.core.tile.toys import PROBE
from tirx.analysis import declarations, resolve_extents
from tirx.analysis.evaluate import evaluate
from tirx.ir import (
    INT32,
    Alloc,
    Break,
    Buffer,
    BufferLoad,
    BufferStore,
    Continue,
    Expr,
    For,
    If,
    PrimFunc,
    Return,
    ScopeIdDef,
    Seq,
    Stmt,
    TileCall,
    Var,
    const,
    logical_and,
    logical_not,
    logical_or,
    rewrite,
)  # fmt: skip
from tirx.target import Target
from tirx.tile.active import ActiveSet, Unclear
from tirx.tile.rank import rank_of
from tirx.tile.space import Space
from tirx.tile.steps import numbers, progressions
from tirx.transform.tile_flow import Flow

THREADS, WARP = 16, 4
SIZES = {"thread": 1, "warp": WARP, "cta": THREADS}
TILE = Buffer("tile", (4,))
THREAD, IN_WARP, LANE = (Var(name, INT32) for name in ("t", "w", "l"))
UNKNOWN = Var("u", INT32)
CELL = Buffer("s", (1,), "int32", scope="local", is_scalar=True)
HELD = BufferLoad(CELL, (const(0),))  # a mutable scalar
IDS = [
    ScopeIdDef((THREAD,), (const(THREADS),), "cta", "thread"),
    ScopeIdDef((IN_WARP,), None, "cta", "warp"),
    ScopeIdDef((LANE,), None, "warp", "thread"),
]

numbers_small = st.integers(-2, 18)


@st.composite
def values(draw: Any, unknown: bool) -> Expr:
    """A number that a condition compares: an id, a linear function of one, a remainder, a quotient, or a sum."""
    base: Expr = draw(st.sampled_from([THREAD, IN_WARP, LANE, *([UNKNOWN, HELD] if unknown else [])]))
    form = draw(st.integers(0, 5))
    if form == 1:
        return base + draw(numbers_small)
    if form == 2:
        return draw(numbers_small) - base
    if form == 3:
        return base % draw(st.integers(1, 9))
    if form == 4:
        return base // draw(st.integers(1, 9))
    if form == 5:
        return base * draw(st.integers(1, 3)) + draw(st.sampled_from([THREAD, IN_WARP, LANE]))
    return base


@st.composite
def conditions(draw: Any, unknown: bool, depth: int = 2) -> Expr:
    """A comparison either way round, or several of them."""
    form = draw(st.integers(0, 5 if depth else 2))
    if form <= 2:
        a: Any = draw(values(unknown))
        b: Any = draw(numbers_small)
        if draw(st.booleans()):
            a, b = const(b), a
        compare = draw(st.sampled_from(["__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"]))
        return getattr(a, compare)(b)  # type: ignore[no-any-return]
    a, b = draw(conditions(unknown, depth - 1)), draw(conditions(unknown, depth - 1))
    return logical_not(a) if form == 3 else (logical_and if form == 4 else logical_or)(a, b)


@st.composite
def programs(draw: Any, unknown: bool, depth: int = 2, in_loop: bool = False) -> Stmt:
    """Calls, branches, loops of which threads may run different numbers, and leaving."""
    found: list[Stmt] = []
    for _ in range(draw(st.integers(1, 3))):
        form = draw(st.integers(0, 9))
        if form <= 3 or not depth:
            found.append(TileCall(PROBE, draw(st.sampled_from(["warp", "cta"])), ("dst",), (TILE.region(),)))
        elif form <= 6:
            then = draw(programs(unknown, depth - 1, in_loop))
            orelse = draw(programs(unknown, depth - 1, in_loop)) if draw(st.booleans()) else None
            found.append(If(draw(conditions(unknown)), then, orelse))
        elif form == 8 and unknown:
            found.append(BufferStore(CELL, draw(values(unknown)), (const(0),)))
        elif form == 7 and unknown:
            extent = draw(st.one_of(st.integers(0, 3).map(const), values(False)))
            step = const(draw(st.integers(1, 9)))
            body = draw(programs(unknown, depth - 1, True))
            found.append(For(Var("i", INT32), const(0), extent, step, "serial", body))
        else:
            kinds = [Return, *([Break, Continue] if in_loop else [])]
            leave = draw(st.sampled_from(kinds))()
            found.append(If(draw(conditions(unknown)), leave))
    return Seq(tuple(found))


class Flows(Flow):
    """Notes the active threads of each call."""

    def __init__(self, body: Stmt) -> None:
        model = Target("generic -width=4").scope_model()
        whole = Seq((*IDS, Alloc(CELL), BufferStore(CELL, const(0), (const(0),)), body))
        found = list(declarations(whole, model))
        extents = resolve_extents(model, found)
        self.seen: dict[int, ActiveSet | None] = {}
        super().__init__(PrimFunc("k", (), whole), whole, Space(model, extents), found, extents)
        self.statement(whole)

    def tile(self, call: TileCall) -> list[Stmt]:
        self.seen[id(call)] = self.active
        return [call]


class Leaves(Exception):
    def __init__(self, stmt: Stmt) -> None:
        self.stmt = stmt


class Runs:
    """One thread through a program: visits are (call, iterations of the loops around it)."""

    def __init__(self, thread: int, unknown: int) -> None:
        self.values = {id(THREAD): thread, id(IN_WARP): thread // WARP, id(LANE): thread % WARP, id(UNKNOWN): unknown}
        self.visits: list[tuple[int, tuple[int, ...]]] = []
        self.held = 0

    def value(self, expr: Expr) -> int:
        found = evaluate(rewrite(expr, {BufferLoad: lambda _: const(self.held)}), self.values)
        assert found is not None
        return found

    def run(self, stmt: Stmt, path: tuple[int, ...] = ()) -> None:
        if isinstance(stmt, Seq):
            for item in stmt.stmts:
                self.run(item, path)
        elif isinstance(stmt, TileCall):
            self.visits.append((id(stmt), path))
        elif isinstance(stmt, If):
            if self.value(stmt.condition):
                self.run(stmt.then, path)
            elif stmt.orelse is not None:
                self.run(stmt.orelse, path)
        elif isinstance(stmt, BufferStore):
            self.held = max(min(self.value(stmt.value), 1000), -1000)
        elif isinstance(stmt, For):
            self.loop(stmt, path)
        elif isinstance(stmt, Return | Break | Continue):
            raise Leaves(stmt)

    def loop(self, loop: For, path: tuple[int, ...]) -> None:
        for number in range(0, self.value(loop.extent), self.value(loop.step)):
            if self.leaves(loop.body, (*path, number)):
                return

    def leaves(self, body: Stmt, path: tuple[int, ...]) -> bool:
        """Run one iteration; whether it was the last."""
        try:
            self.run(body, path)
        except Leaves as left:
            if isinstance(left.stmt, Return):
                raise
            return isinstance(left.stmt, Break)
        return False


def visits(body: Stmt, unknown: int) -> dict[int, dict[tuple[int, ...], set[int]]]:
    """The threads of each visit of each call."""
    found: dict[int, dict[tuple[int, ...], set[int]]] = defaultdict(lambda: defaultdict(set))
    for thread in range(THREADS):
        one = Runs(thread, unknown)
        with suppress(Leaves):
            one.run(body)
        for call, path in one.visits:
            found[call][path].add(thread)
    return found


def calls(body: Stmt) -> list[TileCall]:
    if isinstance(body, TileCall):
        return [body]
    return [call for child in body.children() if isinstance(child, Stmt) for call in calls(child)]


IDENTITIES = {(c, w): Var(f"{c}_{w}", INT32) for c in SIZES for w in SIZES}


def rank_in(active: ActiveSet, scope: str, thread: int) -> int | None:
    values = {id(var): thread % SIZES[within] // SIZES[child] for (child, within), var in IDENTITIES.items()}
    rank = rank_of(active.share(scope), active.space, lambda child, within: IDENTITIES[child, within])
    assert rank is not None
    return evaluate(rank, values)


def members(threads: set[int], scope: str) -> list[list[int]]:
    size = SIZES[scope]
    found = [[t for t in sorted(threads) if t // size == number] for number in range(THREADS // size)]
    return [item for item in found if item]


def check(body: Stmt, unknown: int) -> Flows:
    flow = Flows(body)
    for call in calls(body):
        for threads in visits(body, unknown)[id(call)].values():
            active = flow.seen[id(call)]
            assert active is not None, "a thread gets where the compiler says that nobody does"
            assert all(active.mask >> thread & 1 for thread in threads)
            if active.problem(call.scope) is not None:
                continue
            for part in members(threads, call.scope):
                assert active.share(call.scope).threads == len(part)
                assert [rank_in(active, call.scope, thread) for thread in part] == list(range(len(part)))
                assert active.is_full(call.scope) == (len(part) == SIZES[call.scope])
    return flow


@given(programs(unknown=False))
def test_conditions_on_ids_are_known_exactly(body: Stmt) -> None:
    flow = check(body, 0)
    for call in calls(body):
        threads = visits(body, 0)[id(call)].get((), set())
        active = flow.seen[id(call)]
        if active is None:
            assert not threads
            continue
        assert set(numbers(active.mask)) == threads
        patterns = {tuple(t % SIZES[call.scope] for t in part) for part in members(threads, call.scope)}
        alike = len(patterns) <= 1 and all(progressions(list(item)) is not None for item in patterns)
        assert (active.problem(call.scope) is None) == alike


@given(programs(unknown=True), st.integers(-1, 17))
def test_what_is_claimed_holds_in_every_visit(body: Stmt, unknown: int) -> None:
    check(body, unknown)


SPACE = Flows(Seq(())).space


@given(
    st.integers(1, 2**THREADS - 1),
    st.sampled_from([("warp", "thread"), ("cta", "thread"), ("cta", "warp")]),
    st.lists(st.integers(0, 1), min_size=THREADS, max_size=THREADS),
    st.randoms(use_true_random=False),
)
def test_whoever_was_chosen(mask: int, choice: tuple[str, str], truth: list[int], random: Any) -> None:
    """One child of each member with active threads, then a condition: what is claimed holds for every pick."""
    within, child = choice
    before = ActiveSet(SPACE, mask).chosen(within, child, Unclear("elect", "thread"))
    after = before.where(truth, Unclear("condition", "thread"))
    picked: set[int] = set()
    for start in range(0, THREADS, SIZES[within]):
        places = range(start, start + SIZES[within], SIZES[child])
        candidates = [{t for t in range(at, at + SIZES[child]) if mask >> t & 1} for at in places]
        picked |= random.choice([item for item in candidates if item] or [set()])
    for active, threads in ((before, picked), (after, {t for t in picked if truth[t]})):
        for scope in ("warp", "cta"):
            if active.problem(scope) is None:
                for part in members(threads, scope):
                    assert active.share(scope).threads == len(part)
                    assert [rank_in(active, scope, thread) for thread in part] == list(range(len(part)))
                    assert active.is_full(scope) == (len(part) == SIZES[scope])
