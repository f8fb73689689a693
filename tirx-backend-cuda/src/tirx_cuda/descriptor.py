"""Descriptors of matrix instructions as numbers: where each field lies, and what may stand in it.

PTX ISA, "Matrix Descriptor Format" (wgmma), "Shared memory descriptor", "Instruction descriptor" and "Matrix shape" (tcgen05).
"""

# ruff: noqa: N803 - M, N and K are called so everywhere

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tirx.support.errors import ScriptError

__all__ = [
    "INSTRUCTION_KINDS",
    "SWIZZLES",
    "DescriptorError",
    "InstructionKind",
    "address_field",
    "block_scaled_instruction",
    "instruction",
    "matrix_constant",
    "matrix_swizzle",
]  # fmt: skip


class DescriptorError(ScriptError):
    """What no descriptor says; becomes an error at the author's line."""


def _bits(fields: Iterable[tuple[int, int, int]]) -> int:
    """Fields `(lowest bit, width, value)` as one number."""
    total = 0
    for low, width, value in fields:
        if not 0 <= value < 1 << width:
            raise DescriptorError(f"{value} does not fit in {width} bits of a descriptor")
        total |= value << low
    return total


# ---- matrices in shared memory ------------------------------------------------------------------------------------

# code in the language -> what it is called, code of tcgen05 in bits 61 to 63, code of wgmma in bits 62 and 63
SWIZZLES: Mapping[int, tuple[str, int, int | None]] = {
    0: ("none", 0, 0),
    1: ("32 bytes", 6, 3),
    2: ("64 bytes", 4, 2),
    3: ("128 bytes", 2, 1),
    4: ("128 bytes in units of 32", 1, None),
}
UNIT = 16  # bytes: what offsets count
_OFFSET_BITS = 14
_VERSION = (46, 3, 1)  # of tcgen05's descriptors; wgmma's have 0 there


def matrix_swizzle(instruction: str, swizzle: int) -> int:
    """The bits that say how rows are swizzled, for `wgmma` or `tcgen05`."""
    row = SWIZZLES.get(swizzle)
    code = row and (row[1] if instruction == "tcgen05" else row[2])
    if code is None:
        known = ", ".join(
            f"{n} ({row[0]})" for n, row in SWIZZLES.items() if instruction == "tcgen05" or row[2] is not None
        )
        raise DescriptorError(f"{instruction} has no swizzle {swizzle}", hint=f"the swizzles are {known}")
    return code << (61 if instruction == "tcgen05" else 62)


def matrix_constant(instruction: str, ldo: int, sdo: int, swizzle: int) -> int:
    """A descriptor without its address: byte offsets along the leading and the other dimension, in units of 16."""
    for name, offset in (("ldo", ldo), ("sdo", sdo)):
        if not 0 <= offset < 1 << _OFFSET_BITS:
            raise DescriptorError(
                f"{name}={offset}: offsets are 0 to {(1 << _OFFSET_BITS) - 1} units of {UNIT} bytes",
                hint="divide the number of bytes by 16",
            )
    version = (_VERSION,) if instruction == "tcgen05" else ()
    return _bits([(16, 14, ldo), (32, 14, sdo), *version]) | matrix_swizzle(instruction, swizzle)


def address_field(address: int) -> int:
    """Bits 0 to 13 of a descriptor of either instruction."""
    return (address & 0x3FFFF) >> 4


# ---- instructions of tcgen05 --------------------------------------------------------------------------------------


class InstructionKind(NamedTuple):
    """A `kind::` of tcgen05.mma.

    Codes of element types of A and B, of D, and of scales; `k` of dense instructions (sparse ones have twice that); whether
    operands may be negated and the sum saturated; element types whose matrices may be transposed.
    """

    name: str
    operands: Mapping[str, int]
    results: Mapping[str, int]
    k: tuple[int, ...]
    negates: bool = True
    saturates: bool = False
    transposed: frozenset[str] = frozenset()
    scales: Mapping[str, int] = {}


_FLOAT8 = {"float8_e4m3fn": 0, "float8_e5m2": 1}
_NARROW = {**_FLOAT8, "float6_e2m3fn": 3, "float6_e3m2fn": 4, "float4_e2m1fn": 5}
_HALVES = {"float16": 0, "bfloat16": 1}
_BYTES = {"uint8": 0, "int8": 1}
_E8M0, _E4M3 = {"float8_e8m0fnu": 1}, {"float8_e4m3fn": 0}

