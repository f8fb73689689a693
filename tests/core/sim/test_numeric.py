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
