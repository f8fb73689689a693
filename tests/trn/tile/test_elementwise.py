"""Elementwise operations: every form of operands, types, ragged tiles, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trn.tile.operations import PSUM, Place, check, crossed, refused

ROWS, COLUMNS = 300, 700


def whole(dtype: str = "float32") -> Place:
    """A ragged tile: three groups of partitions, two instructions wide."""
    return Place((ROWS, COLUMNS), dtype, of=(384, COLUMNS))


def column(dtype: str = "float32") -> Place:
    return Place((ROWS, 1), dtype, of=(384, 1))


def row(dtype: str = "float32") -> Place:
    return Place((1, COLUMNS), dtype)


FORMS: dict[str, Any] = {
    "tile": whole,
    "column": column,
    "row": row,
    "one": lambda: Place((1, 1)),
    "number": lambda: 2.5,
}
BINARY = ["add", "sub", "mul", "maximum", "minimum"]


@pytest.mark.parametrize(("operation", "second"), crossed([*BINARY, "fdiv"], FORMS, keep=3))
def test_second_operands(operation: str, second: str, tmp_path: Path) -> None:
    check(operation, folder=tmp_path, dst=whole(), src1=whole(), src2=FORMS[second](), tolerance=3e-7)


@pytest.mark.parametrize(("operation", "first"), crossed(["sub", "fdiv", "maximum"], ["column", "row", "one"], keep=2))
def test_first_operands_that_stretch(operation: str, first: str, tmp_path: Path) -> None:
    check(operation, folder=tmp_path, dst=whole(), src1=FORMS[first](), src2=whole(), tolerance=3e-7)


@pytest.mark.parametrize(("first", "second"), crossed(["number", "column", "row"], ["number", "column", "row"], keep=2))
def test_both_stretch(first: str, second: str) -> None:
    operation = "sub" if first != "number" else "mul"
    check(operation, dst=whole(), src1=FORMS[first](), src2=FORMS[second](), tolerance=3e-7)


@pytest.mark.parametrize(("dtype", "second"), crossed(["float16", "bfloat16"], ["tile", "column", "row"], keep=2))
def test_short_floats(dtype: str, second: str, tmp_path: Path) -> None:
    check("mul", folder=tmp_path, dst=whole(dtype), src1=whole(dtype), src2=FORMS[second](dtype))
    check("add", folder=tmp_path, dst=whole(), src1=whole(dtype), src2=FORMS[second](dtype))


@pytest.mark.parametrize(("operation", "second"), crossed(BINARY, ["tile", "number"], keep=3))
def test_whole_numbers_are_exact(operation: str, second: str, tmp_path: Path) -> None:
    large = np.random.default_rng(1).integers(2**25, 2**26, (ROWS, COLUMNS)).astype(np.int32)
    other = whole("int32") if second == "tile" else 3
    check(operation, folder=tmp_path, given={"src1": large}, dst=whole("int32"), src1=whole("int32"), src2=other)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
def test_small_integers_wrap(operation: str, dtype: str, tmp_path: Path) -> None:
    kind = np.iinfo(dtype)
    rng = np.random.default_rng(10)
    given = {name: rng.integers(kind.min, kind.max + 1, (70, 50)).astype(dtype) for name in ("src1", "src2")}
    tile = Place((70, 50), dtype)
    check(operation, folder=tmp_path, given=given, dst=tile, src1=tile, src2=tile)
    check(operation, given=given, dst=tile, src1=tile, src2=3)
    check(operation, dst=tile, src1=tile, src2=Place((70, 1), dtype))


def test_small_integers_are_compared() -> None:
    check("maximum", dst=whole("int8"), src1=whole("int8"), src2=column("int8"))
    text = refused("fma", dst=whole("int32"), src=whole("int32"), scale=2, bias=1)
    assert "integers: the two steps on int32 go through float32; use Tx.tile.mul, then Tx.tile.add" in text


def test_whole_numbers_do_not_stretch() -> None:
    text = refused("add", dst=whole("int32"), src1=whole("int32"), src2=column("int32"))
    assert "stretching: `src2` is stretched, which goes through float32: int32 does not" in text


def test_two_operands_in_psum(tmp_path: Path) -> None:
    tiles = {name: Place((128, 64), scope=PSUM) for name in ("dst", "src1", "src2")}
    check("add", folder=tmp_path, **tiles)


def test_in_place_of_three_dimensions(tmp_path: Path) -> None:
    check("mul", folder=tmp_path, dst=Place((90, 6, 20)), src1=Place((90, 6, 20)), src2=Place((90, 1, 20)))
    check("mul", folder=tmp_path, dst=Place((90, 6, 20)), src1=Place((90, 6, 20)), src2=Place((90, 6, 1)))


@pytest.mark.parametrize("size", [1, 100, 512, 699, 700, 2048, 0])
def test_any_size_of_instructions(size: int) -> None:
    check("add", dst=whole(), src1=whole(), src2=whole(), keywords={"max_inst_size": size})


# ---- setting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint8"])
def test_setting(dtype: str, tmp_path: Path) -> None:
    check("zero", folder=tmp_path, dst=whole(dtype))
    check("fill", folder=tmp_path, dst=whole(dtype), value=3)
    check("memset", folder=tmp_path, dst=Place((60, 40), dtype, scope=PSUM), value=3)


# ---- functions ------------------------------------------------------------------------------------------------------

FUNCTIONS = ["sqrt", "exp", "exp2", "log2"]


@pytest.mark.parametrize(
    ("operation", "bias", "generation"),
    crossed(FUNCTIONS, ["none", "number", "column", "tile"], ["v2", "v3", "v4"], keep=5),
)
def test_functions(operation: str, bias: str, generation: str, tmp_path: Path) -> None:
    given = {} if bias == "none" else {"bias": FORMS[bias]()}
    target = f"trn -generation={generation}"
    check(operation, target=target, folder=tmp_path, dst=whole(), src=whole(), scale=0.5, tolerance=1e-6, **given)


@pytest.mark.parametrize(
    ("operation", "dtype"), crossed([*FUNCTIONS, "silu", "reciprocal"], ["float32", "bfloat16", "float16"], keep=2)
)
def test_functions_of_short_floats(operation: str, dtype: str, tmp_path: Path) -> None:
    tolerance = {"float32": 1e-6, "bfloat16": 2**-8, "float16": 2**-11}[dtype]
    check(operation, folder=tmp_path, dst=whole(dtype), src=whole(dtype), tolerance=tolerance)


def test_a_bias_goes_to_the_workspace(tmp_path: Path) -> None:
    tiles = {"dst": Place((128, 64)), "src": Place((128, 64))}
    space = {"const_bias": Place((128, 512))}
    text = check("exp", folder=tmp_path, scratch=space, bias=0.5, tolerance=1e-6, target="trn -generation=v2", **tiles)
    assert "bias=const_bias[0:128, 0:1]" in text or "bias=buffer" in text


# ---- fma and cast ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scale", "bias"), crossed(FORMS, FORMS, keep=3))
def test_fma(scale: str, bias: str) -> None:
    check("fma", dst=whole(), src=whole(), scale=FORMS[scale](), bias=FORMS[bias](), tolerance=3e-7)


@pytest.mark.parametrize("dst", ["int8", "int16", "int32", "uint8", "uint32"])
def test_floats_are_cut_off(dst: str, tmp_path: Path) -> None:
    values = (np.random.default_rng(2).random((ROWS, COLUMNS), dtype=np.float32) - 0.5) * 200
    values[0, :8] = [-2.5, 2.5, -0.5, 0.5, 1.999, -1.999, 0.0, 3.0]
    values = np.abs(values) if dst.startswith("u") else values
    check("cast", folder=tmp_path, given={"src": values}, dst=whole(dst), src=whole())


@pytest.mark.parametrize(
    ("dst", "src"),
    [
        ("bfloat16", "float32"), ("float32", "bfloat16"), ("float16", "bfloat16"), ("float32", "int32"), ("bfloat16", "uint8"),
        ("int32", "int8"), ("int32", "uint16"), ("float8_e5m2", "float32"), ("uint32", "int32"),
    ],
)  # fmt: skip
def test_conversions(dst: str, src: str, tmp_path: Path) -> None:
    if (dst, src) == ("uint32", "int32"):
        assert "conversion: engines saturate int32 outside of uint32, where cast wraps" in refused(
            "cast", dst=whole(dst), src=whole(src)
        )
        return
    check("cast", folder=tmp_path, dst=whole(dst), src=whole(src))


def test_integers_are_not_narrowed() -> None:
    text = refused("cast", dst=whole("int8"), src=whole("int32"))
    assert (
        "engines saturate int32 outside of int8, where cast wraps; where saturating is meant use Tx.nki.tensor_copy"
        in text
    )


def test_a_cast_spreads(tmp_path: Path) -> None:
    check("cast", folder=tmp_path, dst=whole(), src=row("bfloat16"))
    check("cast", folder=tmp_path, dst=whole(), src=column("float16"))


# ---- refused --------------------------------------------------------------------------------------------------------


def test_engines_do_not_reach_device_memory() -> None:
    text = refused("add", dst=whole(), src1=Place((ROWS, COLUMNS), scope="global"), src2=1.0)
    assert (
        "memory: `src1` is in global memory; engines compute on SBUF and PSUM: bring it there with Tx.tile.copy" in text
    )


def test_lanes_do_not_cross() -> None:
    text = refused("add", dst=Place((64, 64)), src1=Place((64, 64), layout="FP"), src2=1.0)
    assert (
        "dimension 0 lies along the partitions of `dst`, and along the free dimension of `src1`; engines work lane by lane"
        in text
    )


def test_a_start_in_the_middle_of_a_quarter() -> None:
    text = refused("add", dst=Place((20, 8), of=(64, 8), at=(10, 0)), src1=Place((20, 8)), src2=1.0)
    assert "instructions: `dst` starts at partition 10; 20 partitions start at 0, 32, 64, 96" in text


def test_sixty_four_bits() -> None:
    text = refused("fill", dst=Place((64, 64), "float64"), value=1.0)
    assert "float64" in text
    assert "engines do not have" in text


def test_unknown_keywords() -> None:
    text = refused("add", dst=whole(), src1=whole(), src2=1.0, keywords={"max_inst_sise": 4})
    assert "does not know the keyword `max_inst_sise`" in text
    assert "max_inst_size" in text
