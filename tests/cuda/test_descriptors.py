"""Descriptors of matrix instructions against the fields that the PTX ISA documents, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.ir import structural_equal
from tirx.script import from_source
from tirx.support.errors import ScriptError, TirxError
from tirx_cuda.descriptor import DescriptorError, block_scaled_instruction, instruction, matrix_constant

BLACKWELL, HOPPER = "cuda -arch=sm_100a", "cuda -arch=sm_90a"


def field(word: int, low: int, high: int) -> int:
    """Bits `low` to `high` of a word, both included, as the manual counts them."""
    return word >> low & (1 << (high - low + 1)) - 1


# ---- matrices -----------------------------------------------------------------------------------------------------

# PTX ISA, "Shared memory descriptor": bits 61-63. "Matrix Descriptor Format": bits 62-63.
TCGEN05_SWIZZLE = {0: 0, 1: 6, 2: 4, 3: 2, 4: 1}
WGMMA_SWIZZLE = {0: 0, 1: 3, 2: 2, 3: 1}


@pytest.mark.parametrize("swizzle", TCGEN05_SWIZZLE)
@pytest.mark.parametrize(("ldo", "sdo"), [(0, 0), (1, 64), (16383, 1), (8, 16383)])
def test_matrix_of_tcgen05(ldo: int, sdo: int, swizzle: int) -> None:
    word = matrix_constant("tcgen05", ldo, sdo, swizzle)
    fields = [(0, 13, 0), (16, 29, ldo), (32, 45, sdo), (46, 48, 1), (49, 51, 0), (52, 52, 0), (53, 60, 0)]
    assert all(field(word, low, high) == wanted for low, high, wanted in fields)
    assert field(word, 61, 63) == TCGEN05_SWIZZLE[swizzle]
    assert field(word, 14, 15) == field(word, 30, 31) == 0
    assert word >> 64 == 0


@pytest.mark.parametrize("swizzle", WGMMA_SWIZZLE)
def test_matrix_of_wgmma(swizzle: int) -> None:
    word = matrix_constant("wgmma", 5, 64, swizzle)
    assert (field(word, 16, 29), field(word, 32, 45), field(word, 62, 63)) == (5, 64, WGMMA_SWIZZLE[swizzle])
    assert field(word, 46, 61) == field(word, 30, 31) == field(word, 0, 15) == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("wgmma", 0, 0, 4), "wgmma has no swizzle 4"),
        (("tcgen05", 0, 0, 5), "tcgen05 has no swizzle 5"),
        (("tcgen05", 16384, 0, 0), "ldo=16384: offsets are 0 to 16383 units of 16 bytes"),
        (("wgmma", 0, -1, 0), "sdo=-1: offsets are 0 to 16383"),
    ],
)
def test_matrices_that_cannot_be_described(args: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        matrix_constant(*args)


# ---- instructions -------------------------------------------------------------------------------------------------

# PTX ISA, "Instruction descriptor": codes of element types.
F8F6F4 = {"float8_e4m3fn": 0, "float8_e5m2": 1, "float6_e2m3fn": 3, "float6_e3m2fn": 4, "float4_e2m1fn": 5}
F16, TF32, I8 = {"float16": 0, "bfloat16": 1}, {"tf32": 2}, {"uint8": 0, "int8": 1}
EVERY_TYPE = ["float16", "bfloat16", "float32", "tf32", "int8", "uint8", "int32", *F8F6F4]
RESULTS = {"float16": 0, "float32": 1, "int32": 2}
TRANSPOSED = {"float16", "bfloat16", "tf32", "int8", "uint8", "float8_e4m3fn", "float8_e5m2"}


def dense_types() -> Iterator[tuple[str, str, str, int, int, int]]:
    """Types of D, A and B that some kind multiplies, the codes of A and B, and K."""
    for codes, results, k in ((F16, ("float32",), 16), (TF32, ("float32",), 8), (I8, ("int32",), 32)):
        yield from ((d, a, b, codes[a], codes[b], k) for d in results for a in codes for b in codes)
    yield "float16", "float16", "float16", 0, 0, 16
    yield from ((d, a, b, F8F6F4[a], F8F6F4[b], 32) for d in ("float16", "float32") for a in F8F6F4 for b in F8F6F4)


@pytest.mark.parametrize(("d", "a", "b", "a_code", "b_code", "k"), list(dense_types()))
def test_every_pair_of_types(d: str, a: str, b: str, a_code: int, b_code: int, k: int) -> None:
    for sparse in (False, True):
        word = instruction(d_dtype=d, a_dtype=a, b_dtype=b, M=128, N=64, K=k * (1 + sparse), is_sparse=sparse, **MAJOR)
        assert (field(word, 7, 9), field(word, 10, 12), field(word, 4, 5)) == (a_code, b_code, RESULTS[d])
        assert (field(word, 17, 22), field(word, 24, 28), field(word, 2, 2)) == (8, 8, sparse)
        assert (
            field(word, 0, 1)
            == field(word, 3, 3)
            == field(word, 6, 6)
            == field(word, 23, 23)
            == field(word, 29, 31)
            == 0
        )


MAJOR = {"trans_a": False, "trans_b": False}


def test_all_other_types_are_refused() -> None:
    known = {(d, a, b) for d, a, b, *_ in dense_types()}
    for d in ("float16", "bfloat16", "float32", "int32", "float64"):
        for a in EVERY_TYPE:
            for b in EVERY_TYPE:
                if (d, a, b) in known:
                    continue
                with pytest.raises(DescriptorError, match="no instruction multiplies"):
                    instruction(d_dtype=d, a_dtype=a, b_dtype=b, M=128, N=64, K=16, **MAJOR)


def allowed_columns(i8: bool, ctas: int, rows: int) -> set[int]:
    """PTX ISA, "Matrix shape"."""
    if ctas == 2:
        return set(range(32, 257, 32)) if rows in (128, 256) else set()
    if rows not in (64, 128):
        return set()
    if i8:
        return {8, 24, *range(16, 257, 16)}
    return set(range(8, 257, 8)) if rows == 64 else set(range(16, 257, 16))


@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("rows", [32, 64, 96, 128, 256])
@pytest.mark.parametrize(
    ("d", "a", "k"), [("float32", "bfloat16", 16), ("int32", "int8", 32), ("float32", "float8_e5m2", 32)]
)
def test_every_shape(d: str, a: str, k: int, rows: int, ctas: int) -> None:
    wanted = allowed_columns(a == "int8", ctas, rows)
    for columns in range(0, 300, 4):
        shape = {
            "d_dtype": d,
            "a_dtype": a,
            "b_dtype": a,
            "M": rows,
            "N": columns,
            "K": k,
            "n_cta_groups": ctas,
            **MAJOR,
        }
        if columns in wanted:
            word = instruction(**shape)
            assert (field(word, 17, 22) << 3, field(word, 24, 28) << 4) == (columns, rows)
        else:
            with pytest.raises(DescriptorError, match=f"[MN]={rows if not wanted else columns} "):
                instruction(**shape)


@pytest.mark.parametrize("dtype", [*F16, *TF32, *I8, *F8F6F4])
def test_modifiers(dtype: str) -> None:
    k = {"float16": 16, "bfloat16": 16, "tf32": 8}.get(dtype, 32)
    shape = {
        "a_dtype": dtype,
        "b_dtype": dtype,
        "M": 64,
        "N": 32,
        "K": k,
        "d_dtype": "int32" if dtype in I8 else "float32",
    }
    bits = {"trans_a": (15, dtype in TRANSPOSED), "trans_b": (16, dtype in TRANSPOSED), "neg_a": (13, dtype not in I8)}
    bits |= {"neg_b": (14, dtype not in I8), "sat_d": (3, dtype in I8)}
    plain = instruction(**{**shape, **MAJOR})
    for name, (bit, exists) in bits.items():
        if exists:
            assert instruction(**{**shape, **MAJOR, name: True}) == plain | 1 << bit
        else:
            with pytest.raises(DescriptorError, match=r"cannot be transposed|does not negate|does not saturate"):
                instruction(**{**shape, **MAJOR, name: True})


@pytest.mark.parametrize("k", [8, 16, 24, 32, 64])
def test_depths(k: int) -> None:
    """K of dense kinds; sparse ones have twice that."""
    for dtype, dense in (("float16", 16), ("tf32", 8), ("float8_e4m3fn", 32)):
        for sparse in (False, True):
            shape = {
                "d_dtype": "float32",
                "a_dtype": dtype,
                "b_dtype": dtype,
                "M": 64,
                "N": 8,
                "K": k,
                "is_sparse": sparse,
            }
            if k == dense * (1 + sparse):
                instruction(**shape, **MAJOR)
            else:
                with pytest.raises(DescriptorError, match=f"has no K={k}"):
                    instruction(**shape, **MAJOR)


# ---- every combination --------------------------------------------------------------------------------------------

HEIGHTS, WIDTHS, GROUPS = (0, 32, 64, 96, 128, 192, 256, 512), (*range(0, 289, 8), 4, 20, 100), (1, 2, 3)
SPARSE = (False, True)


def answer(make: Callable[..., int], fields: dict[str, Any]) -> int | None:
    """The word, or None where the combination is refused."""
    try:
        return make(**fields)
    except DescriptorError:
        return None


def composed(*fields: tuple[int, int]) -> int:
    """A word of values at their lowest bits."""
    return sum(value << low for low, value in fields)


@pytest.mark.parametrize("a", [*F16, *TF32, *I8, *F8F6F4])
def test_every_dense_combination(a: str) -> None:
    """Types, shapes, numbers of ctas, sparse or not: the word of the manual's table where there is one, else refused."""
    for d, first, b, a_code, b_code, k in dense_types():
        if first != a:
            continue
        for rows, columns, ctas, sparse in product(HEIGHTS, WIDTHS, GROUPS, SPARSE):
            exists = ctas < 3 and columns in allowed_columns(a in I8, ctas, rows)
            wanted = composed(
                (2, sparse), (4, RESULTS[d]), (7, a_code), (10, b_code), (17, columns >> 3), (24, rows >> 4)
            )
            shape = {"M": rows, "N": columns, "K": k * (1 + sparse), "n_cta_groups": ctas, "is_sparse": sparse}
            found = answer(instruction, {"d_dtype": d, "a_dtype": a, "b_dtype": b, **shape, **MAJOR})
            assert found == (wanted if exists else None), (d, a, b, shape)


