"""Products of the fifth generation of tensor cores, against sums over matrices that are laid out here by the manual's tables."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tirx import script as Tx

from .test_sparse import random_rows
from .test_wgmma import places

TYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "s8": np.int8, "u8": np.uint8, "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2, "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn, "e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip
CODES = {
    "f16": (0, 0), "bf16": (1, 1), "tf32": (2, 2), "u8": (0, 0), "s8": (1, 1), "e4m3": (0, 0), "e5m2": (1, 1), "e2m3": (3, 3),
    "e3m2": (4, 4), "e2m1": (5, 5), "packed": (1, 1),
}  # fmt: skip
D, LEFT, META, SCALE_A, SCALE_B, COLUMNS = 0, 64, 96, 104, 112, 128  # columns of tensor memory that the tests use


def described(
    left: str, right: str, m: int, n: int, *, sums: int = 1, sparse: bool = False, selector: int = 0, negative: int = 0
) -> int:
    """PTX ISA, table "Instruction descriptor format for .kind::tf32, .kind::f16, .kind::f8f6f4 and .kind::i8"."""
    word = selector | sparse << 2 | sums << 4 | CODES[left][0] << 7 | CODES[right][1] << 10 | negative << 13
    return word | n // 8 << 17 | m // 16 << 24


def scaled(left: str, right: str, m: int, n: int, ids: tuple[int, int], ue8m0: bool, sparse: bool = False) -> int:
    """PTX ISA, tables for .kind::mxf8f6f4, .kind::mxf4 and .kind::mxf4nvf4."""
    word = sparse << 2 | ids[1] << 4 | CODES[left][0] << 7 | CODES[right][1] << 10 | ue8m0 << 23
    return word | n // 8 << 17 | m // 128 << 27 | ids[0] << 29


def values(kind: str, shape: tuple[int, int], seed: int) -> Any:
    """Numbers that each type holds, small enough that sums of products are exact."""
    rng = np.random.default_rng(seed)
    if kind in ("e2m1", "packed"):
        return rng.choice([-6, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 6], shape)
    return rng.integers(0 if kind == "u8" else -3, 4, shape).astype(float)


def codes_of(matrix: Any, kind: str) -> Any:
    return np.ascontiguousarray(matrix.astype(TYPES["e2m1" if kind == "packed" else kind])).view(
        {4: np.uint32, 2: np.uint16}.get(np.dtype(TYPES.get(kind, np.int8)).itemsize, np.uint8)
    )


def in_shared(matrix: Any, kind: str) -> tuple[Any, int, int]:
    """Bytes of a matrix that is stored without swizzling, along k; both offsets of its descriptor."""
    codes = codes_of(matrix, kind)
    if kind == "packed":
        codes = codes[:, ::2] | codes[:, 1::2] << 4
    rows, k, size = *codes.shape, codes.dtype.itemsize
    data = codes.view(np.uint8).reshape(rows, k * size).copy()
    bits = {"e2m1": 4, "e2m3": 6, "e3m2": 6}.get(kind)
    if bits:  # sixteen in a row, then padding to sixteen bytes
        for row in range(rows):
            for first in range(0, k, 16):
                whole = sum(int(code) << (bits * i) for i, code in enumerate(codes[row, first : first + 16]))
                data[row, first : first + 16] = np.frombuffer(whole.to_bytes(16, "little"), np.uint8)
    place, leading, stride = places(rows, k * size, 1, 0, False)
    memory = np.zeros(8192, np.uint8)
    memory[place] = data
    return memory, leading, stride


def run(mnemonic: str, word: int, left: Any, right: Any, tensor: Any, *more: str, target: str = "sm_100a") -> Any:
    """Tensor memory of each cta after one product; `left` is None where A is in tensor memory."""
    ctas = len(tensor)
    group = f"cta_group::{ctas}"
    memories = [np.zeros((ctas, 8192), np.uint8) for _ in range(2)]
    offsets = [(8, 8), (8, 8)]
    for number, side in enumerate((left, right)):
        if side is not None:
            for rank, (memory, *pair) in enumerate(side):
                memories[number][rank], offsets[number] = memory, tuple(pair)
    registers = ", ".join(f"r[{i}]" for i in range(COLUMNS))
    first = "da" if left is not None else f"first + T.uint32({LEFT})"
    operands = ", ".join(["db", *more]).replace("IDESC", f"T.uint32({word})")
    text = f"""\
