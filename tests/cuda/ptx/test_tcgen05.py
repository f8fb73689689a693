"""Tensor memory: allocation, copies in and out, products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx

from .test_wgmma import stored

DTYPES = {"f16": "float16", "bf16": "bfloat16", "tf32": "tf32", "e4m3": "float8_e4m3fn", "s8": "int8"}
HEAD = """\
    T.device_entry()
    tx = T.thread_id([128])
    where = T.alloc_shared((1,), "uint32")
    if tx < 32:
        T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(where.ptr_to([0]), {columns})
        T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
    T.cuda.cta_sync()
    first: T.uint32 = where[0]
    mine: T.uint32 = first + T.uint32(tx // 32 * 32 * 65536)
"""
TAIL = """\
    T.cuda.cta_sync()
    if tx < 32:
        T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(first, {columns})
"""
WAIT = """\
    ready: T.bool = T.bool(False)
    while not ready:
        T.ptx.mbarrier.test_wait.parity.shared__cta.b64(ready, bar.ptr_to([0]), T.uint32(0))
"""


def simulated(
    params: str, body: str, *values: Any, columns: int = 32, verdict: str = "clean", target: str = "sm_100a"
) -> Any:
    text = f"@T.prim_func\ndef kernel({params}):\n{HEAD}{body}{TAIL}".format(columns=columns)
    report = tirx.simulate(Tx.from_source(text), *values, target=f"cuda -arch={target}")
    assert report.verdict == verdict, str(report)
    return report


CASES = [
    ("f16", "kind::f16", "float32", 16, 128, 64, 3, False), ("f16", "kind::f16", "float32", 16, 128, 64, 2, True),
    ("f16", "kind::f16", "float16", 16, 64, 24, 0, False), ("bf16", "kind::f16", "float32", 16, 64, 32, 1, False),
    ("tf32", "kind::tf32", "float32", 8, 128, 32, 3, False), ("e4m3", "kind::f8f6f4", "float32", 32, 128, 96, 2, False),
    ("s8", "kind::i8", "int32", 32, 128, 64, 3, False), ("e4m3", "kind::f8f6f4", "float32", 32, 128, 64, 1, True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "sums", "k", "m", "n", "mode", "transposed"), CASES)
def test_products(kind: str, name: str, sums: str, k: int, m: int, n: int, mode: int, transposed: bool) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-4, 5, (m, k)).astype(np.float64), rng.integers(-4, 5, (n, k)).astype(np.float64)
    memory_a, *offsets_a = stored(a, kind, mode, transposed)
    memory_b, *offsets_b = stored(b, kind, mode, transposed)
    result = np.zeros((128, n), np.uint32)
    body = f"""\
    sa = T.alloc_shared((16384,), "uint8", align=1024)
    sb = T.alloc_shared((16384,), "uint8", align=1024)
    bar = T.alloc_shared((1,), "uint64")
    r = T.alloc_local(({n},), "uint32")
    for i in range(128):
        sa[i * 128 + tx] = A[i * 128 + tx]
        sb[i * 128 + tx] = B[i * 128 + tx]
    T.ptx.fence.proxy.async_()
    if tx == 0:
        T.ptx.mbarrier.init.shared__cta.b64(bar.ptr_to([0]), T.uint32(1))
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence__after_thread_sync()
    da: T.uint64 = T.uint64(0)
    db: T.uint64 = T.uint64(0)
    di: T.uint32 = T.uint32(0)
    T.cuda.tcgen05.encode_matrix_descriptor(da, sa.ptr_to([0]), {offsets_a[0]}, {offsets_a[1]}, {mode})
    T.cuda.tcgen05.encode_matrix_descriptor(db, sb.ptr_to([0]), {offsets_b[0]}, {offsets_b[1]}, {mode})
    T.cuda.tcgen05.encode_instr_descriptor(di, "{sums}", "{DTYPES[kind]}", "{DTYPES[kind]}", {m}, {n}, {k}, {transposed}, {transposed})
    if tx == 0:
        T.ptx["tcgen05.mma.cta_group::1.{name}"](first, da, db, di, False)
        T.ptx["tcgen05.mma.cta_group::1.{name}"](first, da, db, di, True)
        T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.b64(bar.ptr_to([0]))
{WAIT}\
    for i in T.unroll({n}):
        T.ptx.tcgen05.ld.sync.aligned._32x32b.x1.b32(r[i], mine + T.uint32(i))
    T.ptx.tcgen05.wait__ld.sync.aligned()
    for i in range({n}):
        C[tx, i] = r[i]
"""
    params = f'A: T.Buffer((16384,), "uint8"), B: T.Buffer((16384,), "uint8"), C: T.Buffer((128, {n}), "uint32")'
    simulated(params, body, memory_a, memory_b, result, columns=128)
    exact = 2 * (a @ b.T)
    rows = np.arange(128) if m == 128 else np.arange(64) // 16 * 32 + np.arange(64) % 16
    made = result[rows]
    values = made.astype(np.uint16).view(np.float16) if sums == "float16" else made.view(sums)
    assert values.astype(np.float64).tolist() == exact.tolist()


SHAPES = [("32x32b", 1, 1, 32), ("16x64b", 2, 1, 16), ("16x128b", 4, 2, 16), ("16x256b", 8, 4, 16)]


@pytest.mark.parametrize(("shape", "columns", "registers", "rows"), SHAPES)
def test_what_is_stored_is_loaded(shape: str, columns: int, registers: int, rows: int) -> None:
    """A matrix of (lane, column) goes in by whole lanes and comes out in fragments."""
    names = ", ".join(f"r[{i}]" for i in range(registers))
    body = f"""\
    r = T.alloc_local(({registers},), "uint32")
    for i in T.unroll({columns}):
        T.ptx.tcgen05.st.sync.aligned._32x32b.x1.b32(mine + T.uint32(i), T.uint32(tx * 8 + i))
    T.ptx.tcgen05.wait__st.sync.aligned()
    T.ptx["tcgen05.ld.sync.aligned.{shape}.x1.b32"]({names}, mine)
    T.ptx.tcgen05.wait__ld.sync.aligned()
    for i in T.unroll({registers}):
        C[tx, i] = r[i]
"""
    result = np.zeros((128, registers), np.uint32)
    simulated(f'C: T.Buffer((128, {registers}), "uint32")', body, result)
    lanes, numbers = result // 8 % 32, result % 8
    assert (result // 256 == np.arange(128)[:, None] // 32).all()
    assert sorted({(int(r), int(c)) for r, c in zip(lanes.ravel(), numbers.ravel(), strict=True)}) == [
        (row, column) for row in range(rows) for column in range(columns)
    ]
    if shape == "16x256b":  # the fragment of accumulators of mma
        lane = np.arange(32)
        assert lanes[:32, 0].tolist() == (lane // 4).tolist()
        assert numbers[:32, 1].tolist() == (lane % 4 * 2 + 1).tolist()
        assert lanes[:32, 2].tolist() == (lane // 4 + 8).tolist()


def test_copies_from_shared_memory_reach_all_warps() -> None:
    body = f"""\
    s = T.alloc_shared((128,), "uint32", align=128)
    s[tx] = A[tx]
    bar = T.alloc_shared((1,), "uint64")
    if tx == 0:
        T.ptx.mbarrier.init.shared__cta.b64(bar.ptr_to([0]), T.uint32(1))
    T.ptx.fence.proxy.async_()
    T.cuda.cta_sync()
    d: T.uint64 = T.uint64(0)
    T.cuda.tcgen05.encode_matrix_descriptor(d, s.ptr_to([0]), 0, 8, 0)
    if tx == 0:
        T.ptx["tcgen05.cp.cta_group::1.32x128b.warpx4"](first, d)
        T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.b64(bar.ptr_to([0]))
{WAIT}\
    r = T.alloc_local((4,), "uint32")
    T.ptx.tcgen05.ld.sync.aligned._32x32b.x4.b32(r[0], r[1], r[2], r[3], mine)
    T.ptx.tcgen05.wait__ld.sync.aligned()
    for i in T.unroll(4):
        C[tx, i] = r[i]
"""
    data, result = np.arange(128, dtype=np.uint32), np.zeros((128, 4), np.uint32)
    simulated('A: T.Buffer((128,), "uint32"), C: T.Buffer((128, 4), "uint32")', body, data, result)
    assert result.tolist() == np.tile(data.reshape(32, 4), (4, 1)).tolist()


# ---- loads that look at what they load ------------------------------------------------------------------------------

NAN = 0x7FC00001


def floats(seed: int) -> Any:
    """Words of floats, with zeros of both signs, infinities and NaNs of both signs."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-4, 5, (128, 32)).astype(np.float32).view(np.uint32)
    strange = [0x80000000, 0, 0x7F800000, 0xFF800000, NAN, NAN | 0x80000000]
    return np.where(rng.integers(0, 8, values.shape) == 0, rng.choice(strange, values.shape), values).astype(np.uint32)


def loaded(
    mnemonic: str, words: Any, outputs: str, more: str = "", target: str = "sm_103a", held: str = "float32"
) -> Any:
    """The registers that a load of 32 columns gives."""
    names = outputs.split()
    registers = ", ".join(f"r[{i}]" for i in range(32))
    body = f"""\
    r = T.alloc_local((32,), "uint32")
    for i in range(32):
        r[i] = A[tx, i]
    T.ptx.tcgen05.st.sync.aligned._32x32b.x32.b32(mine, {registers})
    T.ptx.tcgen05.wait__st.sync.aligned()
    d = T.alloc_local(({len(names)},), "{held}")
    m = T.alloc_local(({len(names)},), "uint32")
    T.ptx["{mnemonic}"]({", ".join(f"{name}[{i}]" for i, name in enumerate(names))}, mine{more})
    T.ptx.tcgen05.wait__ld.sync.aligned()
"""
    for i, name in enumerate(names):
        body += f'    C[tx, {i}] = T.reinterpret("uint32", {name}[{i}])\n'
    result = np.zeros((128, len(names)), np.uint32)
    params = f'A: T.Buffer((128, 32), "uint32"), C: T.Buffer((128, {len(names)}), "uint32")'
    simulated(params, body, words, result, target=target)
    return result


def extreme(row: Any, least: bool, absolute: bool, nans: bool) -> int:
    """By hand: the bits of the least or greatest of some floats."""
    numbers = [int(word) & 0x7FFFFFFF if absolute else int(word) for word in row]
    strange = [n for n in numbers if n & 0x7FFFFFFF > 0x7F800000]
    rest = [n for n in numbers if n & 0x7FFFFFFF <= 0x7F800000]
    if not rest or (strange and nans):
        return 0x7FFFFFFF
    ordered = sorted(rest, key=lambda n: -(n & 0x7FFFFFFF) - 0.5 if n >> 31 else float(n))
    return ordered[0 if least else -1]


@pytest.mark.parametrize("how", ["min", "max.abs", "max.NaN", "min.abs.NaN"])
@pytest.mark.parametrize("shape", ["32x32b", "16x32bx2"])
def test_loads_with_the_least_or_greatest(shape: str, how: str) -> None:
    words = floats(1)
    count = 8
    halves = ", 16" if shape == "16x32bx2" else ""
    made = loaded(f"tcgen05.ld.red.sync.aligned.{shape}.x{count}.{how}.f32", words, "d " * (count + 1), halves)
    for thread in range(128):
        lane, column = (thread, 0) if not halves else (thread // 32 * 32 + thread % 16, thread % 32 // 16 * 16)
        row = words[lane, column : column + count]
        assert made[thread, :count].tolist() == row.tolist()
        assert made[thread, count] == extreme(row, "min" in how, "abs" in how, "NaN" in how), how


@pytest.mark.parametrize(("how", "kind"), [("min", "u32"), ("max", "s32")])
def test_loads_with_the_least_or_greatest_integer(how: str, kind: str) -> None:
    words = np.random.default_rng(1).integers(0, 1 << 32, (128, 32), dtype=np.uint64).astype(np.uint32)
    held = {"u32": "uint32", "s32": "int32"}[kind]
    made = loaded(f"tcgen05.ld.red.sync.aligned.32x32b.x4.{how}.{kind}", words, "d " * 5, held=held)
    part = words[:, :4].view(held)
    assert made[:, 4].view(held).tolist() == (part.min(axis=1) if how == "min" else part.max(axis=1)).tolist()


@pytest.mark.parametrize("how", ["max", "min.abs"])
@pytest.mark.parametrize("red", ["", "red."])
def test_loads_that_keep_two_of_four(red: str, how: str) -> None:
    words = floats(2)
    outputs = "m " + "d " * 16 + ("d " if red else "")
    op, *absolute = how.split(".")
    suffix = "".join(f".{word}" for word in absolute)
    mnemonic = f"tcgen05.ld.{red}spcompress.sync.aligned.32x32b.x32.{op}.sp::2:4{suffix}.f32.b2"
    made = loaded(mnemonic, words, outputs, target="sm_107a")
    for thread in range(128):
        for four in range(8):
            row = words[thread, 4 * four : 4 * four + 4].tolist()
            first, second = (int(made[thread, 0]) >> 4 * four + 2 * i & 3 for i in range(2))
            assert first < second
            assert made[thread, 1 + 2 * four : 3 + 2 * four].tolist() == [row[first], row[second]]
            rest = [row[i] for i in range(4) if i not in (first, second)]
            strange = [n & 0x7FFFFFFF > 0x7F800000 for n in (row[first], row[second])]
            for word in rest:  # no better one is left
                if word & 0x7FFFFFFF > 0x7F800000:
                    assert all(strange)
                for kept, odd in zip((row[first], row[second]), strange, strict=True):
                    best = extreme([word, kept], op == "min", bool(absolute), False)
                    assert odd or best == (kept & 0x7FFFFFFF if absolute else kept)
        if red:
            assert made[thread, 17] == extreme(words[thread], op == "min", bool(absolute), False)


# ---- copies ---------------------------------------------------------------------------------------------------------

COPIES = [
    ("128x256b", 128, 8, ""), ("128x128b", 128, 4, ""), ("64x128b.warpx2::02_13", 64, 4, ""), ("64x128b.warpx2::01_23", 64, 4, ""),
    ("32x128b.warpx4.b8x16.b6x16_p32", 32, 4, "b6"), ("128x128b.b8x16.b4x16_p64", 128, 4, "b4"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "rows", "columns", "packed"), COPIES)
def test_copies(form: str, rows: int, columns: int, packed: str) -> None:
    """Cores of 8 rows of 16 bytes, one after the other down the rows, then along them."""
    body = f"""\
    s = T.alloc_shared((1024,), "uint32", align=128)
    for i in range(8):
        s[i * 128 + tx] = A[i * 128 + tx]
    T.ptx.fence.proxy.async_()
    T.cuda.cta_sync()
    d: T.uint64 = T.uint64(0)
    T.cuda.tcgen05.encode_matrix_descriptor(d, s.ptr_to([0]), {rows}, 8, 0)
    bar = T.alloc_shared((1,), "uint64")
    if tx == 0:
        T.ptx.mbarrier.init.shared__cta.b64(bar.ptr_to([0]), T.uint32(1))
    T.cuda.cta_sync()
    if tx == 0:
        T.ptx["tcgen05.cp.cta_group::1.{form}"](first, d)
        T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.b64(bar.ptr_to([0]))
{WAIT}\
    r = T.alloc_local((8,), "uint32")
    T.ptx.tcgen05.ld.sync.aligned._32x32b.x{columns}.b32({", ".join(f"r[{i}]" for i in range(columns))}, mine)
    T.ptx.tcgen05.wait__ld.sync.aligned()
    for i in T.unroll({columns}):
        C[tx, i] = r[i]
"""
    rng = np.random.default_rng(1)
    data = rng.integers(0, 1 << 32, 1024, dtype=np.uint64).astype(np.uint32)
    result = np.zeros((128, columns), np.uint32)
    simulated(f'A: T.Buffer((1024,), "uint32"), C: T.Buffer((128, {columns}), "uint32")', body, data, result)
    units = data[: rows * columns].reshape(columns // 4, rows, 4).swapaxes(0, 1)
    if packed:
        bits = int(packed[1])
        numbers = [[int.from_bytes(unit.tobytes(), "little") for unit in row] for row in units]
        codes = [[[n >> bits * i & (1 << bits) - 1 for i in range(16)] for n in row] for row in numbers]
        units = (np.array(codes) << (2 if bits == 4 else 0)).astype(np.uint8).view(np.uint32)
    expected = units.reshape(rows, columns)
    if rows == 64:
        halves = expected[:32], expected[32:]
        expected = np.concatenate([halves[i] for i in ((0, 1, 0, 1) if "02_13" in form else (0, 0, 1, 1))])
    if rows == 32:
        expected = np.tile(expected, (4, 1))
    assert result.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "body",
    [
        "    T.ptx.tcgen05.st.sync.aligned._32x32b.x1.b32(mine + T.uint32(40), T.uint32(1))\n",  # not allocated
        "    T.ptx.tcgen05.st.sync.aligned._32x32b.x1.b32(first, T.uint32(1))\n",  # lanes of another warp
    ],
)
def test_misuse_is_found(body: str) -> None:
    report = simulated("", body, verdict="error")
    assert "tensor_memory" in str(report) or "tensor memory" in str(report)