@pytest.mark.parametrize("a", [*F16, *TF32, *I8, *F8F6F4])
def test_every_combination_of_modifiers(a: str) -> None:
    """Each transposition, negation and saturation that both types have, together with all others."""
    names = {"trans_a": 15, "trans_b": 16, "neg_a": 13, "neg_b": 14, "sat_d": 3}
    for d, first, b, a_code, b_code, k in dense_types():
        if first != a:
            continue
        for flags in product((False, True), repeat=len(names)):
            asked = dict(zip(names, flags, strict=True))
            exists = not ((asked["trans_a"] and a not in TRANSPOSED) or (asked["trans_b"] and b not in TRANSPOSED))
            exists = exists and not (
                ((asked["neg_a"] or asked["neg_b"]) and a in I8) or (asked["sat_d"] and a not in I8)
            )
            bits = [(names[name], on) for name, on in asked.items()]
            wanted = composed((4, RESULTS[d]), (7, a_code), (10, b_code), (17, 8), (24, 8), *bits)
            found = answer(instruction, {"d_dtype": d, "a_dtype": a, "b_dtype": b, "M": 128, "N": 64, "K": k, **asked})
            assert found == (wanted if exists else None), (d, a, b, asked)


@pytest.mark.parametrize("a", [*F16, *TF32, *I8, *F8F6F4])
def test_every_depth(a: str) -> None:
    for d, first, b, _, _, k in dense_types():
        for depth, sparse in product((0, 4, 8, 16, 24, 32, 48, 64, 96, 128), SPARSE):
            if first == a:
                fields = {"d_dtype": d, "a_dtype": a, "b_dtype": b, "M": 128, "N": 64, "K": depth, "is_sparse": sparse}
                assert (answer(instruction, {**fields, **MAJOR}) is not None) == (depth == k * (1 + sparse)), fields


