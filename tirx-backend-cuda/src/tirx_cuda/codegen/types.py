"""How CUDA C++ writes the dtypes."""

from __future__ import annotations

from collections.abc import Iterator

from tirx.codegen.dialect import LETTERS, CType

__all__ = ["BRIDGES", "CALLS", "PAIRS", "TYPES"]

_FP16, _BF16, _FP8, _FP6, _FP4 = (f"cuda_{name}.h" for name in ("fp16", "bf16", "fp8", "fp6", "fp4"))

# dtype -> (C type, stem of CUDA's vector types, suffix of constants, whether C computes in int)
_INTEGERS = {
    "bool": ("bool", "", "", False),
    "int8": ("signed char", "char", "", True),
    "int16": ("short", "short", "", True),
    "int32": ("int", "int", "", False),
    "int64": ("long long", "longlong", "LL", False),
    "uint8": ("unsigned char", "uchar", "", True),
    "uint16": ("unsigned short", "ushort", "", True),
    "uint32": ("unsigned int", "uint", "u", False),
    "uint64": ("unsigned long long", "ulonglong", "ULL", False),
}
_LIMITS = "math_constants.h"
_FLOATS = {
    "float16": CType(  # NVRTC sees no CUDART_INF_FP16
        "half",
        include=_FP16,
        literal="half({0}f)",
        infinity="__ushort_as_half(0x7c00)",
        nan="__ushort_as_half(0x7fff)",
    ),
    "bfloat16": CType(
        "__nv_bfloat16",
        include=_BF16,
        literal="__nv_bfloat16({0}f)",
        infinity="__ushort_as_bfloat16(0x7f80)",
        nan="__ushort_as_bfloat16(0x7fff)",
    ),
    "float32": CType("float", literal="{0}f", infinity="CUDART_INF_F", nan="CUDART_NAN_F", constants=_LIMITS),
    "float64": CType("double", infinity="CUDART_INF", nan="CUDART_NAN", constants=_LIMITS),
    "float8_e4m3fn": CType(
        "__nv_fp8_e4m3",
        include=_FP8,
        literal="__nv_fp8_e4m3({0}f)",
        nan="__nv_fp8_e4m3(CUDART_NAN_F)",
        constants=_LIMITS,
    ),
    "float8_e5m2": CType(  # constructors saturate
        "__nv_fp8_e5m2",
        include=_FP8,
        literal="__nv_fp8_e5m2({0}f)",
        infinity="bit_cast<__nv_fp8_e5m2>((unsigned char)0x7c)",
        minus_infinity="bit_cast<__nv_fp8_e5m2>((unsigned char)0xfc)",
        nan="bit_cast<__nv_fp8_e5m2>((unsigned char)0x7f)",
    ),
    "float8_e8m0fnu": CType(
        "__nv_fp8_e8m0",
        include=_FP8,
        literal="__nv_fp8_e8m0({0}f)",
        nan="__nv_fp8_e8m0(CUDART_NAN_F)",
        constants=_LIMITS,
    ),
    "float6_e2m3fn": CType("__nv_fp6_e2m3", include=_FP6, literal="__nv_fp6_e2m3({0}f)"),
    "float6_e3m2fn": CType("__nv_fp6_e3m2", include=_FP6, literal="__nv_fp6_e3m2({0}f)"),
    "float4_e2m1fn": CType("__nv_fp4_e2m1", include=_FP4, literal="__nv_fp4_e2m1({0}f)"),
}
_ARITHMETIC = ("+", "-", "*", "/")
_PAIRS = {
    "float16x2": CType(
        "half2", include=_FP16, lanes=(".x", ".y"), make="make_half2({0})", native=_ARITHMETIC, splat="__half2half2({0})"
    ),
    "bfloat16x2": CType(
        "__nv_bfloat162", include=_BF16, lanes=(".x", ".y"), make="__halves2bfloat162({0})", native=_ARITHMETIC,
        splat="__bfloat162bfloat162({0})",
    ),
    "float4_e2m1fnx2": CType(  # two share a byte, the first in its lower half; wider vectors are arrays of these
        "__nv_fp4x2_e2m1", include=_FP4, lane="fp4_lane({0}, {1})", make="fp4_vector<__nv_fp4x2_e2m1>({0})",
        splat="fp4_splat<__nv_fp4x2_e2m1>({0})",
    ),
}  # fmt: skip