@T.prim_func
def kernel(A: T.Buffer(({ctas}, 1024), "uint64"), B: T.Buffer(({ctas}, 1024), "uint64"), W: T.Buffer(({ctas}, 128, {COLUMNS}), "uint32")):
    T.device_entry()
    T.cluster_id([1])
    rank = T.cta_id_in_cluster([{ctas}])
    tx = T.thread_id([128])
    where = T.alloc_shared((1,), "uint32")
    sa = T.alloc_shared((1024,), "uint64", align=1024)
    sb = T.alloc_shared((1024,), "uint64", align=1024)
    bar = T.alloc_shared((1,), "uint64")
    r = T.alloc_local(({COLUMNS},), "uint32")
    if tx < 32:
        T.ptx["tcgen05.alloc.{group}.sync.aligned.shared::cta.b32"](where.ptr_to([0]), {COLUMNS})
    for i in range(8):
        sa[i * 128 + tx] = A[rank, i * 128 + tx]
        sb[i * 128 + tx] = B[rank, i * 128 + tx]
    for i in range({COLUMNS}):
        r[i] = W[rank, tx, i]
    if tx == 0:
        T.ptx.mbarrier.init.shared__cta.b64(bar.ptr_to([0]), T.uint32(1))
    T.cuda.cta_sync()
    first: T.uint32 = where[0]
    mine: T.uint32 = first + T.uint32(tx // 32 * 32 * 65536)
    T.ptx.tcgen05.st.sync.aligned._32x32b.x{COLUMNS}.b32(mine, {registers})
    T.ptx.tcgen05.wait__st.sync.aligned()
    T.ptx.tcgen05.fence__before_thread_sync()
    T.ptx.fence.proxy.async_()
    T.cuda.cluster_sync()
    T.ptx.tcgen05.fence__after_thread_sync()
    da: T.uint64 = T.uint64(0)
    db: T.uint64 = T.uint64(0)
    T.cuda.tcgen05.encode_matrix_descriptor(da, sa.ptr_to([0]), {offsets[0][0]}, {offsets[0][1]}, 0)
    T.cuda.tcgen05.encode_matrix_descriptor(db, sb.ptr_to([0]), {offsets[1][0]}, {offsets[1][1]}, 0)
    if tx == 0 and rank == 0:
        T.ptx["{mnemonic.replace("GROUP", group)}"](first + T.uint32({D}), {first}, {operands})
        T.ptx["tcgen05.commit.{group}.mbarrier::arrive::one.b64"](bar.ptr_to([0]))
        ready: T.bool = T.bool(False)
        while not ready:
            T.ptx.mbarrier.test_wait.parity.shared__cta.b64(ready, bar.ptr_to([0]), T.uint32(0))
    T.ptx.tcgen05.fence__before_thread_sync()
    T.cuda.cluster_sync()
    T.ptx.tcgen05.fence__after_thread_sync()
    T.ptx.tcgen05.ld.sync.aligned._32x32b.x{COLUMNS}.b32({registers}, mine)
    T.ptx.tcgen05.wait__ld.sync.aligned()
    for i in range({COLUMNS}):
        W[rank, tx, i] = r[i]
    if tx < 32:
        T.ptx["tcgen05.dealloc.{group}.sync.aligned.b32"](first, {COLUMNS})
"""
    words = np.array(tensor, np.uint32)
    report = tirx.simulate(
        Tx.from_source(text), *[memory.view(np.uint64) for memory in memories], words, target=f"cuda -arch={target}"
    )
    assert report.verdict == "clean", str(report)
    return words


def empty(ctas: int = 1) -> Any:
    return np.random.default_rng(9).integers(0, 1 << 32, (ctas, 128, COLUMNS), dtype=np.uint64).astype(np.uint32)


def sums(words: Any, lanes: Any, n: int, held: Any = np.float32) -> Any:
    """(rows, n) from lanes that hold whole rows."""
    return words[lanes, D : D + n].copy().view(held).astype(np.float64)


NARROW = [("e2m3", "e3m2", 24), ("e2m1", "e4m3", 16), ("e5m2", "e2m1", 8), ("e3m2", "e5m2", 16)]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(("left", "right", "n"), NARROW)
def test_narrow_elements(left: str, right: str, n: int, inside: bool) -> None:
    a, b = values(left, (128, 32), 1), values(right, (n, 32), 2)
    tensor = empty()
    if inside:  # a byte for each element; those of four bits in the middle of theirs
        bytes_of_a = codes_of(a, left) << (2 if left == "e2m1" else 0)
        tensor[0, :, LEFT : LEFT + 8] = bytes_of_a.astype(np.uint8).view(np.uint32)
    word = described(left, right, 128, n)
    given = None if inside else [in_shared(a, left)]
    made = run("tcgen05.mma.GROUP.kind::f8f6f4", word, given, [in_shared(b, right)], tensor, "IDESC", "False")
    assert sums(made[0], np.arange(128), n).tolist() == (a @ b.T).tolist()
    assert (made[0, :, D + n : LEFT] == tensor[0, :, D + n : LEFT]).all()


def test_sums_begin_with_what_is_there_in_lanes_that_are_not_disabled() -> None:
    a, b = values("f16", (64, 16), 1), values("bf16", (16, 16), 2)
    tensor, start = empty(), np.random.default_rng(3).integers(-50, 50, (128, 16)).astype(np.float32)
    tensor[0, :, D : D + 16] = start.view(np.uint32)
    word = described("f16", "bf16", 64, 16, negative=1)
    masks = ["T.uint32(0xF0)", "T.uint32(0)", "T.uint32(1)", "T.uint32(0)"]
    made = run(
        "tcgen05.mma.GROUP.kind::f16",
        word,
        [in_shared(a, "f16")],
        [in_shared(b, "bf16")],
        tensor,
        "IDESC",
        *masks,
        "True",
        "2",
    )
    lanes = np.arange(64) // 16 * 32 + np.arange(64) % 16
    expected = start.astype(np.float64)
    expected[lanes] = -(a @ b.T) + start[lanes] / 4
    expected[[4, 5, 6, 7, 64]] = start[[4, 5, 6, 7, 64]]
    assert sums(made[0], np.arange(128), 16).tolist() == expected.tolist()


def test_integers_saturate() -> None:
    a, b = np.full((128, 32), -128), np.full((8, 32), 127)
    tensor = empty()
    tensor[0, :, D : D + 8] = np.int64(-(2**31) + 5) & 0xFFFFFFFF
    word = described("s8", "s8", 128, 8, sums=2)
    for saturated, expected in ((8, -(2**31)), (0, 2**31 + 5 - 32 * 128 * 127)):
        made = run(
            "tcgen05.mma.GROUP.kind::i8",
            word | saturated,
            [in_shared(a, "s8")],
            [in_shared(b, "s8")],
            tensor,
            "IDESC",
            "True",
        )
        assert (sums(made[0], np.arange(128), 8, np.int32) == expected).all()


# ---- scales of blocks -----------------------------------------------------------------------------------------------

SCALED = [
    ("mxf8f6f4", "e4m3", "e2m3", "", 32, 1, (0, 3), True, 16),
    ("mxf8f6f4", "e2m1", "e5m2", ".scale_vec::1X", 32, 1, (2, 1), True, 64),
    ("mxf8f6f4", "e5m2", "e4m3", ".block32", 32, 1, (1, 0), True, 8),
    ("mxf4", "packed", "packed", "", 64, 2, (2, 0), True, 16),
    ("mxf4", "packed", "packed", ".scale_vec::2X", 64, 2, (0, 2), True, 48),
    ("mxf4nvf4", "packed", "packed", ".scale_vec::4X", 64, 4, (0, 0), False, 16),
    ("mxf4nvf4", "packed", "packed", ".block16", 64, 4, (0, 0), True, 8),
    ("mxf4nvf4", "packed", "packed", ".scale_vec::2X", 64, 2, (2, 2), True, 8),
]


def scales(rows: int, blocks: int, ue8m0: bool, seed: int) -> tuple[Any, Any]:
    """Bytes and what they mean."""
    rng = np.random.default_rng(seed)
    if ue8m0:
        exponents = rng.integers(-3, 4, (rows, blocks))
        return (exponents + 127).astype(np.uint8), 2.0**exponents
    chosen = rng.choice([0.5, 1, 1.5, 2, 3, 0.75], (rows, blocks))
    return chosen.astype(ml_dtypes.float8_e4m3fn).view(np.uint8), chosen


def place_scales(tensor: Any, column: int, codes: Any, identity: int) -> None:
    """Row r in lanes r % 32 of all four groups of 32, in byte `identity` and following of column r // 32."""
    data = np.ascontiguousarray(tensor).view(np.uint8).reshape(128, COLUMNS, 4)
    for row, blocks in enumerate(codes):
        for number, code in enumerate(blocks):
            data[row % 32 + 32 * np.arange(4), column + row // 32, identity + number] = code
    tensor[:] = data.view(np.uint32).reshape(128, COLUMNS)


@pytest.mark.parametrize(("kind", "left", "right", "vec", "k", "blocks", "ids", "ue8m0", "n"), SCALED)
def test_scales_of_blocks(
    kind: str, left: str, right: str, vec: str, k: int, blocks: int, ids: tuple[int, int], ue8m0: bool, n: int
) -> None:
    a, b = values(left, (128, k), 1), values(right, (n, k), 2)
    tensor = empty()
    tensor[0, :, D : D + n] = 0
    (codes_a, scales_a), (codes_b, scales_b) = scales(128, blocks, ue8m0, 3), scales(n, blocks, ue8m0, 4)
    place_scales(tensor[0], SCALE_A, codes_a, ids[0])
    place_scales(tensor[0], SCALE_B, codes_b, ids[1])
    word = scaled(left, right, 128, n, ids, ue8m0)
    made = run(
        f"tcgen05.mma.GROUP.kind::{kind}.block_scale{vec}", word, [in_shared(a, left)], [in_shared(b, right)], tensor,
        "IDESC", f"first + T.uint32({SCALE_A})", f"first + T.uint32({SCALE_B})", "True",
    )  # fmt: skip
    whole_a, whole_b = a * np.repeat(scales_a, k // blocks, 1), b * np.repeat(scales_b, k // blocks, 1)
    assert sums(made[0], np.arange(128), n).tolist() == (whole_a @ whole_b.T).tolist()


# ---- half of A left out ---------------------------------------------------------------------------------------------


def metadata(nibbles: Any, wide: bool, selector: int, lanes: Any) -> Any:
    """Words of two columns: (128, 2). Where elements are wide, lanes 0 to 7 of sixteen hold the first half of k of their row and,
    above, of the row 8 further, lanes 8 to 15 the second half; the selector says which column. Else a lane holds its row."""
    words = np.random.default_rng(5).integers(0, 1 << 32, (128, 2), dtype=np.uint64)
    for row, said in enumerate(nibbles):
        if not wide:
            for half in range(2):
                words[lanes[row], half] = sum(int(n) << (4 * i) for i, n in enumerate(said[8 * half : 8 * half + 8]))
            continue
        top = row % 16 // 8
        for half in range(2):
            lane = lanes[row // 16 * 16 + row % 8 + 8 * half]
            value = sum(int(n) << (4 * i) for i, n in enumerate(said[4 * half : 4 * half + 4]))
            words[lane, selector] = (int(words[lane, selector]) & (0xFFFF << 16 * (1 - top))) | value << 16 * top
    return words.astype(np.uint32)


SPARSE = [("f16", 32, 1, 1), ("bf16", 32, 0, 1), ("tf32", 16, 1, 1), ("e4m3", 64, 0, 1), ("s8", 64, 0, 2)]
KIND = {"f16": "f16", "bf16": "f16", "tf32": "tf32", "e4m3": "f8f6f4", "s8": "i8"}


@pytest.mark.parametrize("m", [64, 128])
@pytest.mark.parametrize(("kind", "k", "selector", "held"), SPARSE)
def test_sparse_matrices(kind: str, k: int, selector: int, held: int, m: int) -> None:
    whole, kept, nibbles = random_rows(kind, m, k, True, m)
    b = values(kind, (16, k), 2)
    lanes = np.arange(128) if m == 128 else np.arange(64) // 16 * 32 + np.arange(64) % 16
    tensor = empty()
    tensor[0, :, META : META + 2] = metadata(nibbles, kind in ("f16", "bf16", "tf32"), selector, lanes)
    word = described(kind, kind, m, 16, sums=held, sparse=True, selector=selector)
    made = run(
        f"tcgen05.mma.sp.GROUP.kind::{KIND[kind]}", word, [in_shared(kept, kind)], [in_shared(b, kind)], tensor,
        f"first + T.uint32({META})", "IDESC", "False",
    )  # fmt: skip
    number = np.int32 if held == 2 else np.float32
    assert sums(made[0], lanes[:m], 16, number).tolist() == (whole @ b.T).tolist()


def test_sparse_matrices_with_scales() -> None:
    whole, kept, nibbles = random_rows("s4", 128, 128, True, 1)  # pairs of neighbours go together
    b = values("packed", (8, 128), 2)
    mapped = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    whole, kept = (np.sign(m) * mapped[np.abs(m).astype(int) % 8] for m in (whole, kept))
    tensor = empty()
    tensor[0, :, META : META + 2] = metadata(nibbles, False, 0, np.arange(128))
    (codes_a, scales_a), (codes_b, scales_b) = scales(128, 2, True, 3), scales(8, 2, True, 4)
    place_scales(tensor[0], SCALE_A, codes_a, 0)
    place_scales(tensor[0], SCALE_B, codes_b, 2)
    word = scaled("packed", "packed", 128, 8, (0, 2), True, sparse=True)
    made = run(
        "tcgen05.mma.sp.GROUP.kind::mxf4.block_scale", word, [in_shared(kept, "packed")], [in_shared(b, "packed")], tensor,
        f"first + T.uint32({META})", "IDESC", f"first + T.uint32({SCALE_A})", f"first + T.uint32({SCALE_B})", "False",
    )  # fmt: skip
    exact = (whole * np.repeat(scales_a, 64, 1)) @ (b * np.repeat(scales_b, 64, 1)).T
    assert sums(made[0], np.arange(128), 8).tolist() == exact.tolist()


# ---- weights that stay ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("m", "n"), [(32, 64), (64, 128), (128, 64)])
def test_weights_that_stay(m: int, n: int, masked: bool) -> None:
    """Columns lie side by side as far as rows leave lanes: in four parts of 32 lanes, in two of 64."""
    a, b = values("f16", (m, 16), 1), values("f16", (n, 16), 2)
    parts = 128 // m
    # from the second column of each part on: three columns count, two are zero; the run begins with what counts
    use, skip = 3, 2
    mask = 1 << 39 | (skip - 1) << 40 | (use - 1) << 48 | sum(1 << (8 * part) for part in range(parts))
    word = described("f16", "f16", m, n)
    more = [f"T.uint64({mask})"] if masked else []
    tensor = empty()
    made = run(
        "tcgen05.mma.ws.GROUP.kind::f16",
        word,
        [in_shared(a, "f16")],
        [in_shared(b, "f16")],
        tensor,
        "IDESC",
        "False",
        *more,
    )
    found = np.concatenate([sums(made[0], part * m + np.arange(m), n // parts) for part in range(parts)], axis=1)
    zero = [column for column in range(n) if (column % (n // parts) + 1) % 5 >= 3]
    if masked:
        b[zero] = 0
    assert found.tolist() == (a @ b.T).tolist()


# ---- two ctas -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("m", [128, 256])
def test_pairs_of_ctas(m: int, sparse: bool) -> None:
    """Each cta holds half of the rows of A and of D and half of the columns of B."""
    n, k = 32, 32 if sparse else 16
    whole, kept, nibbles = random_rows("f16", m, k, True, 1)
    a, stored = (whole, kept) if sparse else (values("f16", (m, k), 1),) * 2
    b, half = values("f16", (n, k), 2), m // 2
    tensor, more = empty(2), []
    lanes = np.arange(half) if half == 128 else np.arange(64) // 16 * 32 + np.arange(64) % 16
    if sparse:
        for rank in range(2):
            tensor[rank, :, META : META + 2] = metadata(nibbles[rank * half : (rank + 1) * half], True, 0, lanes)
        more = [f"first + T.uint32({META})"]
    word = described("f16", "f16", m, n, sparse=sparse)
    sides = [
        [in_shared(x[rank * len(x) // 2 : (rank + 1) * len(x) // 2], "f16") for rank in range(2)] for x in (stored, b)
    ]
    name = f"tcgen05.mma.{'sp.' if sparse else ''}GROUP.kind::f16"
    made = run(name, word, *sides, tensor, *more, "IDESC", "False")
    exact = a @ b.T
    for rank in range(2):
        rows = exact[rank * half : (rank + 1) * half]
        if half == 64 and not sparse:  # the right half of the columns 64 lanes further
            found = np.concatenate([sums(made[rank], np.arange(64) + 64 * p, n // 2) for p in range(2)], axis=1)
        else:
            found = sums(made[rank], lanes, n)
        assert found.tolist() == rows.tolist()
