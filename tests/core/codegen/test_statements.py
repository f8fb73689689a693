"""Statements: declared where first used, one line where one is enough."""

from __future__ import annotations

import pytest

from tests.core.codegen.dialect import lines
from tirx.codegen.writer import SourceWriter
from tirx.intrinsic.core import calls, collective, control
from tirx.ir import (
    GE,
    LT,
    Alloc,
    Assert,
    Bind,
    Break,
    Broadcast,
    Buffer,
    BufferLoad,
    BufferStore,
    Decl,
    DType,
    Evaluate,
    For,
    If,
    Let,
    PointerType,
    Ramp,
    Return,
    Seq,
    Stmt,
    StringImm,
    Var,
    While,
    const,
)  # fmt: skip
from tirx.support.errors import TargetError
from tirx.support.span import Span

N = Var("n", DType("int32"))
I = Var("i", DType("int32"))
A = Buffer("A", (64,), "float32", layout=None)
ACC = Buffer("acc", (1,), "float32", scope="local", layout=None, is_scalar=True)


def store(value: object, index: object = 0, buffer: Buffer = A) -> BufferStore:
    return BufferStore(
        buffer,
        const(value) if isinstance(value, int | float) else value,
        (const(index) if isinstance(index, int) else index,),
    )


def load(buffer: Buffer, index: object = 0) -> BufferLoad:
    return BufferLoad(buffer, (const(index) if isinstance(index, int) else index,))


def test_a_scalar_is_declared_with_its_first_value() -> None:
    assert lines(Alloc(ACC), store(1.0, 0, A), store(0.0, 0, ACC), store(load(ACC), 1)) == [
        "A[0] = 1.0f;",
        "float acc = 0.0f;",
        "A[1] = acc;",
    ]


def test_a_scalar_whose_first_value_is_conditional_is_declared_before() -> None:
    found = lines(Alloc(ACC), store(1.0, 0, A), If(LT(N, const(3)), store(0.0, 0, ACC)), store(load(ACC), 1))
    assert found == ["A[0] = 1.0f;", "float acc;", "if (n < 3) acc = 0.0f;", "A[1] = acc;"]


def test_a_pointer_to_a_scalar() -> None:
    whole = Buffer("whole", (1,), "float32", data=ACC.data, scope="local", layout=None)
    text = lines(Alloc(ACC), store(0.0, 0, ACC), store(load(whole), 1), Bind(Var("p", ACC.data.dtype), ACC.data))
    assert text == ["float acc = 0.0f;", "A[1] = (&acc)[0];", "const float* p = &acc;"]


def test_storage_that_nothing_uses_is_not_declared() -> None:
    assert lines(Alloc(ACC), store(1.0)) == ["A[0] = 1.0f;"]


def test_an_update_in_place() -> None:
    assert lines(store(load(A, I) + 2.0, I)) == ["A[i] += 2.0f;"]
    assert lines(store(load(A, I) + 2.0, I + 1)) == ["A[i + 1] = A[i] + 2.0f;"]


