"""Levels of cooperation: order, fixed widths, launch axes."""

from __future__ import annotations

import pytest

from tirx.support.errors import TargetError
from tirx.target import ScopeLevel, ScopeModel, Target

CHAIN = ScopeModel(
    (
        ScopeLevel("kernel"),
        ScopeLevel("cta", axes={"kernel": ("cta.x", "cta.y")}),
        ScopeLevel("group", widths={}),
        ScopeLevel("warp", widths={"group": 4}),
        ScopeLevel("thread", widths={"warp": 32}, axes={"cta": ("thread.x",)}),
    ),
    tags={"local.x": "thread.x"},
)


def test_order() -> None:
    assert CHAIN.names == ("kernel", "cta", "group", "warp", "thread")
    assert CHAIN.index("cta") < CHAIN.index("thread")
    assert "warp" in CHAIN
    assert "cluster" not in CHAIN
    assert CHAIN
    assert not ScopeModel()


@pytest.mark.parametrize(
    ("parent", "child", "width"),
    [
        ("warp", "thread", 32),
        ("group", "warp", 4),
        ("group", "thread", 128),
        ("cta", "thread", None),
        ("cta", "cta", 1),
    ],
)
def test_fixed_widths(parent: str, child: str, width: int | None) -> None:
    assert CHAIN.fixed_width(parent, child) == width


def test_axes_by_name_and_by_tag() -> None:
    assert CHAIN.axis("cta.y") == ("kernel", "cta", 1)
    assert CHAIN.axis("local.x") == ("cta", "thread", 0)
    assert CHAIN.axis("cta.z") is None


def test_unknown_level() -> None:
    with pytest.raises(TargetError) as error:
        CHAIN["wrap"]
    assert error.value.message == "the target has no level `wrap`"
    assert error.value.hint == "did you mean `warp`?"


@pytest.mark.parametrize("width", [32, 64])
def test_the_neutral_kind_has_the_width_that_it_is_given(width: int) -> None:
    model = Target("generic", width=width).scope_model()
    assert model.fixed_width("warp", "thread") == width
    assert model.limits["cta", "thread"] == 1024
