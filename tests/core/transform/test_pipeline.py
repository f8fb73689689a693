"""Order of passes, configuration, instruments, and passes of extensions at anchors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tirx
from tirx import backend
from tirx import script as Tx
from tirx.backend import Owner, hookimpl, registry
from tirx.ir import INT32, Attr, Bind, Buffer, BufferStore, Evaluate, IRModule, PrimFunc, Var, const, seq
from tirx.support.errors import BackendError, TirxError, VerifyError
from tirx.target import Target
from tirx.transform import Anchor, Launch, Pass, PassContext, PassRow, Pipeline, run_passes
from tirx.transform.extensions import extended
from tirx.transform.instruments import PrintAfter, PrintBefore, Timing, VerifyEach
from tirx.transform.launch import Bounds, from_plain
from tirx.transform.levels import launch_levels


def step(name: str, after: tuple[str, ...] = (), gives: tuple[str, ...] = ()) -> Pass:
    def run(module: IRModule, context: PassContext) -> IRModule:
        return module.with_attr("ran", (*module.attrs.get("ran", ()), name))

    return Pass(name, run, requires=after, ensures=gives)


EMPTY = IRModule([PrimFunc("k", (), seq([]))])


def test_passes_run_in_order() -> None:
    context = PassContext(Target("generic"))
    assert run_passes([step("a"), Anchor("x:y"), step("b")], EMPTY, context).attrs["ran"] == ("a", "b")


def test_a_pipeline_refuses_a_pass_before_what_it_needs() -> None:
    Pipeline("toy", lower=(step("a", gives=("fact",)), step("b", after=("fact",))))
    with pytest.raises(ValueError, match="pipeline toy: pass b requires fact first"):
        Pipeline("toy", lower=(step("b", after=("fact",)), step("a", gives=("fact",))))


def test_unknown_configuration() -> None:
    with pytest.raises(TirxError) as error:
        PassContext(Target("generic"), config={"simplfy": False})
    assert error.value.message == "unknown configuration key `simplfy`"
    assert error.value.hint == "did you mean `simplify`?"


def test_timing_lists_each_pass() -> None:
    timing = Timing()
    run_passes([step("a"), step("longer")], EMPTY, PassContext(Target("generic"), instruments=[timing]))
    assert [name for name, _ in timing.entries] == ["a", "longer"]
    assert [line.split()[0] for line in str(timing).splitlines()] == ["a", "longer", "together"]


def test_printing_before_and_after() -> None:
    text: list[str] = []
    watch = [PrintBefore("b", write=text.append), PrintAfter("a", write=text.append)]
    run_passes([step("a"), step("b")], EMPTY, PassContext(Target("generic"), instruments=watch))
    assert [part.splitlines()[0] for part in text] == ["# after a", "# before b"]
    assert all("def k()" in part for part in text)


def test_a_pass_that_breaks_the_program_is_named() -> None:
    def run(module: IRModule, context: PassContext) -> IRModule:
        x = Var("x", INT32)
        return module.map(lambda func: func.with_body(Evaluate(x)))

    with pytest.raises(VerifyError) as error:
        run_passes([Pass("bad", run)], EMPTY, PassContext(Target("generic"), instruments=[VerifyEach()]))
    assert error.value.message == "pass `bad` broke the program: `x` is not defined in this function"


def test_passes_leave_their_argument_alone() -> None:
    from tirx.transform import SIMT_LOWER

    a, x = Buffer("A", (4,)), Var("x", INT32)
    body = Attr("tirx.device_entry", const(True), seq([Bind(x, const(0)), BufferStore(a, const(1.0), (x,))]))
    module = IRModule([PrimFunc("k", (a,), body, {"global_symbol": "k"})])
    before = module.script()
    run_passes(SIMT_LOWER, module, PassContext(Target("generic")))
    assert module.script() == before


def test_the_launch_record_is_plain_data_and_back() -> None:
    record = Launch(
        ("cta.x", "thread.x"), (None, 64), bounds=Bounds(64, 2), levels={("cta", "thread"): 64}, flags=("wait",),
        shared_bytes=128, alignments={"A": 16},
    )  # fmt: skip
    assert from_plain(record.plain(), {}) == record
    assert hash(from_plain(record.plain(), {})) == hash(record)
    assert record.replaced(shared_bytes=0) != record
    assert (record.extent("thread.x"), record.extent("cta.x"), record.extent("thread.y")) == (64, None, 1)


def test_a_parameter_read_in_vectors_of_three_is_aligned_like_its_element() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((48,), "int32"), B: Tx.Buffer((48,), "int32"), C: Tx.Buffer((48,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        B.vstore([tx * 3], A.vload([tx * 3], "int32x3"))
        C.vstore([tx * 6], C.vload([tx * 6], "int32x6"))

    launch = tirx.compile(k, "generic").lowered["k_kernel"].attrs["launch"]
    assert launch.alignments == {"A": 4, "B": 4, "C": 8}


def test_levels_from_axes() -> None:
    model = Target("generic").scope_model()
    levels = launch_levels(model, {"cta.x": None, "thread.x": 48, "thread.y": 2})
    assert levels["cta", "thread"] == 96
    assert levels["cta", "warp"] == 3
    assert levels["kernel", "cta"] is None


class Host:
    """A backend with one anchor."""

    @staticmethod
    @hookimpl
    def tirx_pipelines() -> list[Pipeline]:
        return [Pipeline("shop", lower=(step("a"), Anchor("shop:middle"), step("b")))]


def extension(*rows: PassRow) -> object:
    class Extension:
        @staticmethod
        @hookimpl
        def tirx_passes() -> list[PassRow]:
            return list(rows)

    return Extension()


@pytest.fixture
def shop() -> Iterator[None]:
    if "shop" not in backend.available():
        backend.register("shop", Host(), distribution="shop-kit")
    backend.load("shop")
    yield
    backend.unload("shop")


def names(snapshot: object) -> list[str]:
    pipeline = registry().find("pipelines", "shop")
    return [item.name for item in extended(pipeline.lower, snapshot)]  # type: ignore[arg-type]


def rows(*entries: PassRow) -> object:
    """The current snapshot with these rows of two extensions, all acting."""
    from tirx.backend.rows import Contribution

    snapshot = registry()
    for number, row in enumerate(entries):
        owner = Owner(f"kit-{number}", "1", f"shop.e{number}")
        snapshot = snapshot.extended(Contribution(owner, {"passes": (row,)}))
    return snapshot.enabling([f"shop.e{number}" for number in range(len(entries))])


@pytest.mark.usefixtures("shop")
def test_nothing_stands_at_an_empty_anchor() -> None:
    assert names(registry()) == ["a", "b"]


@pytest.mark.usefixtures("shop")
def test_passes_of_extensions_by_owner_and_by_need() -> None:
    first = PassRow("shop:middle", step("first"), after=("second",))
    second = PassRow("shop:middle", step("second"))
    third = PassRow("shop:middle", step("third"))
    assert names(rows(first, second, third)) == ["a", "second", "first", "third", "b"]
    assert names(rows(third, second)) == ["a", "third", "second", "b"]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("row", "message"),
    [
        (PassRow("shop:midle", step("p")), "pass `p` of kit-0 1 runs at `shop:midle`, which no pipeline has"),
        (
            PassRow("shop:middle", step("p"), after=("q",)),
            "pass `p` at `shop:middle` runs after `q`, which is not there",
        ),
        (PassRow("shop:middle", step("p"), after=("p",)), "the passes `p` at `shop:middle` wait for each other"),
    ],
)
def test_an_extension_that_cannot_be_ordered(row: PassRow, message: str) -> None:
    from tirx.transform.extensions import check_order

    with pytest.raises(BackendError) as error:
        check_order(rows(row))  # type: ignore[arg-type]
    assert error.value.message == message
