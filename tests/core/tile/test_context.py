"""What variants may ask and build: threads and ranks, ids, storage, barriers, the kernel's start, the host, nested calls."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirx
from tests.core.tile.toys import lab, mark, variant
from tirx import script as Tx
from tirx.ir import Alloc, IRModule, PrimFunc, Stmt, TileCall, as_expr, walk
from tirx.support.errors import DispatchError
from tirx.target import Target
from tirx.tile.report import decision_text
from tirx.transform.instruments import VerifyEach
from tirx.transform.pipeline import PassContext, run_passes
from tirx.transform.simt import SIMT_LOWER

UP_TO_TILES = SIMT_LOWER[: [step.name for step in SIMT_LOWER].index("lower_tile") + 1]


def lowered(kernel: PrimFunc, target: str = "lab") -> PrimFunc:
    """The kernel right after its tile calls are gone, verified."""
    context = PassContext(Target(target), instruments=[VerifyEach()])
    return run_passes(UP_TO_TILES, IRModule.of(kernel), context)[kernel.name]


def body(kernel: PrimFunc, target: str = "lab") -> list[str]:
    """The lines of the kernel after its ids."""
    lines = [line.strip() for line in lowered(kernel, target).script().splitlines()]
    start = next(number for number, line in enumerate(lines) if "device_entry" in line) + 1
    return [line for line in lines[start:] if line]


def refused(kernel: PrimFunc, target: str = "lab") -> DispatchError:
    with pytest.raises(DispatchError) as error:
        tirx.compile(kernel, target)
    return error.value


def marks(build: Callable[[Any, Any, Any, Any], None], threads: Any = 64) -> PrimFunc:
    """A kernel over one cta whose body is built from its ids."""

    @Tx.prim_func
    def k(A: Tx.Buffer((64,)), n: Tx.int32):
        Tx.device_entry()
        Tx.cta_id([1])
        t = Tx.thread_id([threads])
        w = Tx.warp_id()
        l = Tx.lane_id()
        build(A, t, w, l)

    return k


def rank_text(build: Callable[[Any, Any, Any, Any], None], scope: str = "cta", threads: Any = 64) -> str:
    """How the rank of a call is written."""
    made = marks(build, threads)
    (line,) = [item for item in body(made) if item.startswith("A[") and item.endswith("= 1.0")]
    return line[2:].partition("] = ")[0]


# ---- threads and ranks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "scope", "rank"),
    [
        (lambda t, w, l: t >= 0, "cta", "t"),
        (lambda t, w, l: t >= 0, "warp", "l"),
        (lambda t, w, l: w >= 1, "cta", "t - 32"),
        (lambda t, w, l: w == 1, "warp", "l"),
        (lambda t, w, l: t < 8, "cta", "t"),
        (lambda t, w, l: l < 4, "cta", "w * 4 + l"),
        (lambda t, w, l: l < 4, "warp", "l"),
        (lambda t, w, l: l % 8 == 3, "warp", "(l - 3) // 8"),
        (lambda t, w, l: l % 8 == 3, "cta", "(t - 3) // 8"),
        (lambda t, w, l: (l >= 8) & (l < 16), "cta", "w * 8 + (l - 8)"),
        (lambda t, w, l: l % 4 < 2, "warp", "l // 4 * 2 + l % 4"),
        (lambda t, w, l: t == 5, "cta", "0"),
        (lambda t, w, l: l == 5, "cta", "w"),
        (lambda t, w, l: t >= 0, "thread", "0"),
    ],
)
def test_ranks_read_as_people_write_them(condition: Any, scope: str, rank: str) -> None:
    def build(A: Any, t: Any, w: Any, l: Any) -> None:
        with Tx.If(condition(t, w, l)), Tx.Then():
            getattr(Tx, scope).fill(A, 1.0) if scope != "thread" else Tx.tile.fill(A, 1.0)

    with lab(variant("a")):
        assert rank_text(build) == rank


def test_ids_that_the_author_does_not_have_are_declared() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((64,))):
        Tx.device_entry()
        _x, _y = Tx.thread_id([16, 4])
        Tx.cta.fill(A, 1.0)
        Tx.warp.fill(A, 2.0)

    def emit(call: Any, context: Any) -> None:
        assert context.analyzer.bounds(context.rank).high == context.threads - 1
        mark(call.operand("value").value)(call, context)

    with lab(variant("a", emit)):
        assert body(k) == [
            "_x, _y = T.thread_id([16, 4])",
            "thread_in_cta: T.let = _y * 16 + _x",
            "thread_in_warp = T.lane_id()",
            "A[thread_in_cta] = 1.0",
            "A[thread_in_warp] = 2.0",
        ]
        a = np.zeros(64, np.float32)
        assert tirx.simulate(k, a, target="lab", checks=("bounds",)).verdict == "clean"
    assert a.tolist() == [2.0] * 32 + [1.0] * 32


def test_ids_that_only_a_view_uses_are_declared_too() -> None:
    def emit(call: Any, context: Any) -> None:
        whole = call.operand("dst").buffer
        part = Tx.decl_buffer((1,), "float32", whole.data, elem_offset=context.id("thread", "warp"))
        part[0] = 1.0

    @Tx.prim_func
    def k(A: Tx.Buffer((64,))):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([32])
        Tx.warp.fill(A, 1.0)

    with lab(variant("a", emit)):
        assert "thread_in_warp = T.lane_id()" in body(k)
        a = np.zeros(64, np.float32)
        assert tirx.simulate(k, a, target="lab").verdict == "clean"
    assert a.tolist() == [1.0] * 32 + [0.0] * 32


def test_the_analyzer_knows_the_active_threads_and_the_loops() -> None:
    seen: list[Any] = []

    def emit(call: Any, context: Any) -> None:
        rank = as_expr(context.rank)
        loop = call.operand("dst").starts[0]
        seen.append((context.threads, str(context.analyzer.bounds(rank)), str(context.analyzer.bounds(loop))))
        assert context.analyzer.prove(rank < 16)
        assert context.analyzer.divides(8, loop)

    def build(A: Any, t: Any, w: Any, l: Any) -> None:
        with Tx.serial(0, 64, step=8) as i:
            with Tx.If(t < 16), Tx.Then():
                Tx.cta.fill(A[i : i + 8], 1.0)

    with lab(variant("a", emit)):
        lowered(marks(build))
    assert seen == [(16, "Interval(0, 15)", "Interval(0, 56)")] or seen[0][0] == 16


def test_widths() -> None:
    seen: list[Any] = []

    def emit(call: Any, context: Any) -> None:
        pairs = [("thread", "warp"), ("warp", "cta"), ("thread", "cta"), ("cta", "kernel")]
        seen.append([context.width(*pair) for pair in pairs])
        seen.append([context.encloses(level) for level in ("thread", "warp", "cta", "kernel")])

    with lab(variant("a", emit)):
        lowered(marks(lambda A, t, w, l: Tx.warp.fill(A, 1.0)))
    assert seen == [[32, 2, 64, 1], [True, True, False, False]]


# ---- who is there -----------------------------------------------------------------------------------------------------------


@Tx.prim_func
def early(A: Tx.Buffer((64,)), n: Tx.int32):
    Tx.device_entry()
    Tx.cta_id([1])
    t = Tx.thread_id([64])
    if t >= n:
        Tx.thread_return()
    Tx.cta.fill(A, 1.0)  # here


@Tx.prim_func
def uneven(A: Tx.Buffer((64,))):
    Tx.device_entry()
    Tx.cta_id([1])
    t = Tx.thread_id([64])
    if t < 48:
        Tx.warp.fill(A, 1.0)  # here


@Tx.prim_func
def irregular(A: Tx.Buffer((64,))):
    Tx.device_entry()
    Tx.cta_id([1])
    t = Tx.thread_id([64])
    if t == 1 or t == 2 or t == 4:
        Tx.cta.fill(A, 1.0)  # here


@Tx.prim_func
def strided(A: Tx.Buffer((64,)), n: Tx.int32):
    Tx.device_entry()
    Tx.cta_id([1])
    t = Tx.thread_id([64])
    for _i in range(t, n, 64):
        Tx.warp.fill(A, 1.0)  # here


@Tx.prim_func
def breaking(A: Tx.Buffer((64,)), n: Tx.int32):
    Tx.device_entry()
    Tx.cta_id([1])
    t = Tx.thread_id([64])
    for _i in range(8):
        Tx.cta.fill(A, 1.0)  # here
        if A[t] > 0.0:
            break


@Tx.prim_func
def unknown_count(A: Tx.Buffer((64,)), n: Tx.int32):
    Tx.device_entry()
    Tx.cta_id([1])
    Tx.thread_id([n])
    Tx.cta.fill(A, 1.0)  # here


@Tx.prim_func(check_well_formed=False)  # the verifier says so too, at the line of the threads
def no_warps(A: Tx.Buffer((64,))):
    Tx.device_entry()
    Tx.cta_id([1])
    Tx.thread_id([48])
    Tx.warp.fill(A, 1.0)  # here


PROBLEMS = [
    (early, "cta", "which threads of a cta get here depends on `not (t >= n)` in line {-2}"),
    (uneven, "warp", "`t < 48` in line {-1} leaves 32 or 16 threads of a warp, not the same in each"),
    (
        irregular, "cta",
        "`t == 1 or t == 2 or t == 4` in line {-1} leaves 3 threads of a cta that do not follow each other in equal steps",
    ),
    (strided, "warp", "which threads of a warp get here depends on how often the loop over `_i` runs in line {-1}"),
    (breaking, "cta", "which threads of a cta get here depends on the `break` in line {2}"),
    (unknown_count, "cta", "only the launch knows how many threads a cta has"),
    (no_warps, "warp", "a cta of this launch has 48 threads, no whole number of warps of 32"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "scope", "problem"), PROBLEMS, ids=[kernel.name for kernel, *_ in PROBLEMS])
def test_threads_that_cannot_be_numbered(kernel: PrimFunc, scope: str, problem: str) -> None:
    with lab(variant("a")):
        error = refused(kernel)
    span = error.span
    assert span is not None
    assert linecache.getline(span.path, span.line).rstrip().endswith("# here")
    text = re.sub(r"\{(-?\d+)\}", lambda found: str(span.line + int(found[1])), problem)
    assert error.message == f"Tx.{scope}.fill cannot be shared out here: {text}"
    assert error.hint == "put the call where the same threads of each are active, or use a smaller scope"


def test_each_thread_for_itself_may_stand_anywhere() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((64,)), n: Tx.int32):
        Tx.device_entry()
        Tx.cta_id([1])
        t = Tx.thread_id([n])
        if A[t] > 0.0:
            Tx.tile.fill(A, 1.0)

    with lab(variant("a")):
        assert body(k)[-1] == "A[0] = 1.0"


def test_conditions_that_are_the_same_for_all_change_nothing() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((64,)), n: Tx.int32):
        Tx.device_entry()
        b = Tx.cta_id([4])
        Tx.thread_id([64])
        phase = n
        for i in range(n):
            if b > 1 and i % 2 == 0 and phase > 0:
                Tx.cta.fill(A, 1.0)
            phase = phase - 1
        while phase < 3:
            phase += 1
            Tx.cta.fill(A, 1.0)

    with lab(variant("a")):
        assert [item.threads for item in tirx.compile(k, "lab").decisions] == [64, 64]


def test_stages_and_phases_of_a_pipeline_are_the_same_for_all_who_keep_them() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((2, 64)), n: Tx.int32):
        Tx.device_entry()
        Tx.cta_id([1])
        t = Tx.thread_id([64])
        w = Tx.warp_id()
        stage: Tx.int32 = 0
        phase: Tx.int32 = 0
        mine: Tx.int32 = 0
        for _i in range(n):
            if w == 0:
                stage = stage + 1
                if stage == 2:
                    stage = 0
                    phase = phase ^ 1
            if phase == 0:
                Tx.warp.fill(A[stage, :], 1.0)
            if t % 5 == 0:
                mine = mine + 1
            if mine < 3:
                Tx.warp.fill(A[stage, :], 1.0)

    with lab(variant("a", lambda call, context: None)):
        error = refused(k)
    (problem,) = error.diagnostics  # of the second call only
    assert "which threads of a warp get here depends on `mine < 3`" in problem.message


def test_a_scalar_that_is_only_stored_from_itself() -> None:
    def build(A: Any, t: Any, w: Any, l: Any) -> None:
        count = Tx.local_scalar("int32")
        count.assign(count + 1)
        with Tx.If(count < 3), Tx.Then():
            Tx.cta.fill(A, 1.0)

    with lab(variant("a")):
        assert body(marks(build))[-1] == "A[t] = 1.0"


def test_where_nobody_gets_nothing_is_emitted() -> None:
    def build(A: Any, t: Any, w: Any, l: Any) -> None:
        with Tx.If(t > 100), Tx.Then():
            Tx.cta.fill(A, 1.0)

    with lab(variant("a")):
        executable = tirx.compile(marks(build), "lab")
    (decision,) = executable.decisions
    assert decision.note == "no thread gets here: nothing is emitted"
    assert "no thread gets here" in decision_text(decision)
    assert not executable.lowered["k_kernel"].body.has(TileCall)


def test_filter_and_selector_promise_what_the_compiler_cannot_see() -> None:
    threads: dict[str, int] = {}

    def emit(call: Any, context: Any) -> None:
        threads[context.scope] = context.threads
        mark(1.0)(call, context)

    @Tx.prim_func
    def k(A: Tx.Buffer((64,)), n: Tx.int32):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([64])
        w = Tx.warp_id()
        Tx.lane_id()
        role = A[w]
        if Tx.filter(w, role > 1.0):
            Tx.warp.fill(A, 1.0)
        if Tx.selector(w, role > 2.0):
            Tx.cta.fill(A, 1.0)

    with lab(variant("a", emit)):
        assert body(k)[-1] == "A[lane] = 1.0"
    assert threads == {"warp": 32, "cta": 32}


# ---- barriers ---------------------------------------------------------------------------------------------------------------


def test_barriers_meet_exactly_those_that_take_part() -> None:
    verdicts: list[str] = []

    def emit(call: Any, context: Any) -> None:
        verdicts.append(str(context.can_sync()))
        if context.can_sync():
            context.sync()

    def build(A: Any, t: Any, w: Any, l: Any) -> None:
        Tx.cta.fill(A, 1.0)
        Tx.warp.fill(A, 1.0)
        Tx.tile.fill(A, 1.0)
        with Tx.If(w == 1), Tx.Then():
            Tx.cta.fill(A, 1.0)
        with Tx.If(l < 4), Tx.Then():
            Tx.warp.fill(A, 1.0)

    with lab(variant("a", emit)):
        lines = body(marks(build))
    assert verdicts == ["fits", "fits", "fits", "fits", "only some threads of the warp are here (threads=4)"]
    assert [item for item in lines if "sync" in item] == [
        'T.tvm_storage_sync("shared")',
        "T.tirx.warp_sync()",
        "T.tirx.warp_sync()",
    ]


def test_a_barrier_that_is_not_possible_is_a_fault_of_the_variant() -> None:
    def build(A: Any, t: Any, w: Any, l: Any) -> None:
        with Tx.If(l < 4), Tx.Then():
            Tx.warp.fill(A, 1.0)

    with lab(variant("a", lambda call, context: context.sync())), pytest.raises(RuntimeError, match="ask can_sync"):
        tirx.compile(marks(build), "lab")


# ---- building ---------------------------------------------------------------------------------------------------------------


def test_storage_stands_where_its_owner_lives() -> None:
    def emit(call: Any, context: Any) -> None:
        mine = context.alloc((4,), "float32", "local", "mine")
        ours = context.alloc((64,), "float32", "shared", "ours")
        mine[0] = 1.0
        ours[context.rank] = mine[0]

    def build(A: Any, t: Any, w: Any, l: Any) -> None:
        with Tx.If(w == 0), Tx.Then():
            Tx.cta.fill(A, 1.0)
            Tx.cta.fill(A, 2.0)

    with lab(variant("a", emit)):
        lines = body(marks(build))
    where = {line.partition(" = ")[0]: number for number, line in enumerate(lines) if "alloc" in line}
    branch = lines.index("if w == 0:")
    assert where.keys() == {"mine", "mine_1", "ours", "ours_1"}
    assert where["ours"] < where["ours_1"] < branch < where["mine"] < where["mine_1"]


def test_the_kernels_start_and_the_host_and_what_is_made_once() -> None:
    def emit(call: Any, context: Any) -> None:
        def table() -> Any:
            made = context.alloc((64,), "float32", "shared", "table")
            with context.on_host():
                Tx.evaluate(Tx.call_extern("int32", "prepare"))
            with context.at_kernel_start():
                with Tx.If(context.id("thread", "cta") == 0), Tx.Then():
                    made[0] = 3.0
            return made

        call.operand("dst").buffer[context.rank] = context.cached("table", table)[0]

    def build(A: Any, t: Any, w: Any, l: Any) -> None:
        Tx.cta.fill(A, 1.0)
        Tx.cta.fill(A, 2.0)

    with lab(variant("a", emit)):
        text = lowered(marks(build)).script()
    lines = [line.strip() for line in text.splitlines()]
    assert text.count("prepare") == 1
    assert text.index("prepare") < text.index("device_entry")
    assert lines.count("table[0] = 3.0") == 1
    assert lines.index("table[0] = 3.0") < lines.index("A[t] = table[0]")
    assert lines.count("A[t] = table[0]") == 2


def test_what_is_emitted_belongs_to_the_line_of_the_call() -> None:
    def emit(call: Any, context: Any) -> None:
        with Tx.serial(4) as i, Tx.If(i < 2), Tx.Then():
            value = Tx.bind(i * 2)
            call.operand("dst").buffer[value] = 1.0

    def build(A: Any, t: Any, w: Any, l: Any) -> None:
        Tx.cta.fill(A, 1.0)

    with lab(variant("a", emit)):
        made = lowered(marks(build))
    spans = {
        linecache.getline(node.span.path, node.span.line).strip()
        for node in walk(made.body)
        if isinstance(node, Stmt) and node.span is not None
    }
    assert "Tx.cta.fill(A, 1.0)" in spans
    assert not any("Tx.serial" in line or "Tx.bind" in line or "buffer[value]" in line for line in spans)
    assert "value: T.let = i * 2" in made.script()  # named as in the variant


def test_names_are_fresh() -> None:
    def emit(call: Any, context: Any) -> None:
        t = Tx.bind(context.rank + 1)
        call.operand("dst").buffer[t - 1] = 1.0

    with lab(variant("a", emit)):
        lines = body(marks(lambda A, t, w, l: Tx.cta.fill(A, 1.0)))
    assert "t_1: T.let = t + 1" in lines


def test_names_do_not_come_from_whoever_compiles() -> None:
    with lab(variant("a", lambda call, context: [Tx.alloc_local((4,), "float32")][0].__setitem__(0, 1.0))):
        report = lowered(marks(lambda A, t, w, l: Tx.cta.fill(A, 1.0)))
    assert [node.buffer.name for node in walk(report.body) if isinstance(node, Alloc)] == ["buffer"]


# ---- nested calls -----------------------------------------------------------------------------------------------------------


def test_variants_may_call_tile_operations() -> None:
    def twice(call: Any, context: Any) -> None:
        dst = call.operand("dst")
        with Tx.If(context.rank < 32), Tx.Then():
            Tx.cta.fill(dst, 1.0, dispatch="plain")

    with lab(variant("twice", twice, priority=1), variant("plain")):
        executable = tirx.compile(marks(lambda A, t, w, l: Tx.cta.fill(A, 2.0)), "lab")
    outer, inner = executable.decisions
    assert (outer.threads, inner.threads, inner.parent) == (64, 32, outer)
    assert "(made by `twice` of Tx.cta.fill)" in decision_text(inner)


def test_variants_that_only_call_each_other() -> None:
    def again(call: Any, context: Any) -> None:
        Tx.cta.fill(call.operand("dst"), 1.0)

    with lab(variant("again", again)):
        error = refused(marks(lambda A, t, w, l: Tx.cta.fill(A, 2.0)))
    assert error.message.startswith("variants emit each other's operations without an end: Tx.cta.fill by `again`,")
    assert error.span is not None


# ---- places -----------------------------------------------------------------------------------------------------------------


def test_host_code_has_no_tile_operations() -> None:
    @Tx.prim_func(check_well_formed=False)
    def k(A: Tx.Buffer((64,))):
        Tx.tile.fill(A, 1.0)  # here
        Tx.device_entry()
        Tx.thread_id([64])

    with lab(variant("a")):
        error = refused(k)
    assert error.message == "Tx.tile.fill stands in host code"
    assert error.hint == "tile operations belong to the kernel: put the call after Tx.device_entry()"
    assert error.span is not None
    assert linecache.getline(error.span.path, error.span.line).rstrip().endswith("# here")


def test_a_level_that_the_target_lacks() -> None:
    @Tx.prim_func(check_well_formed=False)
    def k(A: Tx.Buffer((64,))):
        Tx.device_entry()
        Tx.thread_id([64])
        Tx.cluster.fill(A, 1.0)

    with lab(variant("a")):
        error = refused(k)
    assert error.message == "the target has no clusters to do Tx.cluster.fill"
    assert error.hint is not None
    assert error.hint.startswith("it has cta, warp, thread; ")


def test_functions_that_kernels_call() -> None:
    @Tx.prim_func(private=True)
    def clear(A: Tx.Buffer((64,))):
        Tx.tile.fill(A, 1.0)

    @Tx.prim_func(private=True, check_well_formed=False)
    def share(A: Tx.Buffer((64,))):
        Tx.cta.fill(A, 1.0)

    def calling(function: PrimFunc) -> PrimFunc:
        @Tx.prim_func
        def k(A: Tx.Buffer((64,))):
            Tx.device_entry()
            Tx.thread_id([1])
            function(A)

        return k

    with lab(variant("a")):
        a = np.zeros(64, np.float32)
        assert tirx.simulate(calling(clear), a, target="lab").verdict == "clean"
        assert a[0] == 1.0
        error = refused(calling(share))
    assert error.message == (
        "Tx.cta.fill cannot be shared out here: a function that kernels call does not know how they are launched"
    )