def _vectors(dtype: str, stem: str) -> Iterator[tuple[str, CType]]:
    """CUDA's own vectors of 2, 3 and 4: `float4` with members x, y, z, w. (Those of 64 bits are no wider than 16 bytes.)"""
    for lanes in (2,) if dtype.endswith("64") else (2, 3, 4):
        selectors = tuple(f".{letter}" for letter in LETTERS[:lanes])
        yield f"{dtype}x{lanes}", CType(f"{stem}{lanes}", lanes=selectors, make=f"make_{stem}{lanes}({{0}})")


def _types() -> Iterator[tuple[str, CType]]:
    for name, (text, stem, suffix, promoted) in _INTEGERS.items():
        yield name, CType(text, suffix=suffix, promoted=promoted)
        if stem:
            yield from _vectors(name, stem)
    yield from _FLOATS.items()
    yield from _vectors("float32", "float")
    yield from _vectors("float64", "double")
    yield from _PAIRS.items()
    yield (
        "tensormap",
        CType("tensor_map", definition="struct alignas(64) tensor_map {\n  unsigned long long opaque[16];\n};"),
    )


TYPES = dict(_types())

# On these, two elements at a time are one instruction.
PAIRS = {"float16": "float16x2", "bfloat16": "bfloat16x2"}

# Conversions between any two of these go through float; there is no constructor from one to the other.
BRIDGES = dict.fromkeys(
    ("float16", "bfloat16", *(name for name in _FLOATS if name.startswith(("float8_", "float6_", "float4_")))),
    "float32",
)

# Vectors of four-bit floats are converted two at a time. The types of which CUDA has pairs that convert; to float4 alone: float64.
_CONVERTED = {"float32": "float2", "float16": "half2", "bfloat16": "__nv_bfloat162", "float64": "double2"}
_WIDTHS = range(2, 65, 2)


def _conversions() -> Iterator[tuple[str, str]]:
    """`cast.float32x8.float4_e2m1fnx8` and its like."""
    own = "__nv_fp4x2_e2m1"
    for lanes in _WIDTHS:
        narrow = f"float4_e2m1fnx{lanes}"
        for dtype, pair in _CONVERTED.items():
            wide = f"{dtype}x{lanes}"
            target = own if lanes == 2 else f"fp4_pairs<{narrow}, {own}, {pair}>"
            yield f"cast.{wide}.{narrow}", target
            if dtype != "float64":
                ctype = TYPES[wide].name if wide in TYPES else wide
                yield f"cast.{narrow}.{wide}", pair if lanes == 2 else f"fp4_pairs<{ctype}, {pair}, {own}>"


CALLS = {
    "min": "min",
    "max": "max",
    "min.float32": "fminf",
    "max.float32": "fmaxf",
    "min.float64": "fmin",
    "max.float64": "fmax",
    "min.float16": "__hmin",
    "max.float16": "__hmax",
    "min.bfloat16": "__hmin",
    "max.bfloat16": "__hmax",
    "fmod.float32": "fmodf",
    "fmod.float64": "fmod",
    "floordiv": "floordiv",
    "floormod": "floormod",
    "reinterpret.float32.int32": "__float_as_int",
    "reinterpret.float32.uint32": "__float_as_uint",
    "reinterpret.int32.float32": "__int_as_float",
    "reinterpret.uint32.float32": "__uint_as_float",
    "reinterpret.float64.int64": "__double_as_longlong",
    "reinterpret.int64.float64": "__longlong_as_double",
    "reinterpret.float16.int16": "__half_as_short",
    "reinterpret.float16.uint16": "__half_as_ushort",
    "reinterpret.int16.float16": "__short_as_half",
    "reinterpret.uint16.float16": "__ushort_as_half",
    "reinterpret.bfloat16.uint16": "__bfloat16_as_ushort",
    "reinterpret.uint16.bfloat16": "__ushort_as_bfloat16",
    **dict(_conversions()),
}
