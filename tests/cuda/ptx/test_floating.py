"""Floating point arithmetic against exact fractions, in every rounding mode."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from .machine import run

BF16 = np.dtype(ml_dtypes.bfloat16)
KINDS = {"f16": np.dtype(np.float16), "bf16": BF16, "f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
UINT = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def numbers(dtype: Any, count: int, seed: int) -> Any:
    """Random patterns: all exponents, subnormal numbers, zeros and infinities; half of them of like size."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << (8 * dtype.itemsize), count, dtype=np.uint64).astype(UINT[dtype.itemsize])
    made = bits.view(dtype).copy()
    made[::2] = rng.standard_normal(len(made[::2])).astype(dtype)
    made[:6] = np.array([0.0, -0.0, np.inf, -np.inf, 1.0, -1.0]).astype(dtype)
    return made


def neighbours(dtype: Any) -> Any:
    """All finite values of a small type, ascending."""
    bits = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    return np.unique(bits[np.isfinite(bits)].astype(np.float64))


def rounded(exact: Fraction, dtype: Any, mode: str) -> float:
    """The value of `dtype` that the manual asks for, by comparing fractions."""
    near = _nearest(exact, dtype)
    if mode == "rn":
        return near
    if np.isinf(near):
        away = near > 0
        stays = mode == ("rp" if away else "rm")
        return near if stays else float(_largest(dtype)) * (1 if away else -1)
    gap = Fraction(near) - exact
    if gap == 0:
        return near
    lower, upper = (_step(near, dtype, -1), near) if gap > 0 else (near, _step(near, dtype, 1))
    if mode == "rm":
        return lower
    if mode == "rp":
        return upper
    return lower if exact > 0 else upper


def _largest(dtype: Any) -> Any:
    return np.float64(ml_dtypes.finfo(dtype).max)


def _step(value: float, dtype: Any, direction: int) -> float:
    return float(
        np.nextafter(np.asarray(value).astype(dtype), np.asarray(direction * np.inf).astype(dtype)).astype(np.float64)
    )


def _nearest(exact: Fraction, dtype: Any) -> float:
    """Ties to even, by trying the neighbours of a first guess."""
    limit = Fraction(float(_largest(dtype)))
    ulp = limit - Fraction(_step(float(_largest(dtype)), dtype, -1))
    if abs(exact) >= limit + ulp / 2:
        return float(np.inf if exact > 0 else -np.inf)
    with np.errstate(all="ignore"):
        guess = float(np.clip(float(exact), -float(limit), float(limit)))
        guess = float(np.asarray(guess).astype(dtype).astype(np.float64))
    if np.isinf(guess):
        guess = float(limit) if exact > 0 else -float(limit)
    near = [value for value in (_step(guess, dtype, -1), guess, _step(guess, dtype, 1)) if np.isfinite(value)]
    best = min(abs(Fraction(value) - exact) for value in near)
    tied = sorted({value for value in near if abs(Fraction(value) - exact) == best})
    if len(tied) == 1:
        return tied[0]
    return next(v for v in tied if int(np.asarray(v).astype(dtype).view(UINT[np.dtype(dtype).itemsize])) % 2 == 0)


def check(mnemonic: str, exact: Any, inputs: list[Any], mode: str) -> None:
    """Each finite result is the rounded exact one, bit for bit."""
    dtype = inputs[0].dtype
    made = run(mnemonic, *inputs).view(dtype)
    for at in range(len(made)):
        values = [Fraction(float(item[at])) for item in inputs if np.isfinite(item[at])]
        if len(values) < len(inputs):
            continue
        try:
            wanted = exact(*values)
        except ZeroDivisionError:
            continue
        expected = rounded(wanted, dtype, mode)
        got = float(made[at])
        assert got == expected, f"{mnemonic}{[float(item[at]) for item in inputs]} = {got!r}, not {expected!r}"


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_sums_and_products_round_in_every_direction(kind: str, mode: str) -> None:
    a, b, c = (numbers(KINDS[kind], 120, seed) for seed in (1, 2, 3))
    check(f"add.{mode}.{kind}", lambda x, y: x + y, [a, b], mode)
    check(f"sub.{mode}.{kind}", lambda x, y: x - y, [a, b], mode)
    check(f"mul.{mode}.{kind}", lambda x, y: x * y, [a, b], mode)
    check(f"fma.{mode}.{kind}", lambda x, y, z: x * y + z, [a, b, c], mode)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_quotients_round_in_every_direction(kind: str, mode: str) -> None:
    a, b = (numbers(KINDS[kind], 80, seed) for seed in (4, 5))
    check(f"div.{mode}.{kind}", lambda x, y: x / y, [a, b], mode)
    check(f"rcp.{mode}.{kind}", lambda x: 1 / x, [b], mode)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_half_precision_rounds_once(kind: str) -> None:
    a, b, c = (numbers(KINDS[kind], 200, seed) for seed in (6, 7, 8))
    check(f"add.{kind}", lambda x, y: x + y, [a, b], "rn")
    check(f"mul.{kind}", lambda x, y: x * y, [a, b], "rn")
    check(f"fma.rn.{kind}", lambda x, y, z: x * y + z, [a, b, c], "rn")


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_square_roots(mode: str) -> None:
    a = np.abs(numbers(KINDS["f32"], 100, 9))
    made = run(f"sqrt.{mode}.f32", a).view(np.float32)
    for value, got in zip(a, made, strict=True):
        if not np.isfinite(value):
            continue
        low, high = (
            Fraction(float(np.nextafter(got, np.float32(-1)))),
            Fraction(float(np.nextafter(got, np.float32(np.inf)))),
        )
        here, exact = Fraction(float(got)), Fraction(float(value))
        if mode == "rn":
            assert ((low + here) / 2) ** 2 <= exact <= ((here + high) / 2) ** 2 or here**2 == exact
        elif mode == "rp":
            assert exact <= here**2
            assert here == 0 or low**2 < exact
        else:
            assert here**2 <= exact < high**2


