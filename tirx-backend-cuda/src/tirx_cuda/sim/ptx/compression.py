"""Meanings of choosing two elements of four, and of putting chosen elements back.

PTX ISA, `spcompress`, `spdecompress`, `tcgen05.ld.spcompress`. NaNs are chosen first, and -0 counts as less than +0; of equal
elements, and of more NaNs than have room, the manual leaves the choice open: here the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .run import Op

__all__ = ["chosen", "indices", "order", "spcompress", "spdecompress"]

_TYPES = {"b16": ("f16", "bf16"), "b8": ("u8", "s8", "e5m2", "e4m3", "e3m2", "e2m3")}
# the code of the largest magnitude, infinity where there is one: what is above it is NaN
_LARGEST = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "e5m2": 0x7C, "e4m3": 0x7E, "e3m2": 0x1F, "e2m3": 0x1F}
_SIGN = {"f16": 15, "bf16": 15, "f32": 31, "e5m2": 7, "e4m3": 7, "e3m2": 5, "e2m3": 5}  # the bit of it
_FIRST = np.iinfo(np.int64).max


def order(codes: Any, kind: str, *, absolute: bool, least: bool) -> Any:
    """A number for each element, greater for those that are chosen sooner."""
    codes = codes.astype(np.int64)
    if kind in ("u8", "s8"):
        value = codes if kind == "u8" else (codes ^ 0x80) - 0x80
        value, strange = abs(value) if absolute else value, np.zeros(codes.shape, bool)
    else:
        size = codes & ((1 << _SIGN[kind]) - 1)
        negative = codes >> _SIGN[kind] & 1 == 1
        value, strange = size if absolute else np.where(negative, -size - 1, size), size > _LARGEST[kind]
    return np.where(strange, _FIRST, -value if least else value)


def chosen(ranks: Any) -> Any:
    """Which two of each four elements: (..., fours, 2), ascending."""
    fours = ranks.reshape(*ranks.shape[:-1], -1, 4)
    return np.sort(np.argsort(-(fours - 1), axis=-1, kind="stable")[..., :2], axis=-1)


def _words(data: Any) -> tuple[Any, ...]:
    whole = np.ascontiguousarray(data).view(np.uint32)
    return tuple(np.ascontiguousarray(whole[:, i]) for i in range(whole.shape[1]))


def indices(found: Any, bits: int) -> tuple[Any, ...]:
    """Numbers of few bits, packed into words."""
    flat = found.reshape(len(found), -1).astype(np.int64)
    flat = np.pad(flat, ((0, 0), (0, -flat.shape[1] % (32 // bits))))
    parts = flat.reshape(len(flat), -1, 32 // bits) << (bits * np.arange(32 // bits))
    return tuple(np.ascontiguousarray(word) for word in parts.sum(axis=-1).astype(np.uint32).T)


def spcompress(op: Op, *values: Any) -> tuple[Any, ...]:
    """Where the chosen elements are, and what they are."""
    *words, described = values
    element, index = op.form.mnemonic.split(".")[1:3]
    kinds, width = _TYPES[element], np.dtype(f"uint{element[1:]}")
    data = np.stack([op.full(word) for word in words], axis=1).astype(np.uint32).view(width)
    described = op.full(described).astype(np.int64)
    if (described >> 2 >= len(kinds)).any():
        op.ctx.finding(
            "undefined_operand",
            f"a descriptor of {op.form.mnemonic} names no type of this size",
            described >> 2 >= len(kinds),
        )
    found = np.zeros((op.count, data.shape[1] // 4, 2), np.int64)
    for said in np.unique(described).tolist():
        kind = kinds[said >> 2 if said >> 2 < len(kinds) else 0]
        of_these = described == said
        found[of_these] = chosen(order(data[of_these], kind, absolute=bool(said & 1), least=bool(said & 2)))
    kept = np.take_along_axis(data.reshape(op.count, -1, 4), found, axis=-1).reshape(op.count, -1)
    return *indices(found, int(index[1:])), *_words(kept)


def spdecompress(op: Op, *values: Any) -> tuple[Any, ...]:
    """Elements at their places, zeros elsewhere."""
    _, element, index, factor, times = op.form.mnemonic.split(".")
    source, target = (int(number) for number in factor.removeprefix("sp::").split(":"))
    count, bits, width = int(times[1:]), int(index[1:]), np.dtype(f"uint{element[1:]}")
    given = [part.name.startswith("metadata") for part in op.form.parts if part.rw == "r"]
    said, kept = (
        np.stack(
            [op.full(value) for value, is_index in zip(values, given, strict=True) if is_index == wanted], axis=1
        ).astype(np.uint32)
        for wanted in (True, False)
    )
    every = (said[:, :, None] >> np.arange(0, 32, bits, dtype=np.uint32) & ((1 << bits) - 1)).reshape(op.count, -1)
    places = every[:, : source * count].reshape(op.count, count, source).astype(np.int64)
    beyond = (places >= target).any(axis=(1, 2))
    if beyond.any():
        op.ctx.finding("undefined_operand", f"an index of {op.form.mnemonic} is not below {target}", beyond)
    elements = kept.view(width)[:, : source * count].reshape(op.count, count, source)
    made = np.zeros((op.count, count, 16), width)
    for number in range(source):
        np.put_along_axis(made, places[..., number : number + 1], elements[..., number : number + 1], axis=-1)
    return _words(made[..., :target].reshape(op.count, -1))
