"""How the layouts of CUDA are reached: by name, before anything of the backend is loaded, and from the command line."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tirx.layout
from tirx import backend
from tirx.layout import Axis, TileLayout
from tirx.layout.read import read_layout
from tirx.support.errors import LayoutError
from tirx_cuda.layout.rows import AXES, CONSTRUCTORS


@pytest.mark.parametrize("name", [row.name for row in CONSTRUCTORS])
def test_each_is_an_attribute_of_layouts(name: str) -> None:
    function = getattr(tirx.layout, name)
    assert function.__name__ == name
    assert getattr(TileLayout, name) is function
    assert "cuda" in backend.provides("layout", name)


@pytest.mark.parametrize("name", [row.name for row in AXES])
def test_axes_of_tensor_memory(name: str) -> None:
    assert getattr(tirx.layout, name) == Axis.get(name)
    assert Axis.get(name).is_memory()
    assert "cuda" in backend.provides("axis", name)


@pytest.mark.parametrize(
    "expression", ["layout.TLane", "layout.wg_local_layout(8)", "layout.TileLayout.wg_local_layout(8)"]
)
def test_names_are_found_before_the_backend_is_loaded(expression: str) -> None:
    code = f"import tirx.backend as b; from tirx import layout; assert not b.is_loaded('cuda'); {expression}; assert b.is_loaded('cuda')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_layout_has_no_operation_of_that_name() -> None:
    with pytest.raises(AttributeError, match="TileLayout has no attribute 'wg_local_layout'"):
        _ = TileLayout.wg_local_layout(8).wg_local_layout


def test_text_knows_them() -> None:
    assert read_layout("wg_local_layout(8, rows=64)") == tirx.layout.wg_local_layout(8, 64)
    assert read_layout("mma_atom_layout('float16', 3).tile_to((16, 64), (8, 64))").size() == 1024
    assert read_layout("S[(128, 8):(1@TLane, 1@TCol)]") == tirx.layout.tmem_datapath_layout("D", 128, 8)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "tmem_datapath_layout('H', 64, 8)",
            (
                "TEXT:1:1: error: datapath is 'H'\n"
                "  1 | tmem_datapath_layout('H', 64, 8)\n"
                "    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
                "  help: it is one of A, B, C, D, E, F, G"
            ),
        ),
        (
            "S[8] + wg_local_layout()",
            (
                "TEXT:1:8: error: wrong arguments: missing a required argument: 'cols'\n"
                "  1 | S[8] + wg_local_layout()\n"
                "    |        ^^^^^^^^^^^^^^^^^\n"
                "  help: it is wg_local_layout(cols, rows=128)"
            ),
        ),
        (
            "S[8:1@TLain]",
            (
                "TEXT:1:7: error: there is no axis or layout `TLain`\n"
                "  1 | S[8:1@TLain]\n"
                "    |       ^^^^^\n"
                "  help: did you mean `TLane`?"
            ),
        ),
    ],
)
def test_mistakes_are_shown_where_they_are(text: str, error: str) -> None:
    with pytest.raises(LayoutError) as caught:
        read_layout(text, "TEXT")
    assert str(caught.value) == error