SCALES = {"float8_e8m0fnu": 1, "float8_e4m3fn": 0}
DEPTHS = (16, 32, 64, 96, 128, 192)


def scaled_word(a: str, b: str, scale: str, depth: int, sparse: bool) -> int | None:
    """Codes of types, of the scales and of the depth, as the manual has them; None where no kind multiplies these."""
    dense = depth >> sparse
    fields = [(2, sparse), (23, SCALES[scale]), (17, 8), (24, 8)]
    if dense == 32 and not depth % 32 and scale == "float8_e8m0fnu":
        return composed((7, F8F6F4[a]), (10, F8F6F4[b]), *fields)
    if a == b == "float4_e2m1fn" and (dense == 64 or (depth == 96 and not sparse)):
        return composed((7, 1), (10, 1), (31, depth == 96), *fields)
    return None


@pytest.mark.parametrize("a", F8F6F4)
def test_every_scaled_combination(a: str) -> None:
    for b, scale, depth, sparse in product(F8F6F4, SCALES, DEPTHS, SPARSE):
        names = {"d_dtype": "float32", "a_dtype": a, "b_dtype": b, "sfa_dtype": scale, "sfb_dtype": scale}
        wanted = scaled_word(a, b, scale, depth, sparse)
        fields = {**names, "K": depth, "is_sparse": sparse, **MAJOR}
        assert answer(block_scaled_instruction, {**fields, "M": 128, "N": 64}) == wanted, fields
        if wanted is None:
            continue
        for rows, columns, ctas in product(HEIGHTS, WIDTHS, GROUPS):
            step = {(1, 128): 8, (2, 128): 16, (2, 256): 16}.get((ctas, rows))
            exists = step is not None and columns in range(step, 257, step)
            found = answer(block_scaled_instruction, {**fields, "M": rows, "N": columns, "n_cta_groups": ctas})
            shape = composed((17, columns >> 3), (24, rows >> 4)) - composed((17, 8), (24, 8))
            assert found == (wanted + shape if exists else None), (fields, rows, columns, ctas)


