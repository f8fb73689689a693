"""Layouts of partitions and banks under their published names."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import tirx.layout
from tirx.layout import Bank, ComposeLayout, F, P, S, TileLayout, laneid
from tirx.support.errors import LayoutError


@pytest.mark.parametrize(
    ("letters", "shape", "spec"),
    [
        ("PF", (128, 512), S[(128, 512) : (1 @ P, 1 @ F)]),
        ("PF", (256, 512), S[(2, 128, 512) : (512 @ F, 1 @ P, 1 @ F)]),
        ("FPF", (4, 128, 64), S[(4, 128, 64) : (64 @ F, 1 @ P, 1 @ F)]),
        ("PPF", (2, 64, 8), S[(2, 64, 8) : (64 @ P, 1 @ P, 1 @ F)]),
    ],
)
def test_letters_by_name(letters: str, shape: tuple[int, ...], spec: Any) -> None:
    assert TileLayout.trainium(letters, shape) == tirx.layout.trainium(letters, shape) == TileLayout(spec)


@pytest.mark.parametrize(
    ("letters", "shape", "spec"),
    [
        ("PF", (128, 2048), S[(128, 4, 512) : (1 @ P, 1 @ Bank, 1 @ F)]),
        ("FPF", (4, 128, 512), S[(4, 128, 1, 512) : (1 @ Bank, 1 @ P, 1 @ Bank, 1 @ F)]),
        ("PF", (256, 512), S[(2, 128, 1, 512) : (1 @ Bank, 1 @ P, 1 @ Bank, 1 @ F)]),
        ("FPF", (4, 128, 1024), S[(4, 128, 2, 512) : (2 @ Bank, 1 @ P, 1 @ Bank, 1 @ F)]),
        ("PFF", (128, 4, 256), S[(128, 2, 2, 256) : (1 @ P, 1 @ Bank, 256 @ F, 1 @ F)]),
    ],
)
def test_a_layout_in_banks(letters: str, shape: tuple[int, ...], spec: Any) -> None:
    """As published, but for iters of one bank, which say nothing."""
    wanted = TileLayout(spec).canonicalize()
    assert TileLayout.trainium(letters, shape).to_psum().canonicalize() == wanted
    assert TileLayout.trainium(letters, shape, is_psum=True).canonicalize() == wanted


def test_other_layouts_have_no_banks() -> None:
    with pytest.raises(LayoutError, match="is no layout of partitions and free elements"):
        TileLayout(S[8, 8]).to_psum()


def test_a_layout_says_whether_it_is_one_of_partitions() -> None:
    assert TileLayout.trainium("PF", (128, 2048)).is_trainium()
    assert TileLayout.trainium("PF", (128, 2048)).to_psum().is_trainium()
    assert TileLayout.trainium("PF", (128, 2048)).slice([128, 2048], [(0, 64), (512, 1024)]).is_trainium()
    for other in (S[8, 8], S[(128, 8) : (1 @ P, 1)], S[(32, 8) : (1 @ laneid, 1 @ F)]):
        assert not TileLayout(other).is_trainium()
    assert not ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).is_trainium()


def test_names_are_found_before_the_backend_is_loaded() -> None:
    code = (
        "import tirx.backend as b; from tirx.layout import S, TileLayout; assert not b.is_loaded('trn');"
        "layout = TileLayout.trainium('PF', (128, 1024)); assert b.is_loaded('trn'); assert layout.to_psum().size() == 131072"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
