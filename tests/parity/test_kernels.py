"""Each kernel text under both implementations: who takes it, what it computes, what comes out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.parity.cells import Cell, cells

pytestmark = [pytest.mark.parity, pytest.mark.needs("tirx-backend-cuda")]
CELLS = cells()
NOISE = 4  # registers: below this it is the compiler's choice


@pytest.fixture(scope="session")
def peer() -> Iterator[Any]:
    from tests.parity.sides import Peer  # here, so that collection needs neither NumPy types nor a backend

    child = Peer(os.environ.get("PARITY_PYTHON", sys.executable))
    yield child
    child.close()


@pytest.mark.parametrize("name", CELLS)
def test_kernel(name: str, peer: Any, tmp_path: Path) -> None:
    from tests.parity import sides

    cell = CELLS[name]
    mine = sides.ours(cell.written("ours", tmp_path))
    theirs = peer.examine(cell.written("peer", tmp_path))
    assert not refused("ours", cell, mine)
    assert not refused("peer", cell, theirs)
    if mine["accepted"]:
        assert not (sides.simulated(mine["kernel"], cell) if cell.numpy else [])
    if mine["accepted"] and theirs["accepted"]:
        found = differences(cell, mine, theirs)
        assert set(found) == set(cell.differs), found


def refused(side: str, cell: Cell, found: dict[str, Any]) -> str:
    """What is not as the text's notes say."""
    wanted = cell.refusal[side]
    if wanted is None:
        return "" if found["accepted"] else f"{side} refuses: {found['error']}"
    if found["accepted"]:
        return f"{side} accepts what it should refuse with {wanted!r}"
    return "" if wanted in found["error"] else f"{side} refuses with another text: {found['error']}"


def differences(cell: Cell, mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """What differs, by subject."""
    from tests.parity import compare, sides
    from tirx.support.errors import ToolchainError

    pairs: dict[str, tuple[Any, Any]] = {"launch": (mine["launch"], theirs["launch"])}
    one, other = compare.signature(mine["source"]), compare.signature(theirs["source"])
    pairs |= {subject: (one[subject], other[subject]) for subject in one}
    built = compare.binary(mine["source"], sides.ARCH)
    try:
        there = compare.binary(theirs["source"], sides.ARCH)
    except ToolchainError as error:
        return {"peer source": str(error)} | {what: pair for what, pair in pairs.items() if pair[0] != pair[1]}
    if built["registers"] <= there["registers"] + NOISE:
        built["registers"] = there["registers"]
    if compare.WARP_NUMBER not in built["instructions"]:
        there["instructions"] = [item for item in there["instructions"] if item != compare.WARP_NUMBER]
    pairs |= {subject: (built[subject], there[subject]) for subject in built}
    return {what: pair for what, pair in pairs.items() if pair[0] != pair[1]}
