"""Integer arithmetic, bits and logic against Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .machine import run

DTYPES = {f"{kind}{bits}": np.dtype(f"{'u' if kind == 'u' else ''}int{bits}") for kind in "us" for bits in (16, 32, 64)}
BITS = {f"b{bits}": np.dtype(f"uint{bits}") for bits in (16, 32, 64)}


def numbers(dtype: Any, seed: int, count: int = 60) -> Any:
    """Random values with the extremes in front."""
    info = np.iinfo(dtype)
    made = np.random.default_rng(seed).integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    made[:5] = [0, 1, info.max, info.min, info.max // 3]
    return made


def compare(mnemonic: str, oracle: Callable[..., int], inputs: list[Any], dtype: Any, **more: Any) -> None:
    """Each result is what the oracle says, modulo the width of the type."""
    made = run(mnemonic, *inputs, **more)
    width = 8 * np.dtype(dtype).itemsize
    expected = [oracle(*map(int, values)) % (1 << width) for values in zip(*inputs, strict=True)]
    assert [int(value) % (1 << width) for value in made] == expected, mnemonic


@pytest.mark.parametrize("kind", sorted(DTYPES))
def test_arithmetic(kind: str) -> None:
    dtype = DTYPES[kind]
    width = 8 * dtype.itemsize
    a, b, c = (numbers(dtype, seed) for seed in (1, 2, 3))
    divisor = np.where(b == 0, dtype.type(7), b)
    if kind[0] == "s":
        divisor = np.where((a == np.iinfo(dtype).min) & (divisor == -1), dtype.type(3), divisor)
    compare(f"add.{kind}", lambda x, y: x + y, [a, b], dtype)
    compare(f"sub.{kind}", lambda x, y: x - y, [a, b], dtype)
    compare(f"mul.lo.{kind}", lambda x, y: x * y, [a, b], dtype)
    compare(f"mul.hi.{kind}", lambda x, y: x * y >> width, [a, b], dtype)
    compare(f"mad.lo.{kind}", lambda x, y, z: x * y + z, [a, b, c], dtype)
    compare(f"mad.hi.{kind}", lambda x, y, z: (x * y >> width) + z, [a, b, c], dtype)
    compare(f"div.{kind}", lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1), [a, divisor], dtype)
    compare(f"rem.{kind}", lambda x, y: abs(x) % abs(y) * (1 if x >= 0 else -1), [a, divisor], dtype)
    compare(f"min.{kind}", min, [a, b], dtype)
    compare(f"max.{kind}", max, [a, b], dtype)
    compare(f"sad.{kind}", lambda x, y, z: abs(x - y) + z, [a, b, c], dtype)


@pytest.mark.parametrize(("kind", "wide"), [("u16", "uint32"), ("s16", "int32"), ("u32", "uint64"), ("s32", "int64")])
def test_wide_products(kind: str, wide: str) -> None:
    a, b = numbers(DTYPES[kind], 4), numbers(DTYPES[kind], 5)
    c = numbers(np.dtype(wide), 6)
    compare(f"mul.wide.{kind}", lambda x, y: x * y, [a, b], wide)
    compare(f"mad.wide.{kind}", lambda x, y, z: x * y + z, [a, b, c], wide)


def test_saturation_of_signed_words() -> None:
    a, b = numbers(np.dtype(np.int32), 7), numbers(np.dtype(np.int32), 8)

    def clamped(value: int) -> int:
        return max(-(2**31), min(2**31 - 1, value))

    compare("add.sat.s32", lambda x, y: clamped(x + y), [a, b], np.int32)
    compare("sub.sat.s32", lambda x, y: clamped(x - y), [a, b], np.int32)
    compare("mad.hi.sat.s32", lambda x, y, z: clamped((x * y >> 32) + z), [a, b, a], np.int32)
    compare("max.relu.s32", lambda x, y: max(x, y, 0), [a, b], np.int32)


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_counting_and_finding_bits(kind: str) -> None:
    dtype, width = BITS[kind], int(kind[1:])
    a = numbers(dtype, 9)
    compare(f"popc.{kind}", lambda x: x.bit_count(), [a], np.uint32)
    compare(f"clz.{kind}", lambda x: width - x.bit_length(), [a], np.uint32)
    compare(f"brev.{kind}", lambda x: int(f"{x:0{width}b}"[::-1], 2), [a], dtype)
    compare(f"bfind.u{width}", lambda x: x.bit_length() - 1, [a], np.uint32)
    compare(f"bfind.shiftamt.u{width}", lambda x: width - x.bit_length() if x else -1, [a], np.uint32)
    signed = a.view(DTYPES[f"s{width}"])
    compare(f"bfind.s{width}", lambda x: (~x if x < 0 else x).bit_length() - 1, [signed], np.uint32)


@pytest.mark.parametrize("width", [32, 64])
def test_bit_fields(width: int) -> None:
    a, b = numbers(np.dtype(f"uint{width}"), 10), numbers(np.dtype(f"uint{width}"), 11)
    rng = np.random.default_rng(12)
    start, length = (rng.integers(0, limit, len(a)).astype(np.uint32) for limit in (width, width + 8))

    def field(x: int, p: int, n: int, signed: bool) -> int:
        taken = (x % (1 << width)) >> p & ((1 << n) - 1)
        last = min(p + n - 1, width - 1)
        if signed and n and x >> last & 1:
            got = max(0, min(n, width - p))
            taken |= ((1 << width) - 1) ^ ((1 << got) - 1)
        return taken

    compare(f"bfe.u{width}", lambda x, p, n: field(x, p, n, False), [a, start, length], f"uint{width}")
    compare(
        f"bfe.s{width}", lambda x, p, n: field(x, p, n, True), [a.view(f"int{width}"), start, length], f"uint{width}"
    )

    def inserted(x: int, y: int, p: int, n: int) -> int:
        mask = (((1 << n) - 1) << p) % (1 << width)
        return (y & ~mask) | ((x << p) & mask)

    compare(f"bfi.b{width}", inserted, [a, b, start, length], f"uint{width}")


def test_shifts_stop_at_the_width() -> None:
    a = numbers(np.dtype(np.uint32), 13)
    count = np.arange(len(a), dtype=np.uint32)
    compare("shl.b32", lambda x, n: x << n, [a, count], np.uint32)
    compare("shr.u32", lambda x, n: x >> n, [a, count], np.uint32)
    compare("shr.s32", lambda x, n: x >> n, [a.view(np.int32), count], np.uint32)
    b = numbers(np.dtype(np.uint32), 14)
    compare("shf.l.clamp.b32", lambda x, y, n: ((y << 32 | x) << min(n, 32)) >> 32, [a, b, count], np.uint32)
    compare("shf.r.wrap.b32", lambda x, y, n: (y << 32 | x) >> n % 32, [a, b, count], np.uint32)


def test_masks_and_extensions() -> None:
    a, n = numbers(np.dtype(np.uint32), 15), np.arange(60, dtype=np.uint32)
    compare("szext.clamp.u32", lambda x, c: x & ((1 << min(c, 32)) - 1), [a, n], np.uint32)
    compare("szext.wrap.s32", lambda x, c: _signed(x & ((1 << c % 32) - 1), c % 32), [a.view(np.int32), n], np.uint32)
    compare("bmsk.wrap.b32", lambda p, c: ((1 << c % 32) - 1) << p % 32, [n[::-1].copy(), n], np.uint32)
    compare("bmsk.clamp.b32", lambda p, c: ((1 << min(c, 32)) - 1) << min(p, 32), [n[::-1].copy(), n], np.uint32)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if bits and value >> (bits - 1) & 1 else value


@pytest.mark.parametrize("table", [0x00, 0x80, 0xE8, 0x96, 0x1A, 0xFF])
def test_any_function_of_three_bits(table: int) -> None:
    a, b, c = (numbers(np.dtype(np.uint32), seed, 12) for seed in (16, 17, 18))

    def oracle(x: int, y: int, z: int) -> int:
        return sum((table >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1)) & 1) << i for i in range(32))

    compare("lop3.b32", oracle, [a, b, c], np.uint32, immediates=[table])


def test_permuting_bytes() -> None:
    a, b, c = (numbers(np.dtype(np.uint32), seed) for seed in (19, 20, 21))

    def chosen(x: int, y: int, selectors: list[int]) -> int:
        source = [*x.to_bytes(4, "little"), *y.to_bytes(4, "little")]
        return int.from_bytes(
            bytes((source[s & 7] if s < 8 else (255 if source[s & 7] > 127 else 0)) for s in selectors), "little"
        )

    compare("prmt.b32", lambda x, y, s: chosen(x, y, [s >> 4 * i & 15 for i in range(4)]), [a, b, c], np.uint32)
    modes = {
        "f4e": lambda s: [s, s + 1, s + 2, s + 3], "b4e": lambda s: [s % 8, (s - 1) % 8, (s - 2) % 8, (s - 3) % 8],
        "rc8": lambda s: [s] * 4, "ecl": lambda s: [max(s, i) for i in range(4)], "ecr": lambda s: [min(s, i) for i in range(4)],
        "rc16": lambda s: [s % 2 * 2, s % 2 * 2 + 1] * 2,
    }  # fmt: skip
    for mode, selectors in modes.items():
        compare(f"prmt.b32.{mode}", lambda x, y, s, f=selectors: chosen(x, y, f(s & 3)), [a, b, c], np.uint32)


def test_dot_products() -> None:
    a, b, c = (numbers(np.dtype(np.uint32), seed) for seed in (22, 23, 24))

    def bytes_of(x: int, signed: bool) -> list[int]:
        return [int.from_bytes([part], "little", signed=signed) for part in (x % 2**32).to_bytes(4, "little")]

    def halves(x: int, signed: bool) -> list[int]:
        raw = (x % 2**32).to_bytes(4, "little")
        return [int.from_bytes(raw[i : i + 2], "little", signed=signed) for i in (0, 2)]

    def dp4a(x: int, y: int, z: int) -> int:
        return sum(p * q for p, q in zip(bytes_of(x, True), bytes_of(y, False), strict=True)) + z

    def dp2a(x: int, y: int, z: int) -> int:
        return sum(p * q for p, q in zip(halves(x, True), bytes_of(y, True)[2:], strict=True)) + z

    compare("dp4a.s32.u32", dp4a, [a.view(np.int32), b, c.view(np.int32)], np.uint32)
    compare("dp2a.hi.s32.s32", dp2a, [a.view(np.int32), b.view(np.int32), c.view(np.int32)], np.uint32)


def test_nth_bit_set() -> None:
    mask = np.full(6, 0b1011_0100, np.uint32)
    base = np.uint32([0, 0, 3, 7, 7, 0])
    offset = np.int32([1, 3, 1, -1, -2, 9])
    assert run("fns.b32", mask, base, offset).tolist() == [2, 5, 4, 7, 5, 0xFFFFFFFF]


def test_product_without_carries() -> None:
    a, b, c = (numbers(np.dtype(np.uint64), seed, 12) for seed in (25, 26, 27))

    def product(x: int, y: int) -> int:
        total = 0
        for place in range(64):
            total ^= (x << place) * (y >> place & 1)
        return total

    compare("clmad.lo.u64", lambda x, y, z: product(x, y) ^ z, [a, b, c], np.uint64)
    compare("clmad.hi.u64", lambda x, y, z: product(x, y) >> 64 ^ z, [a, b, c], np.uint64)


def test_comparison_and_selection() -> None:
    a, b = np.float32([1, 2, np.nan, 3]), np.float32([2, 2, 1, np.nan])
    yes = np.array([True, True, True, True])
    assert run("setp.lt.f32", a, b).tolist() == [1, 0, 0, 0]
    assert run("setp.ltu.f32", a, b).tolist() == [1, 0, 1, 1]
    assert run("setp.ne.f32", a, b).tolist() == [1, 0, 0, 0]
    assert run("setp.nan.xor.f32", a, b, yes).tolist() == [1, 1, 0, 0]
    assert run("set.gt.u32.s32", np.int32([1, -1]), np.int32([0, 0])).tolist() == [0xFFFFFFFF, 0]
    assert run("set.gt.f32.s32", np.int32([1, -1]), np.int32([0, 0])).view(np.float32).tolist() == [1.0, 0.0]
    assert run("set.hi.u32.u32", np.uint32([2**31, 1]), np.uint32([1, 1])).tolist() == [0xFFFFFFFF, 0]
    assert run("selp.b32", np.uint32([1, 1]), np.uint32([2, 2]), np.array([True, False])).tolist() == [1, 2]
    assert run("slct.u32.s32", np.uint32([1, 1]), np.uint32([2, 2]), np.int32([0, -1])).tolist() == [1, 2]


def test_carries_pass_from_one_instruction_to_the_next() -> None:
    import tirx
    from tirx import script as Tx

    @Tx.prim_func
    def kernel(A: Tx.Buffer((4,), "uint64"), B: Tx.Buffer((4,), "uint64"), C: Tx.Buffer((4, 2), "uint64")):
        Tx.device_entry()
        tx = Tx.thread_id([4])
        low: Tx.uint64 = Tx.uint64(0)
        high: Tx.uint64 = Tx.uint64(0)
        Tx.ptx.add.cc.u64(low, A[tx], B[tx])
        Tx.ptx.addc.u64(high, Tx.uint64(0), Tx.uint64(0))
        C[tx, 0] = high
        Tx.ptx.sub.cc.u64(low, A[tx], B[tx])
        Tx.ptx.subc.u64(high, Tx.uint64(5), Tx.uint64(0))
        C[tx, 1] = high

    a = np.array([2**64 - 1, 1, 5, 2**63], np.uint64)
    b = np.array([1, 1, 9, 2**63], np.uint64)
    out = np.zeros((4, 2), np.uint64)
    assert tirx.simulate(kernel, a, b, out, target="cuda -arch=sm_90").verdict == "clean"
    assert out.tolist() == [[1, 5], [0, 5], [0, 4], [1, 5]]
