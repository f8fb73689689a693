"""Arguments that do not fit: a simulation and a compiled kernel refuse them with the same words, and touch nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tests.programs.bad import scale
from tirx.support.errors import ArgumentError, ScriptError, SimulationError, TargetError, TirxError


def good() -> list[Any]:
    return [np.ones((3, 64), np.float32), np.zeros((3, 64), np.float32), 2.0]


def readonly() -> Any:
    array = np.zeros((3, 64), np.float32)
    array.flags.writeable = False
    return array


def misaligned() -> Any:
    return np.zeros(3 * 64 * 4 + 2, np.uint8)[2:].view(np.float32).reshape(3, 64)


class OnAnotherDevice:
    """What a library offers for an array that is not in host memory (DLPack's device 7)."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (7, 0)

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("not from the host")


BAD = {
    "nothing": (0, None, "expected an array of float32 (n, 64), got NoneType"),
    "a list": (0, [[1.0] * 64], "expected an array of float32 (n, 64), got list"),
    "dtype": (0, np.ones((3, 64)), "expected dtype float32, got float64"),
    "byte order": (0, np.ones((3, 64), ">f4"), "expected dtype float32, got >f4"),
    "rank": (0, np.ones(192, np.float32), "expected 2 dimensions (n, 64), got shape (192,)"),
    "shape": (0, np.ones((3, 65), np.float32), "expected shape (n, 64), got (3, 65) (dimension 1 is 65)"),
    "dimensions disagree": (
        1,
        np.ones((4, 64), np.float32),
        "dimension `n` of scale is 3 by x.shape[0] and 4 by y.shape[0]",
    ),
    "transposed": (0, np.ones((64, 3), np.float32).T, "expected a contiguous (row-major) array, got strides (1, 3)"),
    "every second": (0, np.ones((6, 64), np.float32)[::2], "expected a contiguous (row-major) array"),
    "backwards": (0, np.ones((3, 64), np.float32)[::-1], "expected a contiguous (row-major) array"),
    "broadcast": (0, np.broadcast_to(np.float32(1), (3, 64)), "expected a contiguous (row-major) array"),
    "alignment": (0, misaligned(), "expected data aligned to 4 bytes"),
    "read-only": (1, readonly(), "argument `y` of scale: expected an array that can be written, got a read-only one"),
    "empty": (0, np.ones((0, 64), np.float32), "expected at least one element, got shape (0, 64)"),
    "masked": (0, np.ma.masked_array(np.ones((3, 64), np.float32)), "expected an array, got a masked one"),
    "device": (0, OnAnotherDevice(), "expected an array of float32 (n, 64), got OnAnotherDevice"),
    "text for a number": (2, "2", "argument `a` of scale: expected a number of type float32, got str '2'"),
    "complex": (2, 2j, "expected a number of type float32, got complex 2j"),
    "array for a number": (2, np.ones(1), "expected a number of type float32, got ndarray array([1.])"),
    "too large a number": (2, 1e39, "expected float32, got 1e+39, which overflows it"),
}


@pytest.mark.parametrize("case", BAD)
def test_arguments_that_do_not_fit(case: str) -> None:
    position, value, message = BAD[case]
    args = good()
    args[position] = value
    untouched = args[1].copy()
    for run in (simulated, compiled):
        with pytest.raises(ArgumentError) as caught:
            run(*args)
        assert message in str(caught.value)
    assert np.array_equal(args[1], untouched)


def simulated(*args: Any, **kwargs: Any) -> Any:
    return tirx.simulate(scale, *args, target="generic", **kwargs)


def compiled(*args: Any, **kwargs: Any) -> Any:
    return tirx.compile(scale, "generic")(*args, **kwargs)


@pytest.mark.parametrize("run", [simulated, compiled])
def test_too_few_too_many_and_unknown_arguments(run: Any) -> None:
    x, y, a = good()
    for args, kwargs, message in (
        ((x, y), {}, "scale(x, y, a) takes 3 arguments, and is called with 2"),
        ((x, y, a, a), {}, "takes 3 arguments, and is called with 4"),
        ((x, y, a), {"a": a}, "takes 3 arguments, and is called with 4"),
    ):
        with pytest.raises(ArgumentError) as caught:
            run(*args, **kwargs)
        assert message in str(caught.value)


def test_an_unknown_option_of_a_simulation() -> None:
    with pytest.raises(ArgumentError, match="has no argument `budgte`") as caught:
        simulated(*good(), budgte=1)
    assert caught.value.hint == "did you mean `budget`?"


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_numbers_that_are_not_finite_go_through_as_they_are(value: float) -> None:
    x, y, _ = good()
    assert simulated(x, y, value).verdict == "clean"
    assert np.array_equal(y, np.full_like(y, value), equal_nan=True)


@pytest.mark.parametrize("checks", ["bonds", ["races", "bonds"], 3])
def test_unknown_checks(checks: Any) -> None:
    with pytest.raises(SimulationError, match=r"`bonds`|checks are names, not 3"):
        simulated(*good(), checks=checks)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tirx.compile(3, "generic"), ScriptError, "int is no kernel"),
        (
            lambda: tirx.compile(lambda: 0, "generic"),
            ScriptError,
            "`<lambda>` is a plain function of Python, not a kernel",
        ),
        (lambda: tirx.compile(scale, 3), TargetError, "an int is no target"),
        (lambda: tirx.compile(scale, {"width": 32}), TargetError, "kind"),
        (lambda: tirx.compile(scale, "generic", config={"lines": 1}), TirxError, "unknown configuration key `lines`"),
        (lambda: tirx.simulate(scale, *good()), TargetError, "no target is given"),
        (lambda: scale(*good()), TargetError, "no target is given"),
        (lambda: tirx.compile(scale, "generic").source, TargetError, "has no source: it is simulated only"),
        (lambda: tirx.compile(scale, "generic")["scael"], ArgumentError, "the module has no function `scael`"),
        (lambda: tirx.compile(scale, "generic")(*good()), TargetError, "targets of kind `generic` cannot run here"),
    ],
)
def test_calls_that_make_no_sense(call: Any, error: type[TirxError], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_arrays_that_overlap_are_refused() -> None:
    whole = np.ones((5, 64), np.float32)
    for run in (simulated, compiled):
        with pytest.raises(
            ArgumentError, match="arguments `x` and `y` of scale share memory, and the kernel writes `y`"
        ):
            run(whole[:4], whole[1:], 2.0)
    assert (whole == 1).all()


def test_arrays_that_may_overlap_are_reported_where_they_race() -> None:
    whole = np.ones((5, 64), np.float32)
    report = tirx.simulate(scale, whole[:4], whole[1:], 2.0, target="generic", config={"noalias": False})
    assert report.verdict == "error"
    assert "race" in str(report)
