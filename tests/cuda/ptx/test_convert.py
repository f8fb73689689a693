"""Conversions to and from small formats against lists of all their values, compared as fractions; stochastic rounding by integers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tirx_cuda.ptx.forms import made_forms, rows_of
from tirx_cuda.ptx.nearest import misplaced

from .machine import run

TARGET = "cuda -arch=sm_107a"
BF16 = np.dtype(ml_dtypes.bfloat16)
TYPES = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn, "f16": np.float16, "bf16": BF16,
}  # fmt: skip
MAX_FOR_NAN = {"e2m3": 0x1F, "e3m2": 0x1F, "e2m1": 0x7, "s2f6": 0x7F}
SIGN = {"f16": 15, "bf16": 15, "e2m1": 3, "e2m3": 5, "e3m2": 5}
NAN = {"e4m3": 0x7F, "e5m2": 0x7F, "ue5m3": 0xFF, "f16": 0x7FFF, "bf16": 0x7FFF}


def _ue5m3(code: int) -> Fraction:
    exponent, rest = code >> 3, code & 7
    return (
        Fraction(rest, 8) * Fraction(2) ** -14
        if exponent == 0
        else (1 + Fraction(rest, 8)) * Fraction(2) ** (exponent - 15)
    )


def values_of(name: str) -> dict[int, Fraction]:
    """Every finite number of a format, by its code."""
    if name == "ue5m3":
        return {code: _ue5m3(code) for code in range(255)}
    if name == "s2f6":
        return {code: Fraction(code - 256 * (code > 127), 64) for code in range(256)}
    bits = {"e2m3": 6, "e3m2": 6, "e2m1": 4, "f16": 16, "bf16": 16}.get(name, 8)
    codes = np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        numbers = codes.view(TYPES[name]).astype(np.float64)
    return {int(code): Fraction(float(x)) for code, x in zip(codes, numbers, strict=True) if np.isfinite(x)}


class Grid:
    """The numbers of a format in order, each with its code (of zeros, the positive one)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.codes = {number: code for code, number in sorted(values_of(name).items(), reverse=True)}
        self.numbers = sorted(self.codes)
        self.top = max(self.numbers)
        self.sign = 0 if name in ("ue5m3", "s2f6") else 1 << SIGN.get(name, 7)

    def around(self, exact: Fraction) -> tuple[Fraction, Fraction]:
        low, high = 0, len(self.numbers) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.numbers[middle] <= exact else (low, middle - 1)
        below = self.numbers[low]
        return below, below if below == exact else self.numbers[low + 1]

    def code(self, number: float | Fraction, mode: str, negative: bool) -> int:
        """What a finite number becomes, saturated; `negative`: the sign of a zero result."""
        exact = abs(Fraction(number)) if self.name == "ue5m3" else Fraction(number)
        exact = min(max(exact, self.numbers[0]), self.top)
        below, above = self.around(exact)
        if mode == "rz":
            chosen = below if exact >= 0 else above
        elif mode in ("rp", "rm"):
            chosen = above if mode == "rp" else below
        else:
            gaps = exact - below, above - exact
            even = below if self.codes[below] % 2 == 0 else above
            chosen = below if gaps[0] < gaps[1] else above if gaps[0] > gaps[1] else even
        return self.codes[chosen] | (self.sign if chosen == 0 and negative else 0)


@cache
def grid_of(name: str) -> Grid:
    return Grid(name)


def converted(number: float, name: str, mode: str, words: set[str], scale: Fraction | None) -> int:
    """One code, as the manual says it."""
    if math.isnan(number) or scale is None:
        return MAX_FOR_NAN.get(name, NAN.get(name, 0))
    negative = math.copysign(1, number) < 0
    if "relu" in words and negative:
        number, negative = 0.0, False
    grid = grid_of(name)
    if math.isinf(number):
        made = grid.codes[grid.numbers[0] if number < 0 and name != "ue5m3" else grid.top]
    else:
        made = grid.code(Fraction(number) * scale, mode, negative)
    return 0 if made == grid.sign and "pzo" in words else made


def scales(codes: Any, invert: bool) -> list[Fraction | None]:
    """Powers of two; None stands for NaN."""
    return [None if c == 255 else Fraction(2) ** ((127 - int(c)) if invert else (int(c) - 127)) for c in codes]


