"""Which variant a call gets, and what it says when none fits."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import tirx
from tests.core.tile.toys import ALWAYS, FEW, lab, mark, never, variant
from tirx import script as Tx
from tirx.ir import PrimFunc
from tirx.support.errors import DispatchError, TirxError
from tirx.tile import ConfigKey, Predicate, Verdict, decline
from tirx.tile.dispatch import Decision
from tirx.tile.report import WIDTH, decision_text


def one(threads: int = 64, **keywords: Any) -> PrimFunc:
    """A kernel with one call by a whole cta."""

    @Tx.prim_func
    def k(A: Tx.Buffer((64,))):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([threads])
        Tx.cta.fill(A, 5.0, **keywords)

    return k


def decided(kernel: PrimFunc, target: str = "lab") -> list[Decision]:
    return list(tirx.compile(kernel, target).decisions)


def chosen(kernel: PrimFunc, target: str = "lab") -> str:
    (decision,) = decided(kernel, target)
    assert decision.chosen is not None
    return decision.chosen.variant.name


def result(kernel: PrimFunc, target: str = "lab") -> list[float]:
    """The values that the marks of a kernel leave, each once."""
    a = np.zeros(64, np.float32)
    assert tirx.simulate(kernel, a, target=target).verdict == "clean"
    return sorted(set(a.tolist()))


def refused(kernel: PrimFunc, target: str = "lab") -> DispatchError:
    with pytest.raises(DispatchError) as error:
        tirx.compile(kernel, target)
    return error.value


def line(error: TirxError) -> str:
    assert error.span is not None
    return linecache.getline(error.span.path, error.span.line).strip()


# ---- order --------------------------------------------------------------------------------------------------------------


def test_the_highest_priority_that_fits_is_taken() -> None:
    with lab(
        variant("low", mark(1)), variant("high", mark(2), priority=10), variant("best", mark(3), never(), priority=20)
    ):
        assert chosen(one()) == "high"
        assert result(one()) == [2.0]


def test_equal_priorities_go_by_name() -> None:
    with lab(variant("b", mark(2)), variant("a", mark(1))):
        assert chosen(one()) == "a"


def test_predicates_see_the_call_where_it_stands() -> None:
    with lab(variant("small", mark(1), FEW, priority=5), variant("any", mark(2))):
        assert (chosen(one(32)), chosen(one(64))) == ("small", "any")


def test_reports_ask_all_predicates_of_all_candidates() -> None:
    asked: list[str] = []

    def asking(name: str) -> Predicate:
        return Predicate(name, lambda call, context: asked.append(name))

    high = variant("a", None, never(), asking("second"), priority=9)
    with lab(high, variant("b", None, asking("third")), variant("c", None, asking("last"), priority=-1)):
        (decision,) = decided(one())
        assert asked == ["second", "third"]  # the compiler stops where one fits
        assert "`c` of lab-kit 1.2, priority -1: fits too" in decision_text(decision)
        assert asked == ["second", "third", "last"]


def test_a_variant_may_decline_while_it_emits_and_leaves_nothing_behind() -> None:
    def tries(call: Any, context: Any) -> None:
        context.alloc((4,), "float32", "shared", "left_over")
        with context.at_kernel_start():
            Tx.evaluate(Tx.tvm_storage_sync("shared"))
        context.cached("left_over", lambda: 1)
        mark(7.0)(call, context)
        decline("not after all", bytes=8)

    def looks(call: Any, context: Any) -> None:
        assert context.cached("left_over", lambda: 2) == 2
        mark(1.0)(call, context)

    with lab(variant("tries", tries, priority=5), variant("does", looks)):
        executable = tirx.compile(one(), "lab")
        assert result(one()) == [1.0]
    (decision,) = executable.decisions
    assert [item.variant.name for item in decision.trials if not item.fits] == ["tries"]
    assert str(decision.trials[0].refusals[0][1]) == "not after all (bytes=8)"
    text = executable.lowered.script()
    assert "left_over" not in text
    assert "storage_sync" not in text


def test_a_kind_gets_what_its_parent_has_unless_its_own_has_the_name() -> None:
    own = variant("shared", mark(9), kind="lab_small")
    with lab(variant("shared", mark(1)), variant("other", mark(2), priority=-1), own):
        assert result(one(), "lab_small") == [9.0]
        assert result(one(), "lab") == [1.0]
        (decision,) = decided(one(), "lab_small")
        assert [item.variant.name for item in decision.trials] == ["shared", "other"]


def test_a_kinds_own_variant_comes_before_one_of_its_parent() -> None:
    with lab(variant("a"), variant("z", kind="lab_small")):
        assert chosen(one(), "lab_small") == "z"


def test_a_tie_between_two_distributions_is_reported() -> None:
    with lab(variant("mine", priority=3), acme=[variant("yours", priority=3), variant("less", priority=2)]):
        (decision,) = decided(one())
    assert decision.chosen is not None
    assert decision.chosen.owner.distribution == "acme-kit"
    assert [item.variant.name for item in decision.ties] == ["mine"]
    assert "a tie with `mine` of lab-kit: equal priority, decided by the name of the distribution" in decision_text(
        decision
    )


def test_a_fault_in_a_predicate_is_raised() -> None:
    def broken(call: Any, context: Any) -> Verdict:
        raise ZeroDivisionError("a fault of the variant")

    with lab(variant("a", None, Predicate("broken", broken)), variant("b")), pytest.raises(ZeroDivisionError):
        tirx.compile(one(), "lab")


def test_a_fault_in_emit_is_raised() -> None:
    def broken(call: Any, context: Any) -> None:
        raise KeyError("a fault of the variant")

    with lab(variant("a", broken, priority=1), variant("b")), pytest.raises(KeyError):
        tirx.compile(one(), "lab")


def test_a_wrong_use_of_the_language_in_emit_is_placed_at_the_call() -> None:
    def wrong(call: Any, context: Any) -> None:
        Tx.serial(1.5)

    with lab(variant("a", wrong)), pytest.raises(TirxError) as error:
        tirx.compile(one(), "lab")
    assert error.value.message == "the bounds of serial() are of type float32, not integers"
    assert line(error.value) == "Tx.cta.fill(A, 5.0, **keywords)"


def test_predicates_cannot_build() -> None:
    builds = Predicate("builds", lambda call, context: context.alloc((4,), "float32"))
    with lab(variant("a", None, builds)), pytest.raises(RuntimeError, match="belongs in the variant's emit"):
        tirx.compile(one(), "lab")


# ---- asking for one -----------------------------------------------------------------------------------------------------


def test_a_call_may_name_its_variant() -> None:
    with lab(variant("a", mark(1), priority=9), variant("b", mark(2))):
        assert result(one(dispatch="b")) == [2.0]


def test_variants_on_request_are_only_taken_by_name() -> None:
    with lab(variant("exact", mark(1), priority=9, on_request=True), variant("usual", mark(2))):
        assert (chosen(one()), chosen(one(dispatch="exact"))) == ("usual", "exact")


def test_a_name_that_no_variant_has() -> None:
    with lab(variant("vector"), variant("plain")):
        error = refused(one(dispatch="vectors"))
    assert error.message == "Tx.cta.fill has no variant `vectors` on lab"
    assert error.hint == "did you mean `vector`? its variants are plain, vector"
    assert line(error) == "Tx.cta.fill(A, 5.0, **keywords)"


def test_a_named_variant_that_does_not_fit_says_what_would() -> None:
    with lab(variant("a", None, never("too wide", bits=128)), variant("b")):
        error = refused(one(dispatch="a"))
    assert error.message == "variant `a` of Tx.cta.fill does not fit this call on lab, 64 threads of a cta together"
    assert error.diagnostics[0].notes == ("`a` of lab-kit 1.2, priority 0:\n          never: too wide (bits=128)",)
    assert error.hint == "without dispatch= it would get `b`"


# ---- keywords -----------------------------------------------------------------------------------------------------------

CACHE = ConfigKey("cache", str, "all", "which caches keep it", ("all", "none"))
DEPTH = ConfigKey("depth", (int, type(None)), None, "stages")


def test_keywords_reach_the_variant_with_defaults_filled_in() -> None:
    seen: list[Any] = []

    def emit(call: Any, context: Any) -> None:
        seen.append(dict(context.config))

    with lab(variant("a", emit, config=[CACHE, DEPTH])):
        tirx.compile(one(), "lab")
        tirx.compile(one(cache="none", depth=3), "lab")
    assert seen == [{"cache": "all", "depth": None}, {"cache": "none", "depth": 3}]


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        (
            {"cash": "all"},
            "Tx.cta.fill on lab does not know the keyword `cash`",
            "did you mean `cache`? its keywords are cache, depth",
        ),
        ({"zzz": 1}, "Tx.cta.fill on lab does not know the keyword `zzz`", "its keywords are cache, depth"),
        (
            {"cache": "some"},
            "Tx.cta.fill on lab: `cache` is 'all' or 'none', not 'some'",
            "`cache`: which caches keep it",
        ),
        ({"cache": 1}, "Tx.cta.fill on lab: `cache` is str, not 1", "`cache`: which caches keep it"),
        ({"depth": "x"}, "Tx.cta.fill on lab: `depth` is int or None, not 'x'", "`depth`: stages"),
        ({"depth": True}, "Tx.cta.fill on lab: `depth` is int or None, not True", "`depth`: stages"),
    ],
)
def test_keywords_that_nobody_takes(given: dict[str, Any], message: str, hint: str) -> None:
    with lab(variant("a", config=[CACHE]), variant("b", config=[DEPTH])):
        error = refused(one(**given))
    assert (error.message, error.hint, line(error)) == (message, hint, "Tx.cta.fill(A, 5.0, **keywords)")


def test_keywords_of_a_named_variant() -> None:
    with lab(variant("a", config=[CACHE]), variant("b", config=[DEPTH])):
        error = refused(one(dispatch="b", cache="all"))
    assert error.message == "variant `b` of Tx.cta.fill does not know the keyword `cache`"
    assert error.hint == "its keywords are depth"


def test_a_keyword_leaves_only_the_variants_that_take_it() -> None:
    with lab(variant("a", mark(1), priority=9), variant("b", mark(2), config=[DEPTH])):
        assert chosen(one(depth=2)) == "b"
        (decision,) = decided(one(depth=2))
    assert [str(item) for _, item in decision.trials[0].refusals] == ["it does not take the keyword `depth`"]


def test_an_expression_as_a_keyword() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((64,)), n: Tx.int32):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([64])
        Tx.cta.fill(A, 5.0, depth=n)

    with lab(variant("a", config=[DEPTH])):
        error = refused(k)
    assert error.message == "Tx.cta.fill on lab: `depth` is int or None, not an expression"
    with lab(variant("a", config=[ConfigKey("depth", object)])):
        assert chosen(k) == "a"


def test_workspaces_that_nobody_wants() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((64,))):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([64])
        scratch = Tx.alloc_shared((8,))
        Tx.cta.fill(A, 5.0, workspace={"partial": scratch})

    with lab(variant("a", workspace={"partials": "one value per thread"})):
        error = refused(k)
    assert error.message == "Tx.cta.fill on lab has no use for a workspace `partial`"
    assert error.hint == "did you mean `partials`? its workspaces are partials"
    with lab(variant("a", workspace={"partial": "one value per thread"})):
        assert chosen(k) == "a"


def test_an_operation_without_variants_takes_no_keywords_either() -> None:
    with lab():
        error = refused(one(depth=1))
    assert error.message == "there is no variant of Tx.cta.fill for kind lab"


# ---- the report ---------------------------------------------------------------------------------------------------------


def test_the_error_is_the_report_nearest_miss_first() -> None:
    far = variant("far", None, never("the tile is not in shared memory", scope="global"), never("no"), priority=9)
    wordy = never(
        "vectors of sixteen bytes must start at multiples of sixteen bytes in memory", start=4, wanted=16, name="A"
    )
    near = variant("near", None, ALWAYS, ALWAYS, wordy)
    with lab(far, near):
        error = refused(one())
    text = str(error)
    assert text.splitlines()[0].endswith(
        "error: no variant of Tx.cta.fill fits this call on lab, 64 threads of a cta together"
    )
    assert text.splitlines()[-6:] == [
        "  note: `near` of lab-kit 1.2, priority 0:",
        "          never: vectors of sixteen bytes must start at multiples of sixteen bytes in memory",
        "            (start=4, wanted=16, name=A)",
        "  note: `far` of lab-kit 1.2, priority 9:",
        "          never: the tile is not in shared memory (scope=global)",
        "          never: no",
    ]
    assert max(map(len, text.splitlines()[1:])) <= WIDTH


def test_all_calls_that_fail_are_reported() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((64,))):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([64])
        Tx.cta.fill(A, 1.0)
        Tx.warp.fill(A, 2.0)
        Tx.tile.fill(A, 3.0)

    with lab(variant("few", None, FEW)):
        error = refused(k)
    assert [item.message for item in error.diagnostics] == [
        "no variant of Tx.cta.fill fits this call on lab, 64 threads of a cta together"
    ]
    with lab():
        assert [linecache.getline(item.span.path, item.span.line).strip()[:7] for item in refused(k).diagnostics] == [  # type: ignore[union-attr]
            "Tx.cta.", "Tx.warp", "Tx.tile"
        ]  # fmt: skip
