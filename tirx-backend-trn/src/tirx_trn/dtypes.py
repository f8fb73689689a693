"""Data types that the engines compute with, and what `nki.language` calls them.

Source: AWS Neuron documentation, "Supported Data Types" of NKI 0.3 to 0.6. 64-bit types are absent there.
"""

from __future__ import annotations

__all__ = ["FLOAT8", "NKI_DTYPES", "SINCE", "WIDE"]

NKI_DTYPES = {
    "float32": "nl.float32",
    "float16": "nl.float16",
    "bfloat16": "nl.bfloat16",
    "float8_e4m3": "nl.float8_e4m3",
    "float8_e4m3fn": "nl.float8_e4m3fn",
    "float8_e5m2": "nl.float8_e5m2",
    "int32": "nl.int32",
    "int16": "nl.int16",
    "int8": "nl.int8",
    "uint32": "nl.uint32",
    "uint16": "nl.uint16",
    "uint8": "nl.uint8",
    "bool": "nl.bool_",
}

WIDE = frozenset({"float32"})  # a matmul mixes these only with each other
FLOAT8 = ("float8_e4m3", "float8_e4m3fn", "float8_e5m2")
SINCE = {"float8_e4m3fn": "v4"}  # types that came with a NeuronCore generation