def numbers(name: str, count: int, seed: int, dtype: Any) -> Any:
    """Numbers near those of a format: its own, ties between them, what lies beyond, and any pattern."""
    rng = np.random.default_rng(seed)
    grid = np.array([float(x) for x in grid_of(name).numbers])
    own = rng.choice(grid, count)
    made = np.where(rng.random(count) < 0.4, (own + rng.choice(grid, count)) / 2, own)
    made = np.where(rng.random(count) < 0.4, rng.standard_normal(count) * float(grid_of(name).top) / 2, made)
    made = np.where(rng.random(count) < 0.2, (grid[1:] + grid[:-1])[rng.integers(0, len(grid) - 1, count)] / 2, made)
    top = float(grid_of(name).top)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, top, -top, 1e-40, -1e-40]
    with np.errstate(all="ignore"):
        result = (made * rng.choice([-1, 1], count)).astype(dtype)
        result[: len(special)] = np.array(special).astype(dtype)
    bits = rng.integers(0, 1 << (8 * result.itemsize), 8, dtype=np.uint64)
    result[-8:] = bits.astype(f"uint{8 * result.itemsize}").view(dtype)
    return result


def sampled(wanted: tuple[str, ...], sources: tuple[str, ...], each: int, seed: int) -> Iterator[str]:
    """Mnemonics of rows of cvt that convert between these types."""
    choices, found = random.Random(seed), dict[str, None]()
    for row in rows_of("cvt"):
        for _ in range(each):
            values = {
                s.name: choices.choice(s.choices) for s in row.slots[1:] if not (s.optional and choices.random() < 0.5)
            }
            if misplaced(row, values) is None:
                name = made_forms(row, values, 0)[0].mnemonic
                words = name.split(".")
                if (
                    words[-2].removesuffix("x2") in wanted
                    and words[-1].removesuffix("x2") in sources
                    and "rs" not in words
                ):
                    found[name] = None
    return iter(found)


SMALL = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue5m3", "s2f6")
COUNT = 64


def packed(codes: list[int], name: str) -> np.ndarray[Any, Any]:
    width = 4 if name == "e2m1" else 16 if name in ("f16", "bf16") else 8
    pairs = [low | high << width for low, high in zip(codes[::2], codes[1::2], strict=True)]
    return np.array(pairs, f"uint{2 * width}")


DTYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "bf16": BF16}


def inside(given: Any, name: str, limit: float) -> Any:
    """Without what is beyond the largest number, which is not defined without `.satfinite`."""
    with np.errstate(invalid="ignore"):
        small = np.abs(given.astype(np.float64)) < float(grid_of(name).top) * limit
    return np.where(small, given, given.dtype.type(1)).astype(given.dtype)


def without_subnormals(given: Any) -> Any:
    wide = given.astype(np.float64)
    small = np.abs(wide) < float(ml_dtypes.finfo(given.dtype).smallest_normal)
    return np.where(small, np.copysign(0, wide), given).astype(given.dtype)


@pytest.mark.parametrize("mnemonic", list(sampled(SMALL, ("f32", "f16", "bf16"), 8, 3)))
def test_narrow(mnemonic: str) -> None:
    words = mnemonic.split(".")
    name, source = words[-2].removesuffix("x2"), words[-1].removesuffix("x2")
    given = numbers(name, 2 * COUNT, len(mnemonic), DTYPES[source])
    one, two = "scaled::n1::ue8m0" in words, "scaled::n2::ue8m0" in words
    if "satfinite" not in words:
        given = inside(given, name, 2.0**-7 if one else 1)
    inputs = [given[1::2], given[::2]] if source == "f32" else [given.view("uint32")]
    codes = np.random.default_rng(1).integers(120, 135, 2 * COUNT).astype(np.uint8)
    codes[5] = 255
    codes = np.repeat(codes[1::2], 2) if one else codes if two else np.full(2 * COUNT, 127)
    inputs += [codes[::2]] if one else [codes.view(np.uint16)] if two else []
    mode = next(word for word in words if word in ("rn", "rz", "rp"))
    plain = without_subnormals(given) if one else given
    expected = [converted(float(x), name, mode, set(words), f) for x, f in zip(plain, scales(codes, True), strict=True)]
    np.testing.assert_array_equal(run(mnemonic, *inputs, target=TARGET), packed(expected, name))


