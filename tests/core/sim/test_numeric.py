"""Conversions that hardware defines and NumPy does otherwise."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tirx.sim.numeric import cast_array


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_eight_bit_floats_saturate_and_keep_nan(name: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, name))
    largest = float(ml_dtypes.finfo(kind).max)
    found = cast_array(np.array([1e9, -1e9, np.inf, np.nan, 1.5], np.float32), kind).astype(np.float32)
    np.testing.assert_array_equal(found, np.array([largest, -largest, largest, np.nan, 1.5], np.float32))


def test_halves_convert_through_enough_precision() -> None:
    kind = np.dtype(ml_dtypes.float8_e4m3fn)
    found = cast_array(np.array([1.0625, 448.0, 60000.0], np.float16), kind).astype(np.float32)
    np.testing.assert_array_equal(found, np.array([1.0, 448.0, 448.0], np.float32))


def test_floats_to_integers_truncate_and_saturate() -> None:
    found = cast_array(np.array([1.9, -1.9, 1e20, -1e20], np.float32), np.dtype(np.int32))
    np.testing.assert_array_equal(found, np.array([1, -1, 2**31 - 1, -(2**31)], np.int32))


@pytest.mark.parametrize(("name", "digits"), [("bfloat16", 7), ("float8_e4m3fn", 3), ("float8_e5m2", 2)])
def test_doubles_and_integers_are_rounded_once(name: str, digits: int) -> None:
    kind = np.dtype(getattr(ml_dtypes, name))
    tie = 1 + 2.0 ** -(digits + 1)
    found = cast_array(np.array([tie, tie + 2.0**-40, -tie - 2.0**-40, tie - 2.0**-40]), kind).astype(np.float64)
    np.testing.assert_array_equal(found, [1, 1 + 2.0**-digits, -1 - 2.0**-digits, 1])
    large = np.array([2**24 + 2 ** (23 - digits) + 1], np.int64)
    assert name != "bfloat16" or cast_array(large, kind).astype(np.int64) == 2**24 + 2 ** (24 - digits)
    assert (
        cast_array(np.array([1000], np.int32), kind).astype(np.float32)
        == {"bfloat16": 1000, "float8_e4m3fn": 448, "float8_e5m2": 1024}[name]
    )