@pytest.mark.parametrize("a", F8F6F4)
def test_every_modifier_of_scaled_blocks(a: str) -> None:
    names = {"trans_a": 15, "trans_b": 16, "neg_a": 13, "neg_b": 14}
    for b in F8F6F4:
        plain = scaled(a, b, "float8_e8m0fnu", 32)
        for flags, ids in product(product((False, True), repeat=4), ((0, 0), (1, 2), (3, 3))):
            asked = dict(zip(names, flags, strict=True))
            exists = not ((asked["trans_a"] and a not in TRANSPOSED) or (asked["trans_b"] and b not in TRANSPOSED))
            bits = composed(*((names[name], on) for name, on in asked.items()), (29, ids[0]), (4, ids[1]))
            fields = {"d_dtype": "float32", "a_dtype": a, "b_dtype": b, "M": 128, "N": 64, "K": 32, **asked}
            fields |= {"sfa_dtype": "float8_e8m0fnu", "sfb_dtype": "float8_e8m0fnu", "sfa_id": ids[0], "sfb_id": ids[1]}
            assert answer(block_scaled_instruction, fields) == (plain + bits if exists else None), fields


def test_other_types_of_scaled_blocks_are_refused() -> None:
    types = (*EVERY_TYPE, "float8_e8m0fnu")
    for d, a, b, scale in product(("float16", "float32", "int32"), types, types, (*SCALES, "float16")):
        if d == "float32" and a in F8F6F4 and b in F8F6F4 and scale in SCALES:
            continue
        for depth in (32, 64):
            with pytest.raises(DescriptorError, match="no instruction multiplies"):
                scaled(a, b, scale, depth, d_dtype=d)