@pytest.mark.parametrize("mnemonic", list(sampled(("bf16", "f16"), SMALL, 8, 4)))
def test_widen(mnemonic: str) -> None:
    words = mnemonic.split(".")
    target, name = words[-2].removesuffix("x2"), words[-1].removesuffix("x2")
    bits = {"e2m1": 4, "e2m3": 6, "e3m2": 6}.get(name, 8)
    codes = np.resize(np.arange(1 << bits), 256)
    factors = np.random.default_rng(2).integers(0, 256, 256).astype(np.uint8)
    inputs = [packed(list(codes), name)]
    factor: list[Fraction | None] = [Fraction(1)] * 256
    if "scaled::n2::ue8m0" in words:
        inputs.append(factors.view(np.uint16))
        factor = scales(factors, False)
    known = values_of(name)
    expected = []
    for code, scale in zip(codes.tolist(), factor, strict=True):
        sign = code >> (bits - 1) & (name not in ("ue5m3", "s2f6"))
        number = known.get(code)
        if number is None and name == "e5m2" and code & 0x7F == 0x7C and scale is not None:  # infinities
            top = (
                grid_of(target).codes[grid_of(target).top]
                if "satfinite" in words
                else {"f16": 0x7C00, "bf16": 0x7F80}[target]
            )
            expected.append(0 if sign and "relu" in words else top | sign << 15)
        elif number is None or scale is None:
            expected.append(NAN[target])
        else:
            expected.append(widened(number * scale, bool(sign), target, words))
    made = run(mnemonic, *inputs, target=TARGET)
    np.testing.assert_array_equal(made, packed(expected, target))


def widened(exact: Fraction, negative: bool, target: str, words: list[str]) -> int:
    if "relu" in words and (exact < 0 or negative):
        return 0
    grid = grid_of(target)
    spacing = grid.numbers[-1] - grid.numbers[-2]
    if abs(exact) >= grid.top + spacing / 2 and "satfinite" not in words:
        return {"f16": 0x7C00, "bf16": 0x7F80}[target] | (0x8000 if exact < 0 else 0)
    return grid.code(exact, "rn", negative)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_positive_zeros_only(kind: str, mode: str) -> None:
    given = np.array([-0.0, 0.0, -1e-44, 1e-44, -1.0, 2.5, -1e-30, np.inf, -np.inf], np.float32)
    made = run(f"cvt.{mode}.pzo.{kind}.f32", given, target=TARGET)
    plain = run(f"cvt.{mode}.{kind}.f32", given, target=TARGET)
    expected = [0 if code == 0x8000 else code for code in plain.tolist()]
    assert made.tolist() == expected
    if mode == "rm":
        assert plain[2] == made[2] == 0x8001, "rounded down, away from zero: no zero at all"


def test_positive_zeros_of_tf32() -> None:
    given = np.array([-0.0, -1e-45, 1.0, -1.00001], np.float32)
    made = run("cvt.rz.pzo.tf32.f32", given, target=TARGET)
    assert made.tolist() == [0, 0, 0x3F800000, 0xBF800000]


# ---- stochastic rounding --------------------------------------------------------------------------------------------


def by_integers(bits: int, mantissa: int, lowest: int, random_bits: int, count: int) -> int:
    """Sign and magnitude of a float32 with fewer bits: random bits added to those that are cut off. No overflow."""
    exponent, rest = (bits >> 23 & 0xFF) - 127, bits & 0x7FFFFF
    whole = rest if exponent == -127 else rest | 0x800000
    dropped = 23 - mantissa + max(0, lowest - max(exponent, -126))
    kept, left = whole >> dropped, whole & ((1 << dropped) - 1)
    aligned = random_bits << (dropped - count) if dropped >= count else random_bits >> (count - dropped)
    kept += (left + aligned) >> dropped
    return kept + (max(exponent - lowest, 0) << mantissa)


@pytest.mark.parametrize(("kind", "mantissa", "lowest", "count"), [("f16", 10, -14, 13), ("bf16", 7, -126, 16)])
def test_random_bits_of_pairs(kind: str, mantissa: int, lowest: int, count: int) -> None:
    rng = np.random.default_rng(5)
    a, b = (np.ldexp(rng.uniform(1, 2, 200), rng.integers(-20, 14, 200)).astype(np.float32) for _ in range(2))
    a[:100] *= -1
    random_bits = rng.integers(0, 1 << 32, 200, dtype=np.uint64).astype(np.uint32)
    made = run(f"cvt.rs.{kind}x2.f32", a, b, random_bits)
    for x, place, start in ((a, 16, 16), (b, 0, 0)):
        for number, bits, word in zip(x, random_bits.tolist(), made.tolist(), strict=True):
            expected = by_integers(
                int(np.abs(number).view(np.uint32)), mantissa, lowest, bits >> start & ((1 << count) - 1), count
            )
            assert word >> place & 0xFFFF == expected | (0x8000 if number < 0 else 0)


