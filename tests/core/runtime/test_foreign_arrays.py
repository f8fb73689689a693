"""Arrays of other libraries that refuse to hand out their data, and arrays of one call that share memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tirx import ir
from tirx.runtime.arrays import ArrayView
from tirx.runtime.bind import bind_arguments
from tirx.support.errors import ArgumentError

X, Y, Z = (ir.Buffer(name, (8,)) for name in "XYZ")
ZERO = ir.const(0)
STORE = ir.BufferStore(Y, ir.BufferLoad(X, (ZERO,)) + ir.BufferLoad(Z, (ZERO,)), (ZERO,))
ADD = ir.PrimFunc("add", [X, Y, Z], STORE)
MAY_OVERLAP = ir.PrimFunc("add", [X, Y, Z], STORE, attrs={"tirx.noalias": False})
HINT = 'pass a copy; or let the kernel say that its arrays may overlap: Tx.func_attr({"tirx.noalias": False})'


class Refusing:
    """An array in host memory whose library says no."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **_: Any) -> Any:
        raise self.error


def arrays() -> list[Any]:
    return [np.zeros(8, np.float32) for _ in range(3)]


@pytest.mark.parametrize("error", [BufferError("it needs gradients"), RuntimeError("it is lazy")])
def test_a_library_that_refuses(error: Exception) -> None:
    with pytest.raises(ArgumentError) as caught:
        bind_arguments(ADD, [*arrays()[:2], Refusing(error)])
    assert caught.value.message == (
        f"argument `Z` of add: the Refusing does not hand out its data: {type(error).__name__}: {error}"
    )
    assert "detached copy" in str(caught.value.hint)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(("at", "other", "names"), [(0, 1, "`X` and `Y`"), (1, 2, "`Y` and `Z`")])
def test_a_written_array_given_twice(at: int, other: int, names: str) -> None:
    given = arrays()
    given[at] = given[other]
    with pytest.raises(ArgumentError) as caught:
        bind_arguments(ADD, given)
    assert caught.value.message == f"arguments {names} of add share memory, and the kernel writes `Y`"
    assert caught.value.hint == HINT


def test_arrays_that_overlap_in_part() -> None:
    whole = np.zeros(15, np.float32)
    with pytest.raises(ArgumentError, match="arguments `X` and `Y` of add share memory"):
        bind_arguments(ADD, [whole[7:], whole[:8], np.zeros(8, np.float32)])
    bind_arguments(ADD, [np.zeros(8, np.float32), *np.zeros((2, 8), np.float32)])


def test_arrays_that_are_only_read_may_be_the_same() -> None:
    x, y, _ = arrays()
    bind_arguments(ADD, [x, y, x])


def test_what_a_kernel_and_a_configuration_allow() -> None:
    x, y, _ = arrays()
    bind_arguments(MAY_OVERLAP, [x, x, y])
    bind_arguments(ADD, [x, x, y], noalias=False)


def test_columns_between_each_other_share_nothing() -> None:
    left, right = (ir.Buffer(name, (4, 2), strides=(4, 1)) for name in ("left", "right"))
    copy = ir.PrimFunc("copy", [left, right], ir.BufferStore(right, ir.const(0.0), (ZERO, ZERO)))
    whole = np.zeros((4, 4), np.float32)
    bind_arguments(copy, [whole[:, :2], whole[:, 2:]])
    with pytest.raises(ArgumentError, match="arguments `left` and `right` of copy share memory"):
        bind_arguments(copy, [whole[:, :2], whole[:, 1:3]])


def test_arrays_on_a_device_are_compared_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(address: int) -> ArrayView:
        return ArrayView(
            pointer=address, shape=(8,), strides=(1,), dtype=ir.FLOAT32, device="lab:0", owner=None, type_name="float32"
        )

    monkeypatch.setattr("tirx.runtime.bind.view_of", seen)
    bind_arguments(ADD, [0x1000, 0x1020, 0x1040])
    with pytest.raises(ArgumentError, match="arguments `Y` and `Z` of add share memory, and the kernel writes `Y`"):
        bind_arguments(ADD, [0x1000, 0x1020, 0x103C])
