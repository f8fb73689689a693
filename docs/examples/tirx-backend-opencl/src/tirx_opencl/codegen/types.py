"""How OpenCL C writes the dtypes.

A format that the language has no type for is kept as the bits of an integer, and converted by functions (`helpers.cl`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tirx.codegen.dialect import LETTERS, CType

__all__ = ["STORED", "calls", "types"]

LANES = (2, 4, 8, 16)
_INTEGERS = {
    "int8": ("char", ""),
    "int16": ("short", ""),
    "int32": ("int", ""),
    "int64": ("long", "L"),
    "uint8": ("uchar", ""),
    "uint16": ("ushort", ""),
    "uint32": ("uint", "u"),
    "uint64": ("ulong", "UL"),
}
_FLOAT_OPERATORS = ("+", "-", "*", "/")
_INTEGER_OPERATORS = (*_FLOAT_OPERATORS, "%", "&", "|", "^", "<<", ">>")
_DOUBLE = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"
_HALF = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable"

# formats kept as bits: dtype -> the integer, and the stem of its helpers (`half_to_float`)
STORED = {
    "float16": ("ushort", "half"),
    "bfloat16": ("ushort", "bfloat16"),
    "float8_e4m3fn": ("uchar", "e4m3"),
    "float8_e5m2": ("uchar", "e5m2"),
}


def _scalars(half: bool) -> Iterator[tuple[str, CType]]:
    yield "bool", CType("uchar")  # OpenCL C does not say how large its bool is
    for name, (text, suffix) in _INTEGERS.items():
        yield name, CType(text, suffix=suffix, promoted=text.endswith(("char", "short")), native=_INTEGER_OPERATORS)
    yield "float32", CType("float", literal="{0}f", infinity="INFINITY", nan="NAN", native=_FLOAT_OPERATORS)
    yield "float64", CType("double", definition=_DOUBLE, infinity="INFINITY", nan="NAN", native=_FLOAT_OPERATORS)
    for name, (text, stem) in _stored(half).items():
        yield (
            name,
            CType(
                text,
                literal=f"float_to_{stem}({{0}}f)",
                infinity=f"float_to_{stem}(INFINITY)",
                nan=f"float_to_{stem}(NAN)",
            ),
        )
    if half:
        yield (
            "float16",
            CType(
                "half",
                definition=_HALF,
                literal="{0}h",
                infinity="(half)INFINITY",
                nan="(half)NAN",
                native=_FLOAT_OPERATORS,
            ),
        )


def _stored(half: bool) -> Mapping[str, tuple[str, str]]:
    return {name: row for name, row in STORED.items() if not (half and name == "float16")}


def types(half: bool) -> dict[str, CType]:
    """All types; with `half`, the device computes in float16."""
    found = dict(_scalars(half))
    for name, scalar in list(found.items()):
        found |= {f"{name}x{lanes}": _vector(scalar, lanes) for lanes in LANES}
    return found


def _vector(scalar: CType, lanes: int) -> CType:
    """OpenCL's own vectors: `float4` with members x, y, z, w, wider ones with s0 to sf."""
    letters = LETTERS[:lanes] if lanes <= len(LETTERS) else [f"s{index:x}" for index in range(lanes)]
    kind = f"{scalar.name}{lanes}"
    return CType(
        kind, definition=scalar.definition, lanes=[f".{letter}" for letter in letters], make=f"({kind})({{0}})",
        splat=f"({kind})({{0}})", native=sorted(scalar.native),
    )  # fmt: skip


def calls(half: bool) -> dict[str, str]:
    """Functions for operations of the IR."""
    found = {"min": "min", "max": "max", "fmod.float32": "fmod", "fmod.float64": "fmod"}
    for name in ("float32", "float64", *(["float16"] if half else [])):
        found |= {f"min.{name}": "fmin", f"max.{name}": "fmax"}
    for name, (text, _) in _INTEGERS.items():
        found |= {f"{operation}.{name}": f"{operation}_{text}" for operation in ("floordiv", "floormod")}
        if text.endswith(("char", "short")):  # constants are ints: the two operands of `min` would differ
            found |= {f"{operation}.{name}": f"{operation}_{text}" for operation in ("min", "max")}
    found |= {"min.bool": "min_uchar", "max.bool": "max_uchar"}
    for name, (_, stem) in _stored(half).items():
        found |= {f"cast.{name}.float32": f"{stem}_to_float", f"cast.float32.{name}": f"float_to_{stem}"}
        found[f"cast.float64.{name}"] = f"double_to_{stem}"
    return found | dict(_same_bits(half))


def _same_bits(half: bool) -> Iterator[tuple[str, str]]:
    """`as_int` and its like, for every two types of one width."""
    widths = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "half": 16, "int": 32, "uint": 32, "float": 32}
    scalars = dict(_scalars(half))
    sized = [
        (
            name if lanes == 1 else f"{name}x{lanes}",
            f"{kind.name}{lanes if lanes > 1 else ''}",
            widths.get(kind.name, 64) * lanes,
        )
        for name, kind in scalars.items()
        for lanes in (1, *LANES)
    ]
    for source, _, bits in sized:
        yield from ((f"reinterpret.{source}.{target}", f"as_{text}") for target, text, other in sized if other == bits)