FOURS = {"e4m3": (3, -6, 16), "e5m2": (2, -14, 16), "e2m3": (3, 0, 16), "e3m2": (2, -2, 16), "e2m1": (1, 0, 8)}


@pytest.mark.parametrize("kind", FOURS)
def test_random_bits_of_fours(kind: str) -> None:
    mantissa, lowest, count = FOURS[kind]
    width = 4 if kind == "e2m1" else 8
    rng = np.random.default_rng(6)
    top = float(grid_of(kind).top)
    parts = [rng.uniform(0, top, 100).astype(np.float32) for _ in range(4)]
    random_bits = rng.integers(0, 1 << 32, 100, dtype=np.uint64).astype(np.uint32)
    made = run(f"cvt.rs.satfinite.{kind}x4.f32", *parts, random_bits)
    starts = (24, 8, 16, 0) if kind == "e2m1" else (16, 16, 0, 0)
    for position, (numbers_, start) in enumerate(zip(parts, starts, strict=True)):
        for number, bits, word in zip(numbers_, random_bits.tolist(), made.tolist(), strict=True):
            expected = by_integers(
                int(number.view(np.uint32)), mantissa, lowest, bits >> start & ((1 << count) - 1), count
            )
            expected = min(expected, grid_of(kind).codes[grid_of(kind).top])
            assert word >> (width * (3 - position)) & ((1 << width) - 1) == expected


def test_stochastic_limits() -> None:
    given = [np.array([np.inf, -np.inf, np.nan, -3.0], np.float32)] * 4
    none = np.zeros(4, np.uint32)
    assert run("cvt.rs.satfinite.e4m3x4.f32", *given, none).tolist() == [0x7E7E7E7E, 0xFEFEFEFE, 0x7F7F7F7F, 0xC4C4C4C4]
    assert run("cvt.rs.relu.satfinite.e2m1x4.f32", *given, none).tolist() == [0x7777, 0, 0x7777, 0]
    pair = [np.array([1e6, -1e6, np.nan], np.float32)] * 2
    assert run("cvt.rs.f16x2.f32", *pair, none[:3]).tolist() == [0x7C007C00, 0xFC00FC00, 0x7FFF7FFF]
    assert run("cvt.rs.satfinite.f16x2.f32", *pair, none[:3]).tolist() == [0x7BFF7BFF, 0xFBFFFBFF, 0x7FFF7FFF]


def test_beyond_the_largest_without_satfinite_is_not_modelled() -> None:
    big = np.array([1e9], np.float32)
    run("cvt.rn.ue5m3x2.f32", big, big, target=TARGET, verdict="incomplete")


# ---- mixed precision ------------------------------------------------------------------------------------------------


def truncated(exact: Fraction, kind: str, negative: bool) -> int:
    return grid_of(kind).code(exact, "rz", negative)


@pytest.mark.parametrize(("kind", "words"), [("f16", "rz.ftz"), ("bf16", "rz")])
def test_sums_and_products_of_wide_pairs(kind: str, words: str) -> None:
    rng = np.random.default_rng(7)
    a, b = (np.ldexp(rng.uniform(-2, 2, 40), rng.integers(-8, 8, 40)).astype(np.float32) for _ in range(2))
    operations = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y}
    for name, function in operations.items():
        order = ".".join(reversed(words.split("."))) if name == "mul" else words
        made = run(f"{name}.{order}.{kind}x2.f32x2.f32x2", a.view(np.uint64), b.view(np.uint64), target=TARGET)
        expected = []
        for x, y in zip(a, b, strict=True):
            exact = function(Fraction(float(x)), Fraction(float(y)))
            code = truncated(exact, kind, exact < 0)
            flush = kind == "f16" and 0 < abs(grid_of(kind).around(exact)[0]) < Fraction(1, 1 << 14)
            expected.append(code & 0x8000 if flush else code)
        np.testing.assert_array_equal(made, packed(expected, kind))


@pytest.mark.parametrize(("kind", "other"), [("f16", "bf16"), ("bf16", "f16")])
def test_products_of_unlike_pairs(kind: str, other: str) -> None:
    rng = np.random.default_rng(8)
    a, b = rng.uniform(-4, 4, 40).astype(TYPES[kind]), rng.uniform(-4, 4, 40).astype(TYPES[other])
    made = run(f"mul.{kind}x2.{kind}x2.{other}x2", a.view(np.uint32), b.view(np.uint32), target=TARGET)
    exact = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(made, packed([grid_of(kind).code(e, "rn", e < 0) for e in exact], kind))
