"""Copies: device memory, SBUF and PSUM, straight and transposed, ragged, by queues where engines do not reach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trn.tile.operations import PSUM, SBUF, Place, check, crossed, refused
from tirx_trn.dtypes import NKI_DTYPES, SINCE

OPERATIONS = ["copy", "copy_async", "permute_layout"]
PAIRS = {
    "load": ("global", SBUF),
    "store": (SBUF, "global"),
    "device": ("global", "global"),
    "sbuf": (SBUF, SBUF),
    "to_psum": (SBUF, PSUM),
    "from_psum": (PSUM, SBUF),
    "inside_psum": (PSUM, PSUM),
    "load_psum": ("global", PSUM),
    "store_psum": (PSUM, "global"),
}


@pytest.mark.parametrize(("pair", "operation"), crossed(PAIRS, OPERATIONS, keep=2))
def test_every_pair_of_memories(operation: str, pair: str, tmp_path: Path) -> None:
    src, dst = PAIRS[pair]
    check(operation, folder=tmp_path, dst=Place((100, 60), scope=dst), src=Place((100, 60), scope=src))


@pytest.mark.parametrize("dtype", [name for name in NKI_DTYPES if name not in SINCE and name != "bool"])
def test_every_type(dtype: str, tmp_path: Path) -> None:
    check("copy", folder=tmp_path, dst=Place((70, 50), dtype), src=Place((70, 50), dtype))


@pytest.mark.parametrize(("rows", "columns"), crossed([1, 5, 127, 128, 129, 300, 384], [1, 7, 512, 700], keep=3))
def test_ragged_tiles_of_any_size(rows: int, columns: int) -> None:
    of = (-(-rows // 128) * 128 if rows > 128 else rows, columns)
    check("copy", dst=Place((rows, columns), of=of), src=Place((rows, columns), of=of))


def test_more_rows_than_partitions_are_one_instruction(tmp_path: Path) -> None:
    text = check("copy", folder=tmp_path, dst=Place((256, 100)), src=Place((256, 100)))
    assert text.count("nisa.tensor_copy(") == 1


def test_rows_that_start_in_the_middle(tmp_path: Path) -> None:
    src = Place((200, 20), of=(384, 20), at=(128, 0))
    check("copy", folder=tmp_path, dst=Place((200, 20), of=(256, 20)), src=src)


def test_a_queue_moves_what_no_engine_reaches(tmp_path: Path) -> None:
    text = check("copy", folder=tmp_path, dst=Place((20, 8)), src=Place((20, 8), of=(64, 8), at=(10, 0)))
    assert "tensor_copy" not in text


def test_the_size_of_instructions() -> None:
    tiles: dict[str, Any] = {"dst": Place((128, 1000)), "src": Place((128, 1000))}
    assert check("copy", **tiles).count("nisa.tensor_copy(") == 2
    assert check("copy", keywords={"max_inst_size": 300}, **tiles).count("nisa.tensor_copy(") == 2
    assert "i * 300 : i * 300 + 300" in check("copy", keywords={"max_inst_size": 300}, **tiles)
    assert check("copy", keywords={"max_inst_size": 1000}, **tiles).count("nisa.tensor_copy(") == 1


def test_a_queue_has_no_size() -> None:
    text = refused("copy", keywords={"max_inst_size": 64}, dst=Place((128, 64)), src=Place((128, 64), scope="global"))
    assert "a DMA queue moves tiles of any size: max_inst_size is for copies on chip" in text


def test_of_three_dimensions(tmp_path: Path) -> None:
    check("copy", folder=tmp_path, dst=Place((4, 50, 30), layout="FPF"), src=Place((4, 50, 30), layout="FPF"))
    check("copy", folder=tmp_path, dst=Place((1, 50, 30), layout="FPF"), src=Place((50, 1, 30)))


# ---- transposed -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "size"),
    crossed(["float32", "bfloat16", "float16"], [(1, 40), (40, 1), (20, 100), (128, 128), (200, 300)], keep=2),
)
def test_rows_become_columns(dtype: str, size: tuple[int, int], tmp_path: Path) -> None:
    up = [-(-extent // 128) * 128 if extent > 128 else extent for extent in size]
    dst = Place(size, dtype, "FP", of=(size[0], up[1]))
    check("copy", folder=tmp_path, dst=dst, src=Place(size, dtype, of=(up[0], size[1])))


def test_integers_move_as_they_are(tmp_path: Path) -> None:
    large = np.arange(40 * 70, dtype=np.int32).reshape(40, 70) * 70_001
    tiles = {"dst": Place((40, 70), "int32", "FP"), "src": Place((40, 70), "int32")}
    text = check("copy", folder=tmp_path, given={"src": large}, **tiles)
    assert text.count("nisa.nc_transpose(") == 6


def test_through_a_given_identity(tmp_path: Path) -> None:
    spaces = {"acc_psum": Place((8, 128, 512), scope=PSUM, layout="none")}
    tiles = {"dst": Place((100, 60), layout="FP"), "src": Place((100, 60))}
    text = check("copy", folder=tmp_path, scratch={"identity": Place((128, 128)), **spaces}, **tiles)
    assert "nisa.nc_matmul(" in text
    assert "nc_transpose" not in text


@pytest.mark.parametrize("pair", [(SBUF, PSUM), (PSUM, SBUF), (PSUM, PSUM)])
def test_between_psum_and_sbuf(pair: tuple[str, str], tmp_path: Path) -> None:
    src, dst = pair
    check("copy", folder=tmp_path, dst=Place((60, 90), layout="FP", scope=dst), src=Place((60, 90), scope=src))


def test_partitions_that_stay_and_others_that_do_not() -> None:
    text = refused("copy", dst=Place((4, 20, 8), layout="PPF"), src=Place((4, 20, 8), layout="PFF"))
    assert "some partitions change places with free elements, and some stay: copy in two steps" in text