def test_a_launch_index_is_known_not_to_be_negative() -> None:
    t = Var("t", DType("int32"))
    found = lines(Bind(t, calls.launch_index(axis="thread.x")), store(1.0, t // 3))
    assert found == ["int t = local_id(0);", "A[t / 3] = 1.0f;"]


@pytest.mark.parametrize(
    ("start", "extent", "step", "head"),
    [
        (0, 8, 1, "for (int i = 0; i < 8; ++i) {"),
        (2, 8, 3, "for (int i = 2; i < 10; i += 3) {"),
        (0, N, 1, "for (int i = 0; i < n; ++i) {"),
        (N, 4, 1, "for (int i = n; i < n + 4; ++i) {"),
        (7, -8, -1, "for (int i = 7; i > -1; --i) {"),
        (9, -9, -3, "for (int i = 9; i > 0; i -= 3) {"),
        (0, 8, N, "for (int i = 0; n > 0 ? i < 8 : i > 8; i += n) {"),
    ],
)
def test_for(start: object, extent: object, step: object, head: str) -> None:
    first, count, by = (const(item) if isinstance(item, int) else item for item in (start, extent, step))
    assert lines(For(I, first, count, by, "serial", store(1.0, I))) == [head, "  A[i] = 1.0f;", "}"]


def test_unrolling_is_asked_for() -> None:
    def loop(kind: str, *annotations: tuple[str, object]) -> list[str]:
        return lines(For(I, const(0), const(4), const(1), kind, store(1.0, I), annotations))[:1]

    assert loop("unrolled") == ["#pragma unroll"]
    assert loop("serial", ("unroll", 2)) == ["#pragma unroll 2"]
    assert loop("serial", ("unroll", False)) == ["#pragma unroll 1"]
    assert loop("serial") == ["for (int i = 0; i < 4; ++i) {"]


def test_loops_one_after_the_other_share_a_name() -> None:
    def loop() -> Stmt:
        var = Var("i", DType("int32"))
        return For(var, const(0), const(4), const(1), "serial", store(1.0, var))

    assert [line for line in lines(loop(), loop()) if "for" in line] == ["for (int i = 0; i < 4; ++i) {"] * 2


def test_branches() -> None:
    found = lines(If(LT(N, const(1)), store(1.0), If(LT(N, const(2)), Seq((store(2.0), store(3.0, 1))), store(4.0))))
    assert found == [
        "if (n < 1) {", "  A[0] = 1.0f;", "} else if (n < 2) {", "  A[0] = 2.0f;", "  A[1] = 3.0f;", "} else {", "  A[0] = 4.0f;", "}",
    ]  # fmt: skip


def test_jumps() -> None:
    assert lines(While(LT(N, const(4)), If(GE(N, const(3)), Break())), Return()) == [
        "while (n < 4) {", "  if (n >= 3) break;", "}", "return;",
    ]  # fmt: skip


def test_calls_for_their_effect() -> None:
    assert lines(Evaluate(collective.tvm_storage_sync("shared")), Evaluate(const(0))) == ["barrier();"]


def test_an_assertion_says_where_it_stands() -> None:
    node = Assert(LT(N, const(4)), (StringImm("100% wrong: n = "), N), span=Span("/x/kernel.py", 7))
    assert lines(node) == ["if (n >= 4) {", '  fail("RuntimeError: 100%% wrong: n = %d at kernel.py:7\\n", n);', "}"]


def test_shared_arrays_and_vectors() -> None:
    tile = Buffer("tile", (64,), "float32", scope="shared", layout=None)
    ramp = Ramp(N, const(1), 4)
    found = lines(Alloc(tile), BufferStore(tile, BufferLoad(A, (ramp,)), (ramp,)))
    assert found == ["local_memory alignas(16) float tile[64];", "*(float4*)&tile[n] = *(float4*)&A[n];"]


@pytest.mark.parametrize(("lanes", "align"), [(2, "alignas(8) "), (3, ""), (6, "alignas(8) "), (8, "alignas(16) ")])
def test_storage_is_aligned_by_a_power_of_two(lanes: int, align: str) -> None:
    tile = Buffer("tile", (64,), "float32", scope="local", layout=None)
    at = (Ramp(N, const(1), lanes),)
    made = lines(Alloc(tile), BufferStore(tile, BufferLoad(A, at), at))
    assert f"{align}float tile[64];" in made


def test_a_scattered_vector_is_stored_lane_by_lane() -> None:
    found = lines(BufferStore(A, Broadcast(const(1.0), 2), (Ramp(N, const(8), 2),)))
    assert found == ["A[n] = 1.0f;", "A[n + 8] = 1.0f;"]


def test_a_view_with_another_type() -> None:
    view = Buffer("V", (64,), "int32", data=A.data, layout=None)
    pointer = Buffer("P", (4,), "int32", data=Var("P", PointerType("int32")), layout=None)
    found = lines(
        Decl(view), Decl(pointer, calls.call_extern("handle", "find")), store(1, 0, view), store(load(pointer), 1, view)
    )
    assert found == ["int* V = (int*)A;", "const int* P = (int*)find();", "V[0] = 1;", "V[1] = P[0];"]


def test_a_let_becomes_a_declaration() -> None:
    assert lines(store(Let(I, N * 2, load(A, I) + load(A, I + 1)))) == ["int i = n * 2;", "A[0] = A[i] + A[i + 1];"]


def test_memory_that_the_language_lacks() -> None:
    odd = Buffer("odd", (4,), "float32", scope="attic", layout=None)
    with pytest.raises(TargetError, match="`odd` is in attic memory, which cannot be allocated in a kernel for c"):
        lines(Alloc(odd), store(1.0, 0, odd))


def test_a_type_that_the_language_lacks() -> None:
    odd = Buffer("odd", (4,), "float16", scope="local", layout=None)
    with pytest.raises(TargetError, match="float16 cannot be computed with on target c"):
        lines(Alloc(odd), store(load(odd), 1, odd))


def test_line_directives() -> None:
    out = SourceWriter(directives=True)
    out.line("a;", Span("k.py", 3))
    out.line("b;", Span("k.py", 4))
    out.line("c;", Span("k.py", 9))
    assert out.text().splitlines() == ['#line 3 "k.py"', "a;", "b;", '#line 9 "k.py"', "c;"]
    assert {number: span.line for number, span in out.places.items()} == {2: 3, 3: 4, 5: 9}


@pytest.mark.parametrize("lanes", [4, 8])
def test_a_vector_that_is_not_chosen_is_not_loaded(lanes: int) -> None:
    run = Ramp(const(0), const(1), lanes)
    chosen = control.if_then_else(LT(N, const(8)), BufferLoad(A, (run,)), Broadcast(const(1.0), lanes))
    made = lines(BufferStore(A, chosen, (Ramp(const(8), const(1), lanes),)))
    load = {4: "*(float4*)&A[0]", 8: "*(float32x8*)&A[0]"}[lanes]
    assert len([line for line in made if "&A[0]" in line]) == 1
    assert any(f"n < 8 ? {load} : " in line for line in made), made