@pytest.mark.parametrize(("name", "codes", "low"), [("tcgen05", TCGEN05_SWIZZLE, 61), ("wgmma", WGMMA_SWIZZLE, 62)])
def test_every_matrix(name: str, codes: dict[int, int], low: int) -> None:
    """Offsets of 14 bits, by themselves and beside the other, with each swizzle; all else is refused."""
    version = 1 << 46 if name == "tcgen05" else 0
    for swizzle in range(-1, 9):
        for offset in (*range(0, 1 << 14, 37), 1, (1 << 14) - 1, -1, 1 << 14, 1 << 20):
            for ldo, sdo in ((offset, 0), (0, offset), (offset, 5)):
                exists = swizzle in codes and 0 <= offset < 1 << 14
                wanted = version + composed((16, ldo), (32, sdo), (low, codes.get(swizzle, 0))) if exists else None
                fields = {"instruction": name, "ldo": ldo, "sdo": sdo, "swizzle": swizzle}
                assert answer(matrix_constant, fields) == wanted, fields


# ---- scaled blocks ------------------------------------------------------------------------------------------------


def scaled(a: str, b: str, scale: str, k: int, **more: Any) -> int:
    names = {"d_dtype": "float32", "a_dtype": a, "b_dtype": b, "sfa_dtype": scale, "sfb_dtype": scale}
    return block_scaled_instruction(**{**names, "M": 128, "N": 64, "K": k, **MAJOR, **more})


@pytest.mark.parametrize("a", F8F6F4)
@pytest.mark.parametrize("b", F8F6F4)
def test_mxf8f6f4(a: str, b: str) -> None:
    word = scaled(a, b, "float8_e8m0fnu", 32, sfa_id=2, sfb_id=1, n_cta_groups=2, M=256, neg_b=True)
    assert (field(word, 7, 9), field(word, 10, 12), field(word, 23, 23)) == (F8F6F4[a], F8F6F4[b], 1)
    assert (field(word, 4, 5), field(word, 29, 30)) == (1, 2)
    assert (field(word, 13, 14), field(word, 27, 28), field(word, 24, 26), field(word, 17, 22)) == (2, 256 >> 7, 0, 8)
    assert field(word, 31, 31) == field(word, 0, 3) == field(word, 6, 6) == 0