INSTRUCTION_KINDS: tuple[InstructionKind, ...] = (
    InstructionKind("f16", {"float16": 0}, {"float16": 0, "float32": 1}, (16,), transposed=frozenset(_HALVES)),
    InstructionKind("f16", _HALVES, {"float32": 1}, (16,), transposed=frozenset(_HALVES)),
    InstructionKind("tf32", {"tf32": 2}, {"float32": 1}, (8,), transposed=frozenset({"tf32"})),
    InstructionKind("f8f6f4", _NARROW, {"float16": 0, "float32": 1}, (32,), transposed=frozenset(_FLOAT8)),
    InstructionKind("i8", _BYTES, {"int32": 2}, (32,), negates=False, saturates=True, transposed=frozenset(_BYTES)),
)
BLOCK_SCALED_KINDS: tuple[InstructionKind, ...] = (
    InstructionKind("mxf4nvf4", {"float4_e2m1fn": 1}, {"float32": 1}, (64, 96), scales={**_E8M0, **_E4M3}),
    InstructionKind("mxf8f6f4", _NARROW, {"float32": 1}, (32,), transposed=frozenset(_FLOAT8), scales=_E8M0),
)
_WIDEST = 256

# (kind of sizes, ctas) -> rows of A -> columns of B
_DENSE_COLUMNS: Mapping[int, Mapping[int, Sequence[int]]] = {
    1: {64: range(8, _WIDEST + 1, 8), 128: range(16, _WIDEST + 1, 16)},
    2: {128: range(32, _WIDEST + 1, 32), 256: range(32, _WIDEST + 1, 32)},
}
_I8 = (8, 24, *range(16, _WIDEST + 1, 16))
_I8_COLUMNS: Mapping[int, Mapping[int, Sequence[int]]] = {1: {64: _I8, 128: _I8}, 2: _DENSE_COLUMNS[2]}
_SCALED_COLUMNS: Mapping[int, Mapping[int, Sequence[int]]] = {
    1: {128: range(8, _WIDEST + 1, 8)},
    2: {128: range(16, _WIDEST + 1, 16), 256: range(16, _WIDEST + 1, 16)},
}


def instruction(
    *,
    d_dtype: str,
    a_dtype: str,
    b_dtype: str,
    M: int,
    N: int,
    K: int,
    trans_a: bool,
    trans_b: bool,
    n_cta_groups: int = 1,
    neg_a: bool = False,
    neg_b: bool = False,
    sat_d: bool = False,
    is_sparse: bool = False,
) -> int:
    """The descriptor of kinds f16, tf32, f8f6f4 and i8."""
    kind = _kind(INSTRUCTION_KINDS, d_dtype, a_dtype, b_dtype, None)
    columns = _I8_COLUMNS if kind.name == "i8" else _DENSE_COLUMNS
    _check_shape(kind, columns, M, N, K, n_cta_groups, is_sparse)
    _check_modifiers(kind, a_dtype, b_dtype, trans_a, trans_b, neg_a or neg_b, sat_d)
    return _bits(
        [
            (2, 1, is_sparse), (3, 1, sat_d), (4, 2, kind.results[d_dtype]), (7, 3, kind.operands[a_dtype]),
            (10, 3, kind.operands[b_dtype]), (13, 1, neg_a), (14, 1, neg_b), (15, 1, trans_a), (16, 1, trans_b),
            (17, 6, N >> 3), (24, 5, M >> 4),
        ]
    )  # fmt: skip


