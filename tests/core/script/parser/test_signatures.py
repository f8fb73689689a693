"""Parameters, annotations, decorators and compile-time parameters."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from tests.core.script.parser import plain_annotations
from tirx import script as Tx
from tirx.ir import Buffer, PrimFunc, Var, structural_equal
from tirx.support.errors import ScriptError

ROWS = 16
Vector = Tx.Buffer((64,), "float32")


def shapes(func: PrimFunc) -> list[tuple[object, ...]]:
    return [
        tuple(getattr(e, "name", e) for e in p.shape) if isinstance(p, Buffer) else (str(p.dtype),) for p in func.params
    ]


def test_every_kind_of_parameter() -> None:
    @Tx.prim_func
    def f(
        A: Tx.Buffer((ROWS, 4), "float16", scope="global"),
        B: Tx.Buffer[(ROWS,), "int8"],  # noqa: UP037, F821
        C: Vector,
        D: Vector,
        p: Tx.handle,
        q: Tx.handle("float32", "shared"),
        s: Tx.bfloat16,
    ):
        A[0, 0] = 1.0

    assert f.names == ("A", "B", "C", "D", "p", "q", "s")
    assert shapes(f) == [(16, 4), (16,), (64,), (64,), ("handle",), ("handle",), ("bfloat16",)]
    assert f.params[2] is not f.params[3]
    assert f.params[5].dtype.pointee == "float32"


def test_symbolic_dimensions() -> None:
    @Tx.prim_func
    def f(A: Tx.Buffer(("m", 64)), B: Tx.Buffer((m, "k")), n: Tx.int32, C: Tx.Buffer(("n", "k"))):  # noqa: F821
        for i in range(m):  # noqa: F821
            A[i, 0] = B[i, k - 1]  # noqa: F821

    assert shapes(f) == [("m", 64), ("m", "k"), ("int32",), ("n", "k")]
    assert [var.name for var in f.symbols()] == ["m", "k"]
    assert f.params[3].shape[0] is f.params[2]
    assert f.params[0].shape[0] is f.params[1].shape[0] is f.body.extent


def test_quoted_dimensions_may_be_expressions() -> None:
    @Tx.prim_func
    def f(A: Tx.Buffer(("2 * m", ROWS)), B: Tx.Buffer(("m + ROWS",))):
        A[0, 0] = B[m]  # noqa: F821

    assert [var.name for var in f.symbols()] == ["m"]
    assert f.params[0].shape[0].b is f.symbols()[0]


def test_annotations_that_python_evaluates_mean_the_same() -> None:
    assert structural_equal(plain_annotations.make(4), make_here(4))
    assert shapes(plain_annotations.make(4)) == [("m", 4), ("m", 4), ("int32",)]


def make_here(width: int) -> PrimFunc:
    @Tx.prim_func
    def f(A: Tx.Buffer(("m", width), "float32"), B: "Tx.Buffer((m, width), 'float32')", n: "Tx.int32"):  # noqa: F821, UP037
        A[0, 0] = B[0, n]

    return f


def test_annotations_see_every_enclosing_function() -> None:
    def outer(width: int) -> PrimFunc:
        def inner() -> PrimFunc:
            @Tx.prim_func
            def f(A: Tx.Buffer((width,))):  # only this annotation uses `width`
                A[0] = 1.0

            return f

        return inner()

    assert shapes(outer(3)) == [(3,)]


def test_handles_become_buffers() -> None:
    @Tx.prim_func
    def f(a: Tx.handle, n: Tx.int32):
        A = Tx.match_buffer(a, (n, 4), "float16")
        A[0, 0] = 1.0

    assert f.names == ("a", "n")
    assert isinstance(f.params[0], Buffer)
    assert f.params[0].name == "A"


def test_result_types() -> None:
    @Tx.prim_func
    def f(n: Tx.int32) -> Tx.int64:
        return n + 1

    @Tx.prim_func(private=True)
    def g(n: Tx.int32):
        if n > 0:
            return 1.5
        return 2.0

    assert f.result == "int64"
    assert g.result == "float32"
    assert "global_symbol" not in g.attrs


def test_decorator_options() -> None:
    @Tx.prim_func(private=True, persistent=True)
    def f(A: Vector):
        Tx.func_attr({"note": 1})

    assert f.attrs == {"tirx.persistent": True, "note": 1}

    @Tx.prim_func
    def g(A: Vector):
        A[0] = 1.0

    assert g.attrs == {"global_symbol": "g"}
    assert g.name == "g"


def test_other_decorators_above_and_below() -> None:
    kept = []

    def keep(func: Any) -> Any:
        kept.append(func)
        return func

    def wrap(func: Any) -> Any:
        return functools.wraps(func)(lambda *args: func(*args))

    @keep
    @Tx.prim_func
    @wrap
    def f(A: Vector):
        A[0] = 1.0

    assert kept == [f]
    assert isinstance(f, PrimFunc)
    assert f.name == "f"


def test_a_context_of_the_same_name() -> None:
    with Tx.prim_func(private=True) as frame:
        Tx.func_name("g")
        A = Tx.arg("A", Tx.Buffer((4,)))
        A[0] = 1.0
    assert frame.get().name == "g"
    assert frame.get().attrs == {}


class TestJit:
    def test_constants_are_python_values(self) -> None:
        @Tx.jit
        def f(A: Tx.Buffer((N, "m")), *, N: Tx.constexpr, fast: Tx.constexpr = False):  # noqa: F821
            for i in range(N):
                if fast:
                    A[i, 0] = 0.0
                else:
                    A[i, N - 1] = 1.0

        func = f.specialize(N=4)
        assert func.names == ("A",)
        assert shapes(func) == [(4, "m")]
        assert func.body.extent.value == 4
        assert func.body.body.value.value == 1.0
        assert f.specialize(N=4, fast=True).body.body.value.value == 0.0

    def test_the_same_values_give_the_same_kernel(self) -> None:
        @Tx.jit
        def f(A: Vector, a: Tx.constexpr, b: Tx.constexpr = 2):
            A[a] = b

        assert f.specialize(a=1) is f.specialize(a=1) is f.specialize(b=2, a=1)
        assert f.specialize(a=1) is not f.specialize(a=2)
        assert f.specialize(a=1, b=2) is not f.specialize(a=1, b=2.0)

    def test_optional_parameters(self) -> None:
        @Tx.jit
        def f(A: Vector, bias: Tx.Optional(Vector), out: Tx.Optional[Vector]):
            if bias is not None:
                A[0] = bias[0]
            else:
                A[1] = 1.0

        assert f.specialize().names == ("A", "bias", "out")
        assert f.specialize(bias=None).names == ("A", "out")
        assert f.specialize(bias=None).body.indices[0].value == 1

    def test_values_may_be_anything_hashable(self) -> None:
        @Tx.jit
        def f(A: Vector, op: Tx.constexpr, dtype: Tx.constexpr):
            x = op(A[0])
            y: dtype = 1
            A[1] = x + y

        func = f.specialize(op=lambda x: x * 2.0, dtype=Tx.float32)
        assert "Mul" in repr(func.body)

    def test_plain_annotations(self) -> None:
        assert shapes(plain_annotations.jitted.specialize(N=8)) == [(8, 2)]


def test_variables_of_a_scalar_parameter_are_in_scope() -> None:
    @Tx.prim_func
    def f(n: Tx.int32, A: Tx.Buffer((n, n + 1))):  # noqa: F821
        A[0, 0] = 1.0

    assert isinstance(f.params[0], Var)
    assert f.params[1].shape[0] is f.params[0]


def test_parameters_know_their_place() -> None:
    @Tx.prim_func
    def f(
        A: Vector,
        n: Tx.int32,
    ):
        A[0] = 1.0

    first = f.span.line
    assert [p.span.line for p in f.params] == [first + 1, first + 2]


def test_a_constant_default_of_a_kernel_is_refused() -> None:
    with pytest.raises(ScriptError, match="no default value"):

        @Tx.prim_func
        def f(n: Tx.int32 = 1):
            pass
