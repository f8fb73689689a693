"""Rules that rows bring: requirements of emissions, capabilities of kinds, memories, checks of a backend's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tirx import backend
from tirx.analysis.verify import emission_of, verify_module
from tirx.backend import hookimpl
from tirx.intrinsic import Emission, Intrinsic, Requirement, call
from tirx.ir import (
    INT32,
    Alloc,
    Attr,
    Bind,
    Buffer,
    Cast,
    DType,
    Evaluate,
    IRModule,
    PrimFunc,
    ScopeIdDef,
    Stmt,
    Var,
    While,
    const,
    seq,
    set_builder,
)  # fmt: skip
from tirx.support.errors import Diagnostic, VerifyError
from tirx.support.span import Span
from tirx.target import Attribute, Capabilities, ScopeModel, StorageScope, Target, TargetKind
from tirx.transform.row import Check

HERE = Span("lab.py", 3, 0)
FANCY = Intrinsic("lab.fancy", doc="needs a new machine", effect="opaque")
PLAIN = Intrinsic("lab.plain", doc="runs everywhere", effect="opaque")
FOREIGN = Intrinsic("lab.foreign", doc="of another kind", effect="opaque")


def _kind(name: str, parent: str | None = None) -> TargetKind:
    return TargetKind(
        name,
        doc="a machine without threads, for tests",
        attributes={"model": Attribute(int, 1)},
        scope_model=lambda target, attrs: ScopeModel(),
        capabilities=lambda target: Capabilities(("int32", "float32"), ("calls",), scopes=("global", "lab.bank")),
        limits=lambda target: {},
        parent=parent,
    )


def _no_even_model(module: IRModule, target: Target) -> Iterator[Diagnostic]:
    if target["model"] % 2 == 0:
        yield Diagnostic("even models are not sold", HERE)


class Lab:
    """The plugin."""

    @staticmethod
    @hookimpl
    def tirx_target_kinds() -> list[TargetKind]:
        return [_kind("lab"), _kind("lab_special", parent="lab")]

    @staticmethod
    @hookimpl
    def tirx_intrinsics() -> list[Intrinsic]:
        return [FANCY, PLAIN, FOREIGN]

    @staticmethod
    @hookimpl
    def tirx_emissions() -> list[Emission]:
        newer = Requirement("model 3 or newer", lambda target: target["model"] >= 3, ("3", "5"))
        return [Emission("lab.fancy", "lab", "fancy()", requires=newer), Emission("lab.plain", "lab", "plain()")]

    @staticmethod
    @hookimpl
    def tirx_storage_scopes() -> list[StorageScope]:
        return [StorageScope("lab.bank", doc="a bank", capacity=lambda target: 64, dtypes=("float32",))]

    @staticmethod
    @hookimpl
    def tirx_checks() -> list[Check]:
        return [Check("parity", "lab", "bound", _no_even_model)]


@pytest.fixture(autouse=True)
def lab() -> Iterator[None]:
    if "lab" not in backend.available():
        backend.register("lab", Lab(), distribution="lab-kit", version="1.2", provides=("kind.lab", "kind.lab_special"))
    yield
    backend.unload("lab")


def messages(target: str, *stmts: Stmt) -> list[str]:
    body = Attr("tirx.device_entry", const(True), seq(stmts))
    module = IRModule([PrimFunc("k", (), body, {"global_symbol": "k"})])
    return [item.message for item in verify_module(module, Target(target), "bound")]


def run(row: Intrinsic) -> Stmt:
    made = call(row)
    return Evaluate(made, span=HERE)


def test_a_call_that_the_target_is_too_old_for() -> None:
    assert messages("lab", run(FANCY)) == ["`lab.fancy` needs model 3 or newer; the target is `lab`"]
    assert messages("lab -model=3", run(FANCY)) == []


def test_a_kind_inherits_emissions_of_its_parent() -> None:
    target = Target("lab_special -model=3")
    assert emission_of("lab.fancy", target) is emission_of("lab.fancy", Target("lab"))
    assert emission_of("lab.nothing", target) is None


def test_a_call_of_another_backend() -> None:
    Target("lab")
    (message,) = messages("generic", run(PLAIN))
    assert message == "`lab.plain` of lab-kit does not exist on target `generic`"


class Recorder:
    """A builder that takes notes of calls."""

    def __init__(self) -> None:
        self.noted: list[Any] = []

    def note(self, made: Any) -> None:
        self.noted.append(made)


def test_a_call_is_refused_where_it_is_written() -> None:
    recorder = Recorder()
    undo = set_builder(recorder)  # type: ignore[arg-type]  # as much of a builder as a call needs
    try:
        with Target("lab"), pytest.raises(VerifyError) as error:
            call(FANCY)
        with Target("lab -model=3"):
            call(FANCY)
        call(FANCY)
    finally:
        undo()
    assert error.value.message == "`lab.fancy` needs model 3 or newer; the target is `lab`"
    assert len(recorder.noted) == 2


def test_constructs_and_dtypes_that_the_kind_lacks() -> None:
    stmts = (
        While(const(True), seq([]), span=HERE),
        Bind(Var("x", INT32), const(1), span=HERE),
        Evaluate(Cast(DType("float16"), const(1.0), span=HERE), span=HERE),
    )
    assert messages("lab", *stmts) == ["target `lab` has no loops with a condition", "target `lab` has no float16"]


def test_ids_on_a_target_without_threads() -> None:
    ids = ScopeIdDef((Var("tx", INT32),), (const(4),), "cta", "thread", span=HERE)
    assert messages("lab", ids) == ["`thread_id([4])` counts threads, and target `lab` has none"]


@pytest.mark.parametrize(
    ("target", "dtype", "size", "expected"),
    [
        ("lab", "float32", 16, []),
        ("lab", "float32", 17, ["68 bytes of lab.bank memory: target `lab` has 64"]),
        ("lab", "int32", 4, ["`b`: lab.bank memory does not hold int32"]),
        ("generic", "float32", 4, ["`b` is in lab.bank memory, which target `generic` does not have"]),
    ],
)
def test_memories(target: str, dtype: str, size: int, expected: list[str]) -> None:
    Target("lab")
    assert messages(target, Alloc(Buffer("b", (size,), dtype, scope="lab.bank"), span=HERE)) == expected


def test_a_check_of_the_backend() -> None:
    assert messages("lab -model=4") == ["even models are not sold"]
    assert messages("lab -model=5") == []
