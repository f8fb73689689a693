"""What the printer must not do: break out of quotes, lose names, print what cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from tirx import script as Tx
from tirx.ir import (
    BOOL,
    EQ,
    HANDLE,
    INT32,
    LT,
    Add,
    And,
    Attr,
    Buffer,
    BufferLoad,
    BufferStore,
    Cast,
    Div,
    DType,
    Evaluate,
    Expr,
    FloatImm,
    FloorDiv,
    IntImm,
    Mod,
    Mul,
    Neg,
    Not,
    Or,
    PrimFunc,
    RShift,
    Select,
    Seq,
    Shuffle,
    StringImm,
    Sub,
    Tuple,
    Var,
    const,
)  # fmt: skip
from tirx.script.printer import to_script
from tirx.testing import assert_round_trip

X, Y = Var("x", INT32), Var("y", INT32)
F = Var("f", DType("float32"))
P, Q = Var("p", BOOL), Var("q", BOOL)
L = Var("l", DType("int64"))
INT8 = DType("int8")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Sub(X, Sub(Y, X)), "x - (y - x)"),
        (Sub(Sub(X, Y), X), "x - y - x"),
        (Mul(Add(X, Y), X), "(x + y) * x"),
        (Add(Mul(X, Y), X), "x * y + x"),
        (Neg(Add(X, Y)), "-(x + y)"),
        (Neg(Neg(X)), "--x"),
        (Mul(Neg(X), Y), "-x * y"),
        (Sub(X, const(-1)), "x - -1"),
        (Mul(const(-2), X), "-2 * x"),
        (EQ(LT(X, Y), LT(Y, X)), "(x < y) == (y < x)"),
        (Not(And(P, Q)), "not (p and q)"),
        (And(Not(P), Or(P, Q)), "not p and (p or q)"),
        (And(And(P, Q), P), "p and q and p"),
        (And(P, And(Q, P)), "p and (q and p)"),
        (And(const(True), P), "T.And(T.bool(True), p)"),
        (LT(const(1), X), "T.int32(1) < x"),
        (Add(L, const(1, "int64")), "l + 1"),
        (Add(const(1, "int64"), L), "1 + l"),
        (Cast(DType("int64"), const(1)), 'T.Cast("int64", 1)'),
        (Add(const(1), const(2)), "T.Add(1, 2)"),
        (Div(X, Y), "T.truncdiv(x, y)"),
        (Div(F, F), "f / f"),
        (Mod(X, Y), "T.truncmod(x, y)"),
        (FloorDiv(F, F), "T.FloorDiv(f, f)"),
        (RShift(Add(X, Y), const(1)), "x + y >> 1"),
        (Select(P, X, const(0)), "T.Select(p, x, 0)"),
        (FloatImm(float("-inf"), DType("float16")), 'T.float16("-inf")'),
        (FloatImm(0.1, DType("float32")), "0.1"),
        (FloatImm(0.1, DType("bfloat16")), "T.bfloat16(0.1)"),
        (IntImm(-128, INT8), "T.int8(-128)"),
        (const(True), "T.bool(True)"),
        (const(3, "int32x4"), "T.Broadcast(3, 4)"),
        (Shuffle((X, Y), (1, 0)), "T.Shuffle([x, y], [1, 0])"),
        (Tuple((X, StringImm("a"))), 'T.tvm_tuple(x, "a")'),
    ],
)  # fmt: skip
def test_expressions(expr: Expr, text: str) -> None:
    free = {"x": INT32, "y": INT32, "f": DType("float32"), "p": BOOL, "q": BOOL, "l": DType("int64")}
    assert to_script(expr) == text
    variables = {"x": X, "y": Y, "f": F, "p": P, "q": Q, "l": L}
    func = PrimFunc("k", [variables[name] for name in free], Evaluate(expr), {"global_symbol": "k"})
    assert_round_trip(func)


HOSTILE = ['"', "'", '"""', "\\", "\n", "'; import os; '", '"); T.evaluate(0)  #', "\u2028", "{x}", "\x00"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_inside_its_quotes(text: str) -> None:
    A = Buffer("A", (4,), "int32")
    body = Attr(text, StringImm(text), BufferStore(A, const(1), (const(0),)))
    assert_round_trip(PrimFunc("k", [A], body, {"global_symbol": text, "note": text, text: (text,)}))


@pytest.mark.parametrize("name", [*HOSTILE, "class", "T", "range", "a b", "é", "ﬁ", "1", "", "__builtins__"])
def test_any_name_can_be_written(name: str) -> None:
    A = Buffer(name, (4,), "int32")
    local = Buffer(name, (4,), "int32", scope="local")
    body = BufferStore(A, BufferLoad(A, (Var(name, INT32),)), (const(0),))
    title = name if name.strip() else "k"
    assert_round_trip(PrimFunc(title, [A], body, {"global_symbol": title}))
    assert local.name == name


def test_names_in_nested_blocks_do_not_shadow() -> None:
    def body(A: Any) -> None:
        for i in Tx.serial(4):
            x = Tx.bind(A[i])
            for j in Tx.serial(2):
                inner = Tx.bind(x + 1.0)
                inner_again = Tx.bind(inner + x)
                A[j] = inner_again
            A[i] = x

    kernel = Tx.trace(body, Tx.Buffer((4,)))
    for var in (node for node in _binds(kernel)):
        var.name = "x"
    text = to_script(kernel)
    assert [line.split(":")[0].strip() for line in text.splitlines() if "T.let" in line] == ["x", "x_1", "x_2"]
    assert_round_trip(kernel)


def _binds(kernel: PrimFunc) -> list[Var]:
    from tirx.ir import Bind, walk

    return [node.var for node in walk(kernel.body) if isinstance(node, Bind)]


def test_a_keyword_is_no_keyword_of_a_hint() -> None:
    value = Tuple((StringImm("m"), Tuple((StringImm("class"), const(1)))))
    kernel = PrimFunc("k", [], Attr("tirx.hint", value, Seq(())), {"global_symbol": "k"})
    assert "T.attr" in to_script(kernel)


def test_statements_alone_have_text() -> None:
    A = Buffer("A", (4,), "int32")
    assert to_script(BufferStore(A, const(1), (X,))) == 'x = T.int32()\nA = T.buffer((4,), "int32")\nA[x] = 1'
    assert to_script(Seq(())) == "pass"


def test_pointers_without_a_buffer_are_handles() -> None:
    p = Var("p", HANDLE)
    assert to_script(PrimFunc("k", [p], Evaluate(p), {})).splitlines()[2:] == [
        "@T.prim_func(private=True)",
        "def k(p: T.handle):",
        "    T.evaluate(p)",
    ]
