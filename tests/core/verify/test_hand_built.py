"""Programs that the language does not let anybody write, but that passes and people who build IR by hand can make."""

from __future__ import annotations

import pytest

from tirx.analysis.verify import check_module, check_well_formed, verify_module
from tirx.ir import (
    INT32,
    Add,
    Alloc,
    Attr,
    Bind,
    Buffer,
    BufferStore,
    Call,
    For,
    GlobalVar,
    IRModule,
    PrimFunc,
    Stmt,
    Var,
    const,
    seq,
)  # fmt: skip
from tirx.support.errors import VerifyError
from tirx.support.span import Span
from tirx.target import Target

HERE = Span("hand.py", 7, 4)


def module(*stmts: Stmt, params: tuple[Buffer | Var, ...] = ()) -> IRModule:
    body = Attr("tirx.device_entry", const(True), seq(stmts))
    return IRModule([PrimFunc("k", params, body, {"global_symbol": "k"})])


def only_message(mod: IRModule) -> str:
    (found,) = verify_module(mod, Target("generic"), "bound")
    assert found.span is HERE
    return found.message


def loop(var: Var, body: Stmt, kind: str = "serial", step: int = 1) -> For:
    return For(var, const(0), const(4), const(step), kind, body, span=HERE)


A = Buffer("A", (16,))
x, y = Var("x", INT32), Var("y", INT32)


def test_unknown_scope() -> None:
    (found,) = verify_module(module(Alloc(Buffer("t", (4,), scope="sharedd"), span=HERE)), Target("generic"))
    assert found.message == "`t` is in memory `sharedd`, which does not exist"
    assert found.hint == "did you mean `shared` or `shared.dyn`?"


def test_step_zero() -> None:
    assert only_message(module(loop(x, seq([]), step=0))) == "the loop over `x` has step 0"


def test_unknown_loop() -> None:
    (found,) = verify_module(module(loop(x, seq([]), kind="vectorised")), Target("generic"))
    assert found.message == "`vectorised` is no kind of loop"
    assert found.hint == "did you mean `vectorized`?"


def test_use_of_a_foreign_variable() -> None:
    found = only_message(module(BufferStore(A, const(1.0), (x,), span=HERE), params=(A,)))
    assert found == "`x` is not defined in this function"


def test_use_before_definition() -> None:
    store = BufferStore(A, const(1.0), (x,), span=HERE)
    found = only_message(module(store, Bind(x, const(1), span=Span("hand.py", 9)), params=(A,)))
    assert found == "`x` is used before its definition in line 9"


def test_use_outside_of_the_block() -> None:
    inner = loop(y, seq([Bind(x, y), BufferStore(A, const(1.0), (x,))]))
    found = only_message(module(inner, BufferStore(A, const(1.0), (x,), span=HERE), params=(A,)))
    assert found.startswith("`x` is used outside of the block that defines it")


def test_storage_that_nobody_allocated() -> None:
    found = only_message(module(BufferStore(A, const(1.0), (const(0),), span=HERE)))
    assert found == "`A` is not defined in this function"


def test_second_definition() -> None:
    twice = Bind(x, const(2), span=HERE)
    found = only_message(module(Bind(x, const(1), span=Span("hand.py", 3)), twice, params=(A,)))
    assert found == "`x` is defined twice, first in line 3"


@pytest.mark.parametrize(
    ("stmt", "message"),
    [
        (BufferStore(A, const(1), (const(0),), span=HERE), "an int32 value is stored where `A` takes float32"),
        (BufferStore(A, const(1.0), (const(0.0),), span=HERE), "an index of `A` is of type float32, not an integer"),
        (BufferStore(A, const(1.0), (const(0), const(0)), span=HERE), "`A` has 1 dimensions and is indexed with 2"),
        (Bind(x, const(1.0), span=HERE), "`x` of type int32 is bound to a float32 value"),
        (Bind(x, Add(const(1), const(1, "int64"), span=HERE)), "operands of type int32 and int64 meet in one Add"),
    ],
)
def test_types(stmt: Stmt, message: str) -> None:
    assert only_message(module(stmt, params=(A,))) == message
    with pytest.raises(VerifyError) as error:
        check_well_formed(module(stmt, params=(A,)))
    assert error.value.message == message


def test_call_of_a_missing_function() -> None:
    call = Call(INT32, GlobalVar("helpr"), (), span=HERE)
    helper = PrimFunc("helper", (), seq([]))
    mod = IRModule([*module(Bind(x, call)), helper])
    (found,) = verify_module(mod, Target("generic"))
    assert found.message == "there is no function `helpr` in the module"
    assert found.hint == "did you mean `helper`?"


def test_call_with_too_few_arguments() -> None:
    call = Call(INT32, GlobalVar("helper"), (), span=HERE)
    mod = IRModule([*module(Bind(x, call)), PrimFunc("helper", (y,), seq([]))])
    (found,) = verify_module(mod, Target("generic"))
    assert found.message == "`helper` takes 1 arguments (y), not 0"


def test_all_problems_come_in_one_error() -> None:
    bad = [Alloc(Buffer(name, (0,), scope="local"), span=HERE) for name in ("a", "b")]
    with pytest.raises(VerifyError) as error:
        check_module(module(*bad), Target("generic"))
    assert [item.message for item in error.value.diagnostics] == [
        "`a` in local memory has no elements",
        "`b` in local memory has no elements",
    ]


def test_without_a_target_only_the_language_counts() -> None:
    big = Alloc(Buffer("s", (1 << 20,), scope="shared"), span=HERE)
    assert not verify_module(module(big))
    assert verify_module(module(big), Target("generic"))
