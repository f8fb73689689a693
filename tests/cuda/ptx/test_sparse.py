"""Products with half of A left out: metadata read bit by bit, as the manual's figures number threads and bits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx

from .machine import kernel_text, run
from .test_matrix import left_words, matrix, packed, right_words, sum_places

ORDERED = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
ANY = list(itertools.permutations(range(4), 2))


def random_rows(kind: str, rows: int, k: int, ordered: bool, seed: int) -> tuple[Any, Any, Any]:
    """The whole matrix, what is stored of it, and the four bits of each chunk."""
    rng = np.random.default_rng(seed)
    width = {"tf32": 2, "u4": 8, "s4": 8}.get(kind, 4)
    stored = matrix(kind, (rows, k // 2), seed)
    whole, nibbles = np.zeros((rows, k)), np.zeros((rows, k // width), int)
    for row in range(rows):
        for chunk in range(k // width):
            if width == 2:
                place = int(rng.integers(2))
                nibbles[row, chunk] = (0b0100, 0b1110)[place]
                whole[row, 2 * chunk + place] = stored[row, chunk]
                continue
            first, second = (ORDERED if ordered else ANY)[rng.integers(6 if ordered else 12)]
            nibbles[row, chunk] = first | second << 2
            span = width // 4  # neighbours that go together
            for number, place in enumerate((first, second)):
                for e in range(span):
                    value = stored[row, chunk * width // 2 + number * span + e]
                    whole[row, chunk * width + place * span + e] = value
    return whole, stored, nibbles


def metadata(nibbles: Any, kind: str, selector: int, seed: int) -> Any:
    """A register for each lane; those of threads that say nothing hold anything."""
    words = np.random.default_rng(seed).integers(0, 1 << 32, 32, dtype=np.uint64)
    chunks = nibbles.shape[1]
    wide = kind in ("f16", "bf16", "tf32")
    for group in range(8):
        for number in range(chunks // 4):
            lane = 4 * group + selector * (chunks // 4) + number
            if wide:
                low, high = (nibbles[row, 4 * number : 4 * number + 4] for row in (group, group + 8))
                said = [*low, *high]
            else:
                row, first = group + 8 * (number % 2), 8 * (number // 2)
                said = nibbles[row, first : first + 8]
            words[lane] = sum(int(n) << (4 * i) for i, n in enumerate(said))
    return words.astype(np.uint32)


CASES = [
    ("m16n8k16", "f16", "f16", "f32", 2), ("m16n8k32", "f16", "f16", "f32", 1), ("m16n8k16", "bf16", "bf16", "f32", 3),
    ("m16n8k32", "bf16", "bf16", "f32", 0), ("m16n8k8", "tf32", "tf32", "f32", 1), ("m16n8k16", "tf32", "tf32", "f32", 1),
    ("m16n8k64", "e4m3", "e5m2", "f32", 0), ("m16n8k32", "u8", "s8", "s32", 1), ("m16n8k64", "s8", "u8", "s32", 0),
    ("m16n8k64", "s4", "u4", "s32", 1), ("m16n8k128", "u4", "s4", "s32", 0),
]  # fmt: skip


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("shape", "kind_a", "kind_b", "sums", "selector"), CASES)
def test_products(shape: str, kind_a: str, kind_b: str, sums: str, selector: int, ordered: bool) -> None:
    k = int(shape.rpartition("k")[2])
    whole, stored, nibbles = random_rows(kind_a, 16, k, ordered, k)
    b, c = matrix(kind_b, (k, 8), 2), np.random.default_rng(3).integers(-50, 50, (16, 8)).astype(np.float64)
    held = {"f32": np.float32, "s32": np.int32}[sums]
    places = sum_places(16)
    start = [c[rows, columns].astype(held).view(np.uint32) for rows, columns in places]
    name = "sp::ordered_metadata" if ordered else "sp"
    mnemonic = f"mma.{name}.sync.aligned.{shape}.row.col.{sums}.{kind_a}.{kind_b}.{sums}"
    words = metadata(nibbles, kind_a, selector, 4)
    registers = (*left_words(stored, kind_a), *right_words(b, kind_b), *start, words)
    made = run(mnemonic, *registers, immediates=[selector])
    exact = whole @ b + c
    for (rows, columns), word in zip(places, made, strict=True):
        assert word.view(held).tolist() == exact[rows, columns].tolist()


def test_half_precision_sums() -> None:
    whole, stored, nibbles = random_rows("f16", 16, 32, True, 1)
    b, zero = matrix("f16", (32, 8), 2), [np.zeros(32, np.uint32)] * 2
    mnemonic = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16"
    words = metadata(nibbles, "f16", 1, 4)
    made = run(mnemonic, *left_words(stored, "f16"), *right_words(b, "f16"), *zero, words, immediates=[1])
    exact = whole @ b
    for i, word in enumerate(made):
        rows, columns = np.arange(32) // 4 + 8 * i, 2 * (np.arange(32) % 4)
        expected = packed(np.stack([exact[rows, columns], exact[rows, columns + 1]], axis=-1), "f16")
        assert word.tolist() == expected.tolist()


@pytest.mark.parametrize(("name", "nibble"), [("sp", 0b0101), ("sp::ordered_metadata", 0b0001)])
def test_metadata_that_means_nothing_is_found(name: str, nibble: int) -> None:
    mnemonic = f"mma.{name}.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    zero = [np.zeros(32, np.uint32)] * 8
    words = np.full(32, nibble * 0x11111111, np.uint32)
    assert run(mnemonic, *zero, words, immediates=[0], verdict="error") is not None
    if name == "sp":
        run(mnemonic, *zero, np.full(32, 0x11111111, np.uint32), immediates=[0])


def test_the_message_says_which() -> None:
    from tirx_cuda.ptx.forms import forms_of

    form = forms_of("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")[0]
    values = [np.zeros(32, np.uint32) for _ in range(13)]
    report = tirx.simulate(Tx.from_source(kernel_text(form, [0], 32)), *values, target="cuda -arch=sm_80")
    assert "metadata 0b0000 of mma.sp.sync" in str(report)
