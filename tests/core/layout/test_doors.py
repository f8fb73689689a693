"""Names that backends add to layouts: found by row, and nothing else is."""

from __future__ import annotations

import copy
import pickle

import pytest

from tirx.layout import ComposeLayout, S, TileLayout, doors
from tirx.layout.row import LayoutConstructor

ROWS = {
    "doubled": LayoutConstructor("doubled", "tests.core.layout.test_doors:doubled", doc="twice as far", method=True),
    "pairs": LayoutConstructor("pairs", "tests.core.layout.test_doors:pairs", doc="two of each"),
}


def doubled(layout: TileLayout, factor: int = 2) -> TileLayout:
    """An operation of a backend."""
    return layout.unpack(factor)


def pairs(count: int) -> TileLayout:
    """A constructor of a backend."""
    return TileLayout(S[count, 2])


@pytest.fixture(autouse=True)
def _rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "find", lambda kind, name: ROWS.get(name) if kind == "layout_constructors" else None)


def test_constructors_are_attributes_of_classes() -> None:
    assert TileLayout.pairs(3) == ComposeLayout.pairs(3) == TileLayout(S[3, 2])
    assert TileLayout.doubled(TileLayout(S[4])) == TileLayout(S[4]).unpack(2)


def test_operations_are_attributes_of_layouts() -> None:
    assert TileLayout(S[4]).doubled() == TileLayout(S[4]).unpack(2)
    assert TileLayout(S[4]).doubled(factor=4) == TileLayout(S[4]).unpack(4)


@pytest.mark.parametrize("name", ["pairs", "frob", "_repr_png_", "__array__"])
def test_layouts_have_nothing_else(name: str) -> None:
    layout = TileLayout(S[4])
    with pytest.raises(AttributeError, match=f"TileLayout has no attribute '{name}'"):
        getattr(layout, name)


def test_classes_have_nothing_else() -> None:
    with pytest.raises(AttributeError, match="ComposeLayout has no attribute 'frob'"):
        _ = ComposeLayout.frob


def test_layouts_can_be_copied_and_pickled() -> None:
    layout = ComposeLayout(3, 3, 3, TileLayout(S[8, 64]))
    assert copy.deepcopy(layout) == pickle.loads(pickle.dumps(layout)) == layout
