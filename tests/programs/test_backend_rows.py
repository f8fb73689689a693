"""Calls of every intrinsic that an installed backend brings can be written and read back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import installed
from tirx import backend
from tirx.testing import assert_round_trip, sample_function

# What a sample call needs beyond operands that fit; None: its functions check their arguments more closely than a row says.
KEYWORDS: dict[str, dict[str, Any] | None] = {
    "cuda.func_call": {"source_code": "__device__ void name(float x) {}"},
    "cuda.mov_sreg": {"bits": 32, "reg_name": "laneid"},
    "cuda.warp_reduce": None,  # knows three reductions by name
    "cuda.cta_reduce": None,
    "cuda.tcgen05.encode_instr_descriptor": None,  # these only take formats that there are
    "cuda.tcgen05.encode_instr_descriptor_block_scaled": None,
    "cuda.mma_store": None,  # one size
    **dict.fromkeys(
        ("cuda.timer_init", "cuda.timer_start", "cuda.timer_end", "cuda.timer_finalize")
    ),  # a log of integers
    "cuda.iket.official_event": None,  # what annotations become
    "cuda.tensormap_encode_tiled": None,  # these write a parameter, which is no buffer
    "cuda.tensormap_encode_im2col": None,
    "cuda.printf": None,  # counts the values that its format asks for
}


@pytest.mark.parametrize("name", ["cuda"])
def test_reads_back(name: str) -> None:
    if not installed(f"tirx-backend-{name}"):
        pytest.skip(f"not installed: tirx-backend-{name}")
    backend.load(name)
    rows = [row for key, row in backend.registry().rows("intrinsics").items() if key.startswith(f"{name}.")]
    assert rows
    for row in rows:
        keywords = KEYWORDS.get(row.name, {})
        if keywords is not None:
            assert_round_trip(sample_function(row, **keywords))
