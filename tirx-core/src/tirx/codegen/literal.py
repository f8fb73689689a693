"""Numbers and strings as text that reads back to the same value."""

from __future__ import annotations

import math
import struct

from ..ir import DType

__all__ = ["float_text", "quoted", "rounded"]

_PACKED = {(5, 10): "e", (8, 23): "f"}  # exponent and mantissa bits -> struct format


def rounded(value: float, dtype: DType) -> float:
    """`value` as the format `dtype` keeps it, where Python can tell (16, 32 and 64 bits); else as float32 keeps it."""
    if dtype.bits == 64 or not math.isfinite(value):
        return value
    try:
        code = _PACKED.get((dtype.exponent, dtype.mantissa), "f")
        found: float = struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return found


def float_text(value: float, dtype: DType) -> str:
    """The shortest decimal text that `dtype` rounds to `value`, with a point or an exponent. `value` is finite."""
    kept = rounded(value, dtype)
    if dtype.bits == 64:
        return _pointed(repr(kept))
    for digits in range(1, 10):
        text = f"{kept:.{digits}g}"
        if rounded(float(text), dtype) == kept:
            break
    return _pointed(_expanded(text))


def _expanded(text: str) -> str:
    """Without an exponent where that is as short (`1e+01` is `10`)."""
    plain = repr(float(text))
    return plain if len(plain) <= len(text) + 2 else text


def _pointed(text: str) -> str:
    mantissa, mark, exponent = text.partition("e")
    if mark:
        return f"{mantissa}e{int(exponent)}"
    return mantissa if "." in mantissa else f"{mantissa}.0"


def quoted(text: str) -> str:
    """A C string literal; nothing in `text` can leave it."""
    out = []
    for byte in text.encode():
        char = chr(byte)
        simple = _ESCAPES.get(char)
        out.append(simple or (char if 32 <= byte < 127 else f"\\{byte:03o}"))
    return f'"{"".join(out)}"'.replace("??", "?\\?")  # no trigraphs


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