def block_scaled_instruction(
    *,
    d_dtype: str,
    a_dtype: str,
    b_dtype: str,
    sfa_dtype: str,
    sfb_dtype: str,
    M: int,
    N: int,
    K: int,
    trans_a: bool,
    trans_b: bool,
    n_cta_groups: int = 1,
    neg_a: bool = False,
    neg_b: bool = False,
    is_sparse: bool = False,
    sfa_id: int = 0,
    sfb_id: int = 0,
) -> int:
    """The descriptor of kinds mxf8f6f4, mxf4 and mxf4nvf4; the ids say which byte of a column holds the scales."""
    if sfa_dtype != sfb_dtype:
        raise DescriptorError(f"A has scales of {sfa_dtype} and B of {sfb_dtype}", hint="both have the same type")
    kinds = [row for row in BLOCK_SCALED_KINDS if row.name != "mxf4nvf4" or K // (1 + is_sparse) in row.k]
    kind = _kind(kinds, d_dtype, a_dtype, b_dtype, sfa_dtype)
    _check_shape(kind, _SCALED_COLUMNS, M, N, K, n_cta_groups, is_sparse)
    _check_modifiers(kind, a_dtype, b_dtype, trans_a, trans_b, False, False)
    return _bits(
        [
            (2, 1, is_sparse), (4, 2, sfb_id), (7, 3, kind.operands[a_dtype]), (10, 3, kind.operands[b_dtype]),
            (13, 1, neg_a), (14, 1, neg_b), (15, 1, trans_a), (16, 1, trans_b), (17, 6, N >> 3),
            (23, 1, kind.scales[sfa_dtype]), (24, 5, M >> 4), (29, 2, sfa_id), (31, 1, K == 96),
        ]
    )  # fmt: skip


def _kind(
    kinds: Sequence[InstructionKind], d_dtype: str, a_dtype: str, b_dtype: str, scale: str | None
) -> InstructionKind:
    """The kind that multiplies these types."""
    for row in kinds:
        fits = a_dtype in row.operands and b_dtype in row.operands and d_dtype in row.results
        if fits and (scale is None or scale in row.scales):
            return row
    with_scale = f" with scales of {scale}" if scale else ""
    known = "; ".join(
        f"{row.name}: {', '.join(row.operands)} into {' or '.join(row.results)}"
        + (f", scales {' or '.join(row.scales)}, K {' or '.join(map(str, row.k))}" if row.scales else "")
        for row in (BLOCK_SCALED_KINDS if scale else kinds)
    )
    note = 'float32 is multiplied as "tf32"; ' if "float32" in (a_dtype, b_dtype) else ""
    raise DescriptorError(
        f"no instruction multiplies {a_dtype} by {b_dtype} into {d_dtype}{with_scale}", hint=note + known
    )


def _check_shape(
    kind: InstructionKind,
    columns: Mapping[int, Mapping[int, Sequence[int]]],
    M: int,
    N: int,
    K: int,
    ctas: int,
    is_sparse: bool,
) -> None:
    if ctas not in columns:
        raise DescriptorError(f"{ctas} ctas do not multiply together", hint="n_cta_groups is 1 or 2")
    depths = [k * (1 + is_sparse) for k in kind.k if not (is_sparse and k == 96)]
    if K not in depths:
        what = "sparse " if is_sparse else ""
        raise DescriptorError(f"kind {kind.name} has no K={K}", hint=f"{what}K is {' or '.join(map(str, depths))}")
    rows = columns[ctas]
    who = "one cta" if ctas == 1 else "two ctas"
    if M not in rows:
        raise DescriptorError(f"M={M} is no height of {who}", hint=f"M is {' or '.join(map(str, rows))}")
    if N not in rows[M]:
        raise DescriptorError(f"N={N} does not go with M={M} in {who}", hint=f"N is {_listed(rows[M])}")


def _listed(numbers: Sequence[int]) -> str:
    if isinstance(numbers, range):
        return f"{numbers[0]} to {numbers[-1]} in steps of {numbers.step}"
    return ", ".join(map(str, sorted(numbers)))


def _check_modifiers(
    kind: InstructionKind, a_dtype: str, b_dtype: str, trans_a: bool, trans_b: bool, negates: bool, saturates: bool
) -> None:
    for name, dtype, asked in (("A", a_dtype, trans_a), ("B", b_dtype, trans_b)):
        if asked and dtype not in kind.transposed:
            raise DescriptorError(
                f"{name} of {dtype} cannot be transposed by kind {kind.name}", hint="store it with K innermost"
            )
    if negates and not kind.negates:
        raise DescriptorError(f"kind {kind.name} does not negate", hint="negate the elements")
    if saturates and not kind.saturates:
        raise DescriptorError(f"kind {kind.name} does not saturate", hint="sat_d is for int8 and uint8")
