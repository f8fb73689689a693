"""Two of four elements chosen, and put back: every four by itself, with numbers instead of codes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tirx_cuda.ptx.forms import forms_of

from .machine import run

TYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "u8": np.uint8, "s8": np.int8, "e5m2": ml_dtypes.float8_e5m2,
    "e4m3": ml_dtypes.float8_e4m3fn, "e3m2": ml_dtypes.float6_e3m2fn, "e2m3": ml_dtypes.float6_e2m3fn,
}  # fmt: skip
NUMBERS = {"f16": 0, "u8": 0, "bf16": 1, "s8": 1, "e5m2": 2, "e4m3": 3, "e3m2": 4, "e2m3": 5}


def key(value: float, op: int) -> tuple[float, float]:
    """Greater for what is chosen sooner: NaN before all, then -0 below 0."""
    if np.isnan(value):
        return (np.inf, 1)
    size, sign = (abs(value), 0.0) if op & 1 else (value, float(np.copysign(1, value)) if value == 0 else 0.0)
    return (-size, -sign) if op & 2 else (size, sign)


@pytest.mark.parametrize("op", range(4))
@pytest.mark.parametrize(("kind", "index", "num"), [(k, i, n) for n, (k, i) in enumerate([
    ("f16", 2), ("bf16", 4), ("u8", 2), ("s8", 4), ("e5m2", 4), ("e4m3", 2), ("e3m2", 2), ("e2m3", 4)], 1)])  # fmt: skip
def test_two_of_four(kind: str, index: int, num: int, op: int) -> None:
    """The two are among the best, and stand in their order with their numbers."""
    num = 1 << num % 4
    held = np.dtype(TYPES[kind])
    size, rng = held.itemsize, np.random.default_rng(num + op)
    codes = rng.integers(0, 64 if kind in ("e3m2", "e2m3") else 1 << 8 * size, (32, 8 * num // size)).astype(f"u{size}")
    codes[:, :2] = np.array([0, 0x20 if kind in ("e3m2", "e2m3") else 1 << 8 * size - 1])
    with np.errstate(invalid="ignore"):
        values = codes.view(held).astype(np.float64)
    words = codes.view(np.uint32)
    said = np.full(32, op | NUMBERS[kind] << 2, np.uint32)
    made = run(f"spcompress.b{8 * size}.b{index}.sp::2:4.x{num}", *words.T, said, target="cuda -arch=sm_107a")
    made = made if isinstance(made, tuple) else (made,)
    count = -(-num * index // (8 * size))
    numbers = np.stack(made[:count], axis=1).astype(np.uint32)
    kept = np.ascontiguousarray(np.stack(made[count:], axis=1).astype(np.uint32)).view(codes.dtype)
    for thread in range(32):
        bits = sum(int(word) << 32 * i for i, word in enumerate(numbers[thread]))
        for four in range(codes.shape[1] // 4):
            first, second = (bits >> index * (2 * four + i) & ((1 << index) - 1) for i in range(2))
            assert first < second < 4
            assert (
                kept[thread, 2 * four : 2 * four + 2].tolist()
                == codes[thread, [4 * four + first, 4 * four + second]].tolist()
            )
            keys = [key(v, op) for v in values[thread, 4 * four : 4 * four + 4].tolist()]
            assert sorted([keys[first], keys[second]]) == sorted(keys)[2:]
        assert bits >> 2 * index * (codes.shape[1] // 4) == 0


FACTORS = {
    8: ["2:4", "1:2", "1:4", "2:8", "2:16", "1:16", "4:8", "1:8", "4:16"], 16: ["2:4", "1:2", "1:4", "2:8", "2:16", "1:16", "1:8"],
}  # fmt: skip
EVERY = [(size, bits, factor) for size, factors in FACTORS.items() for factor in factors for bits in (2, 4)]


@pytest.mark.parametrize(("size", "bits", "factor"), [e for e in EVERY if e[1] == 4 or int(e[2].split(":")[1]) <= 4])
def test_elements_go_back(size: int, bits: int, factor: str) -> None:
    source, target = map(int, factor.split(":"))
    num = 4
    rng = np.random.default_rng(size + target)
    places = np.stack([[rng.choice(target, source, replace=False) for _ in range(num)] for _ in range(32)])
    values = rng.integers(1, 1 << size, (32, num, source))
    expected = np.zeros((32, num, target), np.uint64)
    for at in np.ndindex(32, num, source):
        expected[at[0], at[1], places[at]] = values[at]
    packed = [
        [sum(int(v) << width * i for i, v in enumerate(row.ravel())) for row in rows]
        for rows, width in ((places, bits), (values, size))
    ]
    counts = [-(-source * width * num // 32) for width in (bits, size)]
    inputs = [
        np.array([number >> 32 * i & 0xFFFFFFFF for number in numbers], np.uint32)
        for numbers, count in zip(packed, counts, strict=True)
        for i in range(count)
    ]
    mnemonic = f"spdecompress.b{size}.b{bits}.sp::{factor}.x{num}"
    made = run(mnemonic, *inputs, target="cuda -arch=sm_107a")
    made = made if isinstance(made, tuple) else (made,)
    found = np.ascontiguousarray(np.stack(made, axis=1).astype(np.uint32)).view(f"u{size // 8}")
    assert found.tolist() == expected.reshape(32, -1).tolist()
    assert len(forms_of(mnemonic)[0].parts) == len(inputs) + len(made)


def test_an_index_that_is_too_great_is_found() -> None:
    word = np.full(32, 3, np.uint32)
    run("spdecompress.b8.b2.sp::1:2.x4", word, word, target="cuda -arch=sm_107a", verdict="error")