@pytest.mark.parametrize(("scale", "code"), [("float8_e8m0fnu", 1), ("float8_e4m3fn", 0)])
@pytest.mark.parametrize(("k", "sparse"), [(64, False), (128, True), (96, False)])
def test_mxf4(scale: str, code: int, k: int, sparse: bool) -> None:
    word = scaled("float4_e2m1fn", "float4_e2m1fn", scale, k, is_sparse=sparse)
    assert (field(word, 7, 9), field(word, 10, 11), field(word, 12, 12), field(word, 23, 23)) == (1, 1, 0, code)
    assert (field(word, 2, 2), field(word, 31, 31)) == (sparse, k == 96)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"a": "float8_e4m3fn", "b": "float8_e4m3fn", "scale": "float8_e4m3fn", "k": 32},
            "with scales of float8_e4m3fn",
        ),
        ({"a": "float8_e4m3fn", "b": "float8_e4m3fn", "scale": "float8_e8m0fnu", "k": 64}, "has no K=64"),
        (
            {"a": "float4_e2m1fn", "b": "float4_e2m1fn", "scale": "float8_e8m0fnu", "k": 192, "is_sparse": True},
            "has no K=192",
        ),
        ({"a": "float16", "b": "float16", "scale": "float8_e8m0fnu", "k": 32}, "no instruction multiplies float16"),
        (
            {"a": "float8_e5m2", "b": "float8_e5m2", "scale": "float8_e8m0fnu", "k": 32, "M": 64},
            "M=64 is no height of one cta",
        ),
        (
            {"a": "float8_e5m2", "b": "float8_e5m2", "scale": "float8_e8m0fnu", "k": 32, "N": 12},
            "N=12 does not go with M=128",
        ),
        (
            {"a": "float8_e5m2", "b": "float6_e2m3fn", "scale": "float8_e8m0fnu", "k": 32, "trans_b": True},
            "B of float6_e2m3fn",
        ),
        (
            {"a": "float4_e2m1fn", "b": "float4_e2m1fn", "scale": "float8_e8m0fnu", "k": 64, "trans_a": True},
            "A of float4",
        ),
        (
            {"a": "float8_e5m2", "b": "float8_e5m2", "scale": "float8_e8m0fnu", "k": 32, "sfb_dtype": "float8_e4m3fn"},
            "and B of",
        ),
        ({"a": "float8_e5m2", "b": "float8_e5m2", "scale": "float8_e8m0fnu", "k": 32, "n_cta_groups": 4}, "4 ctas"),
        (
            {"a": "float8_e5m2", "b": "float8_e5m2", "scale": "float8_e8m0fnu", "k": 32, "sfa_id": 4},
            "4 does not fit in 2 bits",
        ),
    ],
)
def test_scaled_blocks_that_do_not_exist(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        scaled(**fields)


# ---- in kernels ---------------------------------------------------------------------------------------------------


@Tx.prim_func
def described(O: Tx.Buffer((8,), "uint64"), s: Tx.int32):
    Tx.device_entry()
    Tx.thread_id([1])
    A = Tx.alloc_shared((64, 64), "float16")
    matrix = Tx.local_scalar("uint64")
    instr = Tx.local_scalar("uint32")
    Tx.cuda.tcgen05.encode_matrix_descriptor(Tx.address_of(matrix), A.ptr_to([8, 0]), ldo=1, sdo=64, swizzle=3)
    O[0] = matrix
    Tx.cuda.tcgen05.encode_matrix_descriptor(Tx.address_of(matrix), A.ptr_to([0, 0]), ldo=s, sdo=s + 1, swizzle=1)
    O[1] = matrix
    Tx.cuda.tcgen05.encode_instr_descriptor(
        Tx.address_of(instr), d_dtype="float32", a_dtype="float16", b_dtype="float16", M=128, N=128, K=16, trans_a=False,
        trans_b=True, n_cta_groups=1,
    )  # fmt: skip
    O[2] = Tx.cast(instr, "uint64")
    Tx.cuda.tcgen05.encode_instr_descriptor_block_scaled(
        Tx.address_of(instr), "float32", "float4_e2m1fn", "float4_e2m1fn", "float8_e8m0fnu", "float8_e8m0fnu", 0x80000000,
        Tx.cast(O[7], "uint32"), 128, 64, 64, False, False, 1,
    )  # fmt: skip
    O[3] = Tx.cast(instr, "uint64")
    Tx.cuda.runtime_instr_desc(Tx.address_of(instr), 1)
    O[4] = Tx.cast(instr, "uint64")
    Tx.cuda.runtime_instr_desc(Tx.address_of(instr), s)
    O[5] = Tx.cast(instr, "uint64")


def test_in_a_kernel() -> None:
    out = np.zeros(8, np.uint64)
    out[7] = 0xC0000000
    report = tirx.simulate(described, out, 7, target=BLACKWELL)
    assert report.verdict == "clean", str(report)
    words = [int(word) for word in out]
    base = field(words[1], 0, 13)
    assert words[0] == matrix_constant("tcgen05", 1, 64, 3) | (base + 8 * 64 * 2 // 16)
    assert words[1] == matrix_constant("tcgen05", 7, 8, 1) | base
    assert words[2] == 0x08210010
    assert (field(words[3], 29, 30), field(words[3], 4, 5)) == (2, 3)
    assert (field(words[4], 29, 30), field(words[4], 4, 5)) == (1, 1)
    assert (field(words[5], 29, 30), field(words[5], 4, 5)) == (3, 3)
    assert words[4] & ~0x60000030 == words[3] & ~0x60000030


def test_source() -> None:
    text = " ".join(source_of(described, BLACKWELL).text.split())
    assert "matrix = matrix_descriptor(&A[512], 0x4000404000010000ULL);" in text
    assert "0xc000400000000000ULL | (unsigned long long)s << 16 | (unsigned long long)(s + 1) << 32)" in text
    assert "instr = 0x08210010u;" in text
    assert "instr = (instr & 0x9fffffcfu) | 0x20000010u;" in text
    assert tirx.compile(described, BLACKWELL).binaries


def test_text_reads_back() -> None:
    assert structural_equal(from_source(described.script()), described)


def test_wgmma_in_a_kernel() -> None:
    @Tx.prim_func
    def kernel(O: Tx.Buffer((2,), "uint64"), X: Tx.Buffer((2,), "float32")):
        Tx.device_entry()
        Tx.thread_id([1])
        A = Tx.alloc_shared((64, 64), "float16")
        matrix = Tx.local_scalar("uint64")
        acc = Tx.alloc_local((4,), "float32")
        acc[1] = X[0]
        Tx.cuda.wgmma.noop_barrier(acc[1])
        Tx.cuda.wgmma.encode_matrix_descriptor(matrix, A.ptr_to([0, 0]), 1, 64, 3)
        O[0] = matrix
        X[1] = acc[1]

    out, x = np.zeros(2, np.uint64), np.array([4, 0], np.float32)
    assert tirx.simulate(kernel, out, x, target=HOPPER).verdict == "clean"
    assert int(out[0]) & ~0x3FFF == matrix_constant("wgmma", 1, 64, 3)
    assert x[1] == 4
    assert "keep_register(acc[1]);" in source_of(kernel, HOPPER).text
    assert tirx.compile(kernel, HOPPER).binaries


def test_errors_stand_at_the_line() -> None:
    with pytest.raises(ScriptError, match="N=24 does not go with M=128 in one cta") as caught:

        @Tx.prim_func
        def kernel(O: Tx.Buffer((1,), "uint32")):
            Tx.device_entry()
            instr = Tx.local_scalar("uint32")
            Tx.cuda.tcgen05.encode_instr_descriptor(instr, "float32", "float16", "float16", 128, 24, 16)
            O[0] = instr

    assert caught.value.span is not None
    assert caught.value.span.path == __file__
    assert caught.value.hint == "N is 16 to 256 in steps of 16"


def test_what_the_architecture_lacks() -> None:
    with pytest.raises(TirxError, match="needs sm_100a, sm_100f, sm_103a"):
        source_of(described, HOPPER)
    with pytest.raises(TirxError, match="needs sm_100a, sm_100f, sm_103a"):
        source_of(described, "cuda -arch=sm_100")


def test_float32_is_told_its_name() -> None:
    with pytest.raises(DescriptorError) as caught:
        instruction(d_dtype="float32", a_dtype="float32", b_dtype="float32", M=64, N=8, K=8, **MAJOR)
    assert 'float32 is multiplied as "tf32"' in (caught.value.hint or "")
