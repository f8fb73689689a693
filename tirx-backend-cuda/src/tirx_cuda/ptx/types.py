"""Types of PTX: how many bits, which values of the language stand for them, which registers of C++ hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tirx.ir import DType

__all__ = ["TYPES", "PtxType", "accepts", "literal_dtype"]


class PtxType(NamedTuple):
    """`kind`: `b` bits, `u`, `s`, `f`, `bf`, `packed`, `pred`; `dtype`: how the language spells it, where it does."""

    name: str
    bits: int
    kind: str
    dtype: str


_SPELLED = {
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "tf32": "float32",
    "f16x2": "float16x2", "bf16x2": "bfloat16x2", "f32x2": "float32x2",
    "u16x2": "uint16x2", "s16x2": "int16x2", "u8x4": "uint8x4", "s8x4": "int8x4",
    "e4m3x2": "float8_e4m3fnx2", "e5m2x2": "float8_e5m2x2", "ue8m0x2": "float8_e8m0fnux2",
    "e4m3x4": "float8_e4m3fnx4", "e5m2x4": "float8_e5m2x4",
    "b8": "uint8", "b16": "uint16", "b32": "uint32", "b64": "uint64", "b128": "uint64x2", "pred": "bool",
}  # fmt: skip
_PACKED_BITS = {
    "f16x2": 32, "bf16x2": 32, "f32x2": 64, "u16x2": 32, "s16x2": 32, "u8x4": 32, "s8x4": 32, "e4m3x2": 16, "e5m2x2": 16,
    "e2m1x2": 8, "e2m3x2": 16, "e3m2x2": 16, "ue8m0x2": 16, "ue5m3x2": 16, "s2f6x2": 16, "e4m3x4": 32, "e5m2x4": 32,
    "e2m3x4": 32, "e3m2x4": 32, "e2m1x4": 16,
}  # fmt: skip


def _table() -> Mapping[str, PtxType]:
    made = {}
    for name in (
        "b8",
        "b16",
        "b32",
        "b64",
        "b128",
        "u8",
        "u16",
        "u32",
        "u64",
        "s8",
        "s16",
        "s32",
        "s64",
        "f16",
        "f32",
        "f64",
    ):
        made[name] = PtxType(name, int(name[1:]), name[0], _SPELLED[name])
    made["bf16"] = PtxType("bf16", 16, "bf", "bfloat16")
    made["tf32"] = PtxType("tf32", 32, "f", "float32")
    made["pred"] = PtxType("pred", 1, "pred", "bool")
    for name, bits in _PACKED_BITS.items():
        made[name] = PtxType(name, bits, "packed", _SPELLED.get(name, f"uint{bits}"))
    return made


TYPES = _table()


def accepts(kind: PtxType, dtype: DType, wide: bool) -> bool:
    """Whether a value of `dtype` may stand for `kind`; with `wide` also an integer of more bits (PTX: operand size exceeding)."""
    if kind.kind == "pred":
        return dtype.is_bool
    if dtype.is_bool or dtype.is_handle or dtype.kind == "void":
        return False
    bits = dtype.total_bits
    if wide and dtype.lanes == 1 and dtype.is_integer and bits > kind.bits and kind.kind in "bus":
        return True
    if bits != kind.bits:
        return False
    if kind.kind in ("b", "packed") or dtype == kind.dtype:
        return kind.kind == "b" or (dtype.lanes == 1 and dtype.is_integer) or _same_lanes(kind, dtype)
    if kind.kind in "us":
        return dtype.is_integer and dtype.lanes == 1
    return dtype.is_uint and dtype.lanes == 1  # plain bits


def _same_lanes(kind: PtxType, dtype: DType) -> bool:
    return dtype == kind.dtype or (dtype.lanes > 1 and dtype.is_integer)


def literal_dtype(kind: PtxType, value: bool | int | float) -> str:
    """The type that a Python number gets."""
    if kind.kind == "pred":
        return "bool"
    if isinstance(value, float):
        floats = {16: "float16", 32: "float32", 64: "float64"}
        return kind.dtype if kind.kind in ("f", "bf", "packed") else floats.get(kind.bits, kind.dtype)
    if kind.kind == "b" and value < 0:
        return f"int{kind.bits}"
    return kind.dtype if kind.kind != "packed" else f"uint{kind.bits}"
