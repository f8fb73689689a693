"""Buffers refuse indices and views that make no sense, and say what would."""

from __future__ import annotations

import pytest

from tirx import ir
from tirx.support.errors import ScriptError

A = ir.Buffer("A", (4, 8), "float16")
i = ir.Var("i", ir.INT32)
x = ir.Var("x", ir.FLOAT32)


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (lambda: A[i], r"`A` has 2 dimensions \(4, 8\) and is indexed with 1", "one index per dimension"),
        (lambda: A[-1, 0], "index -1 is outside dimension 0", r"last element is A[3]"),
        (lambda: A[0, 8], "index 8 is outside dimension 1", "0 to 7"),
        (lambda: A[0, x], "index 1 of `A` is of type float32", "cast"),
        (lambda: A[0:4:2], "a region has no step", "A.sub"),
        (lambda: list(A), "a buffer cannot be iterated", "loop over an index"),
        (lambda: len(A), "a buffer has no length", "A.shape[0]"),
        (lambda: ir.as_expr(A), "used where a value is expected", "index an element"),
        (lambda: A.view(5, 7), r"keeps its 32 elements; shape \(5, 7\) has 35", ""),
        (lambda: A.view(-1, -1), "at most one -1", ""),
        (lambda: A.permute(0, 0), "does not name each of the 2 dimensions", ""),
        (lambda: A.rearrange("a b"), "has no ->", "write for example"),
        (lambda: A.rearrange("a b -> a"), "both sides", ""),
        (lambda: A.rearrange("a (b c) -> a b c"), "sizes of b, c are not known", "b=4"),
        (lambda: A.rearrange("a (b c) -> a b c", b=3), "8 does not split by 3", ""),
        (lambda: A.tile(1, (3, 3))[0], "do not make up dimension 1", ""),
        (lambda: A.chunk((3,))[0], "does not split into 3 equal chunks", ""),
        (lambda: A.sub[0, 9:], "9 is outside dimension 1", "no negative"),
        (lambda: A.sub[:, ::0], "step of a view", ""),
        (lambda: A.sub[0, ::2].view("float32"), "last dimension of `A` is not contiguous", ""),
    ],
)
def test_refusals(make: object, message: str, hint: str) -> None:
    with pytest.raises(ScriptError, match=message) as caught:
        make()
    assert hint in (caught.value.hint or "")


def test_adding_a_buffer_is_a_python_type_error() -> None:
    with pytest.raises(TypeError):
        A + 1


def test_regions() -> None:
    region = A[0:2, i]
    assert isinstance(region, ir.BufferRegion)
    assert [e.value for e in region.extents] == [2, 1]
    assert [e.value for e in A[...].extents] == [4, 8]
    assert [e.value for e in A[1:].extents] == [3, 8]


def test_vectors() -> None:
    assert A.vload([0, 0], "float16x4").dtype == "float16x4"


def test_statements_outside_a_kernel_are_refused() -> None:
    with pytest.raises(ScriptError, match="this statement belongs in a kernel"):
        A[0, 0] = 1.0


def test_symbolic_shapes() -> None:
    n = ir.Var("n", ir.INT32)
    buffer = ir.Buffer("B", (n, 4))
    assert buffer.view(n * 4).shape[0] is not None
    with pytest.raises(ScriptError, match="cannot prove"):
        buffer.view(n * 5)