def test_zeros_keep_the_sign_that_the_direction_gives() -> None:
    one = np.float32([1.0, 0.0, -0.0])
    other = np.float32([-1.0, -0.0, -0.0])
    assert np.signbit(run("add.rm.f32", one, other).view(np.float32)).tolist() == [True, True, True]
    assert np.signbit(run("add.rn.f32", one, other).view(np.float32)).tolist() == [False, False, True]


def test_flushing_saturation_and_nan() -> None:
    tiny = np.float32([1e-40, -1e-40, 2.5, -3.0, np.nan, np.inf])
    one = np.ones(6, np.float32)
    flushed = run("mul.ftz.f32", tiny, one)
    assert flushed[:2].tolist() == [0, 0x80000000]
    assert flushed[4] == 0x7FFFFFFF
    assert run("mul.sat.f32", tiny[2:], one[2:]).view(np.float32).tolist() == [1.0, 0.0, 0.0, 1.0]
    assert run("add.f16", np.float16([np.inf]), np.float16([-np.inf])).tolist() == [0x7FFF]
    assert run("fma.rn.relu.f16", np.float16([-2, 2]), np.float16([1, 1]), np.float16([0, 0])).view(
        np.float16
    ).tolist() == [0, 2]


def test_packed_values_compute_in_each_lane() -> None:
    a = np.float32([[1, 2], [3, 4]]).view(np.uint64)[:, 0]
    b = np.float32([[10, 20], [30, 40]]).view(np.uint64)[:, 0]
    assert run("add.f32x2", a, b).view(np.float32).tolist() == [11, 22, 33, 44]
    h = np.float16([[1, 2], [3, 4]]).view(np.uint32)[:, 0]
    assert run("fma.rn.f16x2", h, h, h).view(np.float16).tolist() == [2, 6, 12, 20]


def test_minimum_and_maximum() -> None:
    a, b = np.float32([0.0, -0.0, np.nan, 1.0, np.nan]), np.float32([-0.0, 0.0, 2.0, np.nan, np.nan])
    smallest = run("min.f32", a, b)
    assert smallest[:2].tolist() == [0x80000000, 0x80000000]
    assert smallest[2:4].view(np.float32).tolist() == [2.0, 1.0]
    assert smallest[4] == 0x7FFFFFFF
    assert run("max.NaN.f32", a, b)[2:].tolist() == [0x7FFFFFFF] * 3
    three = run("max.f32", np.float32([1.0]), np.float32([5.0]), np.float32([3.0]))
    assert three.view(np.float32).tolist() == [5.0]
    signs = run("min.xorsign.abs.f32", np.float32([-3.0, 2.0]), np.float32([2.0, 5.0])).view(np.float32)
    assert signs.tolist() == [-2.0, 2.0]


@pytest.mark.parametrize(
    ("mnemonic", "function", "ulps"),
    [
        ("ex2.approx.f32", np.exp2, 2), ("lg2.approx.f32", np.log2, 2), ("rcp.approx.f32", lambda x: 1 / x, 1),
        ("rsqrt.approx.f32", lambda x: 1 / np.sqrt(x), 2), ("sqrt.approx.f32", np.sqrt, 1), ("sin.approx.f32", np.sin, 4),
        ("cos.approx.f32", np.cos, 4), ("tanh.approx.f32", np.tanh, 4),
    ],
)  # fmt: skip
def test_approximations_are_close(mnemonic: str, function: Any, ulps: int) -> None:
    a = np.linspace(0.1, 6, 64).astype(np.float32)
    exact = function(a.astype(np.float64))
    made = run(mnemonic, a).view(np.float32).astype(np.float64)
    assert (np.abs(made - exact) <= ulps * np.spacing(np.abs(exact).astype(np.float32))).all()


def test_signs_and_kinds_of_numbers() -> None:
    a = np.float32([1.5, -2.0, np.nan, np.inf, 1e-41])
    assert run("abs.f32", np.float32([-0.0, -2])).tolist() == [0, 0x40000000]
    assert run("neg.f32", np.float32([0.0])).tolist() == [0x80000000]
    assert run("copysign.f32", np.float32([-1.0]), np.float32([3.0])).view(np.float32).tolist() == [-3.0]
    kinds = {"finite": [1, 1, 0, 0, 1], "infinite": [0, 0, 0, 1, 0], "number": [1, 1, 0, 1, 1], "notanumber": [0, 0, 1, 0, 0],
             "normal": [1, 1, 0, 0, 0], "subnormal": [0, 0, 0, 0, 1]}  # fmt: skip
    for kind, expected in kinds.items():
        assert run(f"testp.{kind}.f32", a).tolist() == expected, kind
