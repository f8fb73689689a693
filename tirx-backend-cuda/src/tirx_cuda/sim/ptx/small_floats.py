"""Formats of 16 bits and fewer, by their fields: what a code means, and which code a number rounds to.

Numbers are float64 that are exact: every source format, divided by or multiplied with a power of two, fits. PTX ISA, "Alternate
Floating-Point Data Formats", "Fixed-point Data format", and `cvt` for rounding, saturation and NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

__all__ = ["FORMATS", "Format", "decoded", "encoded", "fixed_point", "powers", "stochastic_codes"]


class Format(NamedTuple):
    """Bits of the mantissa, exponent of the smallest normal number, code of the largest finite number, code of NaN.

    `bits` are those of the whole code, with the sign if there is one. `infinity`: the code of it, where there is one.
    """

    bits: int
    mantissa: int
    lowest: int
    largest: int
    nan: int
    signed: bool = True
    infinity: int = 0


FORMATS = {
    "f16": Format(16, 10, -14, 0x7BFF, 0x7FFF, infinity=0x7C00),
    "bf16": Format(16, 7, -126, 0x7F7F, 0x7FFF, infinity=0x7F80),
    "e4m3": Format(8, 3, -6, 0x7E, 0x7F),
    "e5m2": Format(8, 2, -14, 0x7B, 0x7F, infinity=0x7C),
    "e2m3": Format(6, 3, 0, 0x1F, 0x1F),  # no NaN: the largest number stands for it
    "e3m2": Format(6, 2, -2, 0x1F, 0x1F),
    "e2m1": Format(4, 1, 0, 0x7, 0x7),
    "ue4m3": Format(7, 3, -6, 0x7E, 0x7F, signed=False),
    "ue5m3": Format(8, 3, -14, 0xFE, 0xFF, signed=False),
}


@cache
def _values(name: str) -> Any:
    """The number that each code of 8 bits and fewer means."""
    kind = FORMATS[name]
    magnitudes = kind.bits - kind.signed
    code = np.arange(1 << magnitudes)
    field, rest = code >> kind.mantissa, code & ((1 << kind.mantissa) - 1)
    normal = np.where(field > 0, 1 << kind.mantissa, 0) + rest
    value = normal * 2.0 ** (np.maximum(field, 1) - 1 + kind.lowest - kind.mantissa)
    if kind.nan > kind.largest:
        value = np.where(code > kind.largest, np.nan, value)
    if kind.infinity:
        value = np.where(code == kind.infinity, np.inf, value)
    return np.concatenate([value, -value]) if kind.signed else value


def decoded(codes: Any, name: str) -> Any:
    """What codes mean; bits above the format's are ignored."""
    return _values(name)[np.asarray(codes) & ((1 << FORMATS[name].bits) - 1)]


def _scaled(value: Any, kind: Format) -> tuple[Any, Any]:
    """The magnitude in units of its last place, and the exponent of its field, counted from the smallest normal number."""
    size = np.abs(value)
    _, exponent = np.frexp(np.where(np.isfinite(size) & (size > 0), size, 2.0**-300))
    exponent = np.maximum(exponent - 1, kind.lowest)
    return np.ldexp(size, kind.mantissa - exponent), exponent - kind.lowest


_ROUND: dict[str, Callable[[Any, Any], Any]] = {
    "rn": lambda units, negative: np.rint(units),
    "rz": lambda units, negative: np.floor(units),
    "rp": lambda units, negative: np.where(negative, np.floor(units), np.ceil(units)),
    "rm": lambda units, negative: np.where(negative, np.ceil(units), np.floor(units)),
}


def encoded(value: Any, name: str, mode: str, saturate: bool = True) -> Any:
    """The codes that numbers round to. Formats without a sign take the magnitude."""
    kind = FORMATS[name]
    with np.errstate(all="ignore"):
        units, exponent = _scaled(value, kind)
        negative = np.signbit(value) & kind.signed
        whole = _ROUND[mode](units, negative)
    return _finished(value, whole, exponent, kind, mode, saturate)


def stochastic_codes(value: Any, name: str, random: Any, bits: int, saturate: bool = True) -> Any:
    """The same, away from zero where what is cut off, in its first `bits` bits, and the random bits carry."""
    kind = FORMATS[name]
    with np.errstate(all="ignore"):
        units, exponent = _scaled(value, kind)
        cut = np.floor((units - np.floor(units)) * 2.0**bits)
        whole = np.floor(units) + (cut + random >= 2.0**bits)
    return _finished(value, whole, exponent, kind, "rs", saturate)


def _finished(value: Any, whole: Any, exponent: Any, kind: Format, mode: str, saturate: bool) -> Any:
    """From units to a code: a carry goes on into the exponent by itself."""
    top = kind.largest if saturate else (kind.infinity or kind.nan)
    finite = np.isfinite(value)
    with np.errstate(all="ignore"):
        code = np.where(finite, whole, 0).astype(np.int64) + (exponent.astype(np.int64) << kind.mantissa)
    over = ~finite | (code > kind.largest)
    towards = finite & (mode == "rz")  # never beyond the largest number
    code = np.where(over, np.where(towards, kind.largest, top), code)
    if kind.signed:
        code = np.where(np.signbit(value), code | 1 << (kind.bits - 1), code)
    return np.where(np.isnan(value), kind.nan, code).astype(np.uint16 if kind.bits > 8 else np.uint8)


def fixed_point(value: Any, mode: str) -> Any:
    """Two bits before and six behind the point, two's complement; NaN becomes the largest number."""
    with np.errstate(all="ignore"):
        whole = np.trunc(value * 64) if mode == "rz" else np.rint(value * 64)
    return np.where(np.isnan(value), 127, np.clip(whole, -128, 127)).astype(np.int8).view(np.uint8)


def powers(codes: Any) -> Any:
    """What ue8m0 means: a power of two; 255 is NaN."""
    codes = np.asarray(codes).astype(np.int64)
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes - 127))
