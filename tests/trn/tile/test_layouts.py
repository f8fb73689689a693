"""Layouts that divide dimensions in unlike ways: instructions follow what all operands have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.build import imported
from tests.trn.tile.operations import PSUM, Place, check, refused
from tirx import script as Tx
from tirx.layout import Iter, TileLayout


def layout(*iters: tuple[int, int, str]) -> TileLayout:
    """Extents, strides and axes."""
    return TileLayout.from_iters([Iter(extent, stride, axis) for extent, stride, axis in iters])


PAIRED = layout((128, 1, "P"), (2, 60, "F"), (60, 1, "F"))  # two rows lie in one partition
SURPLUS = layout((2, 60, "F"), (128, 1, "P"), (60, 1, "F"))
TURNED = layout((100, 1, "P"), (6, 1, "F"), (20, 6, "F"))  # the last dimension is the slow one
PLAIN = layout((100, 1, "P"), (6, 20, "F"), (20, 1, "F"))


@pytest.mark.parametrize("operation", ["copy", "add"])
@pytest.mark.parametrize("both", [PAIRED, SURPLUS])
def test_rows_in_two_places(operation: str, both: TileLayout, tmp_path: Path) -> None:
    tile = Place((256, 60), layout=both)
    operands: dict[str, Any] = {"src": tile} if operation == "copy" else {"src1": tile, "src2": tile}
    text = check(operation, folder=tmp_path, dst=tile, **operands)
    assert text.count("nisa.tensor_") == 1


def test_rows_in_unlike_places() -> None:
    text = refused("add", dst=Place((256, 60), layout=PAIRED), src1=Place((256, 60), layout=SURPLUS), src2=1.0)
    assert "the layouts of the operands divide a dimension in ways that do not nest" in text or "lane by lane" in text


def test_elements_in_another_order(tmp_path: Path) -> None:
    operands = {"dst": Place((100, 6, 20), layout=PLAIN), "src1": Place((100, 6, 20), layout=TURNED)}
    check("mul", folder=tmp_path, src2=2.0, **operands)
    check("sum", folder=tmp_path, dst=Place((100, 6)), src=Place((100, 6, 20), layout=TURNED), tolerance=1e-6)
    check(
        "sum",
        folder=tmp_path,
        dst=Place((100, 20)),
        src=Place((100, 6, 20), layout=TURNED),
        tolerance=1e-6,
        keywords={"axes": 1},
    )


def test_partitions_of_two_dimensions(tmp_path: Path) -> None:
    tile = Place((2, 64, 30), layout="PPF")
    check("sub", folder=tmp_path, dst=tile, src1=tile, src2=Place((1, 1, 30), layout="PPF"))
    check("sum", folder=tmp_path, dst=Place((2, 64, 1), layout="PPF"), src=tile, tolerance=1e-6)
    check("select", folder=tmp_path, dst=tile, true_value=tile, false_value=0.0, pred=lambda i, j, k: 64 * i + j >= k)
    text = refused("select", dst=tile, true_value=tile, false_value=0.0, pred=lambda i, j, k: i + j >= k)
    assert "the predicate does not grow evenly along the partitions" in text
    text = refused("add", dst=tile, src1=tile, src2=Place((1, 64, 30), layout="PPF"))
    assert "`src2` is stretched along some of the partitions only" in text


def test_banks_and_free_elements(tmp_path: Path) -> None:
    wide, bank = Place((128, 1536)), Place((128, 1536), scope=PSUM)
    for size in (0, 512, 700):
        check("add", folder=tmp_path, dst=wide, src1=bank, src2=1.0, keywords={"max_inst_size": size})
        check("mul", folder=tmp_path, dst=bank, src1=wide, src2=2.0, keywords={"max_inst_size": size})


@pytest.mark.parametrize("starts", [(64, 0), (0, 64), (128, 64)])
def test_starts_that_do_not_agree(starts: tuple[int, int], tmp_path: Path) -> None:
    dst, src = (Place((64, 40), of=(256, 40), at=(start, 0)) for start in starts)
    check("add", folder=tmp_path, dst=dst, src1=src, src2=1.0)


def test_groups_cut_at_other_rows(tmp_path: Path) -> None:
    dst, src = Place((128, 40), of=(256, 40), at=(64, 0)), Place((128, 40))
    text = check("add", folder=tmp_path, dst=dst, src1=src, src2=1.0)
    assert text.count("nisa.tensor_scalar(") == 2


@Tx.prim_func
def groups(a: Tx.Buffer((512, 60), "float32"), b: Tx.Buffer((512, 60), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((512, 60), "float32", scope="trn.sbuf", layout="PF")
    Tx.tile.copy(x, a)
    for i in range(4):
        Tx.tile.mul(x[i * 128 : i * 128 + 128, 10:50], x[i * 128 : i * 128 + 128, 10:50], 2.0)
    for i in range(4):
        Tx.tile.copy(b[i * 128 : i * 128 + 128, :], x[i * 128 : i * 128 + 128, :])


def test_starts_by_loop_variables(tmp_path: Path) -> None:
    a = np.random.default_rng(8).random((512, 60), dtype=np.float32)
    wanted = a.copy()
    wanted[:, 10:50] *= 2
    b = np.empty_like(a)
    assert tirx.simulate(groups, a, b, target="trn").verdict == "clean"
    np.testing.assert_array_equal(b, wanted)
    with imported(tirx.compile(groups, "trn").source.text, tmp_path) as module:
        np.testing.assert_array_equal(np.asarray(module.groups_kernel(a)), wanted)


@Tx.prim_func
def loose(a: Tx.Buffer((512, 60), "float32"), b: Tx.Buffer((512, 60), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((512, 60), "float32", scope="trn.sbuf", layout="PF")
    Tx.tile.copy(x, a)
    for i in range(8):
        Tx.tile.mul(x[i * 64 : i * 64 + 64, :], x[i * 64 : i * 64 + 64, :], 2.0)
    Tx.tile.copy(b, x)


def test_a_start_that_is_not_known_to_fit() -> None:
    text = str(tirx.explain(loose, "trn"))
    assert "starts at an index that is not known to be a multiple of 128, where its layout wraps" in " ".join(
        text.split()
    )
