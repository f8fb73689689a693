"""Registers of tcgen05.ld and tcgen05.st: the published values, and who holds what by the instruction's own rule."""

from __future__ import annotations

from typing import Any

import pytest

from tirx.layout import S, TileLayout, laneid, tcgen05_atom_layout, tid_in_wg, wid_in_wg
from tirx.support.errors import LayoutError

WARP = 1 @ wid_in_wg
PUBLISHED = [
    ("32x32b", (128, 8), "float32", S[(128, 8) : (1 @ tid_in_wg, 1)]),
    ("32x32b", (128, 8), "float16", S[(128, 8) : (1 @ tid_in_wg, 1)]),
    ("32x32b", (64, 16), "float32", S[(64, 2, 8) : (1 @ tid_in_wg, 64 @ tid_in_wg, 1)]),
    ("16x64b", (64, 8), "float32", S[(4, 2, 8, 4, 2) : (WARP, 1 @ laneid, 4 @ laneid, 1, 2 @ laneid)]),
    ("16x64b", (64, 8), "float16", S[(4, 2, 8, 2, 2, 2) : (WARP, 1 @ laneid, 4 @ laneid, 2, 2 @ laneid, 1)]),
    ("16x128b", (64, 8), "float32", S[(4, 2, 8, 2, 4) : (WARP, 1, 4 @ laneid, 2, 1 @ laneid)]),
    ("16x128b", (64, 8), "float16", S[(4, 2, 8, 1, 4, 2) : (WARP, 2, 4 @ laneid, 4, 1 @ laneid, 1)]),
    ("16x256b", (64, 8), "float32", S[(4, 2, 8, 1, 4, 2) : (WARP, 2, 4 @ laneid, 4, 1 @ laneid, 1)]),
    ("16x256b", (64, 16), "float16", S[(4, 2, 8, 1, 4, 2, 2) : (WARP, 4, 4 @ laneid, 8, 1 @ laneid, 2, 1)]),
    ("16x64b", (128, 8), "float32", S[(4, 2, 2, 8, 4, 2) : (WARP, 4, 1 @ laneid, 4 @ laneid, 1, 2 @ laneid)]),
    ("16x64b", (128, 8), "float16", S[(4, 2, 2, 8, 2, 2, 2) : (WARP, 4, 1 @ laneid, 4 @ laneid, 2, 2 @ laneid, 1)]),
    ("16x128b", (128, 128), "bfloat16", S[(4, 2, 2, 8, 16, 4, 2) : (WARP, 64, 2, 4 @ laneid, 4, 1 @ laneid, 1)]),
    ("16x256b", (128, 256), "float32", S[(4, 2, 2, 8, 32, 4, 2) : (WARP, 128, 2, 4 @ laneid, 4, 1 @ laneid, 1)]),
]


@pytest.mark.parametrize(("instruction", "shape", "dtype", "layout"), PUBLISHED)
def test_published_values(instruction: str, shape: tuple[int, int], dtype: str, layout: Any) -> None:
    assert tcgen05_atom_layout(instruction, shape, dtype).canonicalize() == TileLayout(layout).canonicalize()


HOLDERS = {  # row r of 16, column c of 32 bits -> lane, register
    "16x64b": (2, 1, lambda r, c: (4 * (r % 8) + r // 8 + 2 * c, 0)),
    "16x128b": (4, 2, lambda r, c: (4 * (r % 8) + c, r // 8)),
    "16x256b": (8, 4, lambda r, c: (4 * (r % 8) + c // 2, 2 * (r // 8) + c % 2)),
}


@pytest.mark.parametrize("instruction", HOLDERS)
@pytest.mark.parametrize(("rows", "repetitions"), [(64, 1), (64, 4), (128, 2)])
@pytest.mark.parametrize(("dtype", "packed"), [("float32", 1), ("bfloat16", 2)])
def test_each_register_holds_what_the_instruction_puts_there(
    instruction: str, rows: int, repetitions: int, dtype: str, packed: int
) -> None:
    columns, registers, holder = HOLDERS[instruction]
    shape = (rows, columns * repetitions * packed)
    layout = tcgen05_atom_layout(instruction, shape, dtype)
    for row in range(rows):
        warp, inside = divmod(row, rows // 4)
        slab, small = divmod(inside, 16)
        for column in range(shape[1]):
            repetition, cell = divmod(column // packed, columns)
            lane, register = holder(small, cell)
            register += registers * (repetition + slab * repetitions)
            place = layout.physical((row, column), shape)
            assert (place["wid_in_wg"], place["laneid"], place["m"]) == (
                warp,
                lane,
                register * packed + column % packed,
            )


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("16x32b", (64, 8), "float32"), "instr_shape is '16x32b'", "it is one of 32x32b, 16x64b, 16x128b, 16x256b"),
        (("16x64b", (32, 8), "float32"), "the number of rows is 32", "it is one of 64, 128"),
        (("16x64b", (64, 8, 1), "float32"), "tensor_shape is (64, 8, 1)", "it is (rows, columns)"),
        (("16x64b", (64, 3), "float32"), "the number of columns is 3", "it is 2 times one of 1, 2, 4, 8, 16, 32, 64, 128"),
        (("16x64b", (64, 2), "float16"), "the number of columns is 2", "it is 4 times one of 1, 2, 4, 8, 16, 32, 64, 128"),
        (("16x64b", (64, 6), "float32"), "the number of columns is 6", None),
        (("16x128b", (64, 512), "float32"), "the number of columns is 512", "it is 4 times one of 1, 2, 4, 8, 16, 32, 64"),
        (("16x256b", (64, 512), "float32"), "the number of columns is 512", "it is 8 times one of 1, 2, 4, 8, 16, 32"),
        (("32x32b", (128, 256), "float32"), "the number of columns is 256", None),
        (("32x32b", (64, 7), "float32"), "the number of columns is 7", None),
        (("32x32b", (64, 8), "float16"), "32x32b with 64 rows reads elements of 32 bits", None),
        (("16x64b", (64, 8), "float8_e4m3fn"), "elements of float8_e4m3fn have 8 bits", "a register holds one of 32 bits or two of 16"),
        (("16x64b", (64, 8), "float64"), "elements of float64 have 64 bits", None),
        (("16x64b", (64, 8), "flout"), "unknown dtype 'flout'; did you mean `float16` or `float8` or `float64`?", None),
    ],
)  # fmt: skip
def test_what_no_instruction_does(arguments: tuple[Any, ...], message: str, hint: str | None) -> None:
    with pytest.raises(LayoutError) as caught:
        tcgen05_atom_layout(*arguments)
    assert caught.value.message.startswith(message[:40])
    assert hint is None or caught.value.hint == hint
