"""Every helper of published TIRx under `Tx.cuda`, `Tx.ptx_legacy`, `Tx.nvshmem`: called as there, typed, documented, simulated."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

import tirx.backend
from tirx import script as Tx
from tirx.backend import registry
from tirx.intrinsic import Intrinsic

LINES = (Path(__file__).parent / "data/published_helpers.txt").read_text(encoding="utf-8").splitlines()[1:]
PUBLISHED = dict(line.removesuffix(")").split("(", 1) for line in LINES)
# Rows whose meaning only an author's C++ could give.
UNMODELLED = {"cuda.func_call"}
OWNED = ("cuda.", "nvshmem.", "ptx_legacy.")


def helper(name: str) -> Any:
    found: Any = Tx
    for part in name.split("."):
        found = getattr(found, part)
    return found


def described(parameters: Any) -> list[tuple[str, bool, Any]]:
    """Name, whether it takes any number, default."""
    many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [(item.name, item.kind in many, item.default) for item in parameters.values()]


@pytest.mark.parametrize("name", PUBLISHED)
def test_it_is_called_as_published(name: str) -> None:
    """Positions, names and defaults; further parameters come behind and have defaults."""
    wanted = described(inspect.signature(eval(f"lambda {PUBLISHED[name]}: None")).parameters)
    ours = inspect.signature(helper(name)).parameters
    found = described(ours)
    for (name_there, many, default), (name_here, many_here, default_here) in zip(wanted, found, strict=False):
        assert (name_here, many_here) == (name_there, many)
        assert default_here == default or default is inspect.Parameter.empty
    assert len(found) >= len(wanted)
    assert all(default is not inspect.Parameter.empty or many for _, many, default in found[len(wanted) :])


@pytest.mark.parametrize("name", PUBLISHED)
def test_it_is_typed_and_documented(name: str) -> None:
    function = helper(name)
    signature = inspect.signature(function)
    assert all(item.annotation is not inspect.Parameter.empty for item in signature.parameters.values())
    assert signature.return_annotation is not inspect.Signature.empty
    assert len((function.__doc__ or "").split()) > 2


def rows() -> dict[str, Intrinsic]:
    tirx.backend.load("cuda")
    return {name: row for name, row in registry().rows("intrinsics").items() if name.startswith(OWNED)}


ROWS = rows()


@pytest.mark.parametrize("name", ROWS)
def test_each_row_is_written_and_simulated(name: str) -> None:
    row = ROWS[name]
    assert row.doc
    host_only = name in HOST_ONLY
    assert ((name, "cuda") in registry().rows("emissions")) != host_only
    if name in UNMODELLED or host_only:
        return
    assert row.meaning is not None
    module, _, function = row.meaning.partition(":")
    meaning = getattr(importlib.import_module(module), function)
    attributes = set(inspect.signature(meaning).parameters)
    takes_any = any(
        item.kind is inspect.Parameter.VAR_KEYWORD for item in inspect.signature(meaning).parameters.values()
    )
    assert takes_any or set(row.attrs) <= attributes


HOST_ONLY = {name for name in ROWS if "tensormap" in name}  # the host encodes these


@pytest.mark.parametrize("name", ["cuda", "nvshmem", "ptx_legacy", "cuda.tcgen05", "cuda.wgmma", "cuda.iket"])
def test_completion_offers_what_there_is(name: str) -> None:
    """Every published name, and nothing that is not for authors."""
    space = helper(name)
    below = {item.removeprefix(f"{name}.").partition(".")[0] for item in PUBLISHED if item.startswith(f"{name}.")}
    assert below <= set(dir(space))
    assert all(not item.startswith("_") or item.startswith("__shfl") or item == "__activemask" for item in dir(space))
    assert set(dir(space)) == set(space.__all__)


@pytest.mark.parametrize(
    ("space", "wrong", "right"),
    [
        ("nvshmem", "mype", "my_pe"), ("ptx_legacy", "mmaa", "mma"), ("cuda.tcgen05", "encode_matrix", "encode_matrix_descriptor"),
        ("cuda.wgmma", "noop_barier", "noop_barrier"), ("cuda.iket", "marks", "mark"), ("cuda", "cta_synk", "cta_sync"),
    ],
)  # fmt: skip
def test_unknown_names_say_which_is_near(space: str, wrong: str, right: str) -> None:
    with pytest.raises(AttributeError, match=f"Tx.{space} has no `{wrong}`; did you mean `{right}`"):
        getattr(helper(space), wrong)
