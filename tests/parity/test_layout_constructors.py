"""Named layouts of CUDA under both implementations: the same layouts, the same refusals, and what differs for a reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tirx.layout
from tirx.support.errors import LayoutError

pytestmark = [pytest.mark.parity, pytest.mark.needs("tirx-backend-cuda")]

Call = tuple[str, list[Any], dict[str, Any]]
DATAPATHS = {"A": 128, "B": 64, "C": 64, "D": 128, "E": 64, "F": 64, "G": 32}


def calls() -> Iterator[Call]:
    """A sweep over the arguments of each constructor, wrong ones among them."""
    for (letter, rows), cols, half in product(DATAPATHS.items(), (3, 4, 8, 64, 512), (0, 1)):
        yield "tmem_datapath_layout", [letter, rows, cols, half], {}
    shapes = ([128, 64], [64, 64], [32, 64], [2, 64, 64], [2, 128, 32])
    for operand, shape, m, pair, ws in product("AD", shapes, (32, 64, 128, 256), (1, 2), (False, True)):
        for group in (None, [2, 2, 16]) if operand == "D" else (None,):
            dtype = "float32" if operand == "D" else "bfloat16"
            yield (
                "tmem_mma_operand_layout",
                [operand, shape, dtype],
                {"M": m, "cta_group": pair, "ws": ws, "group": group},
            )
    columns = (1, 2, 4, 8, 12, 16, 32, 64, 128, 256, 512)
    dtypes = ("float32", "float16", "bfloat16", "int32", "int8")
    for shape, rows, width, dtype in product(
        ("32x32b", "16x64b", "16x128b", "16x256b"), (32, 64, 128), columns, dtypes
    ):
        yield "tcgen05_atom_layout", [shape, [rows, width], dtype], {}
    for dtype, mode in product(("float64", "float32", "float16", "int8", "float4_e2m1fn"), range(4)):
        yield "mma_atom_layout", [dtype, mode], {}
        for tile in ([128, 64], [64, 256], [8, 512], [3, 16, 256]):
            yield "mma_shared_layout", [dtype, mode, tile], {}
    for rows, factors, each, reuse, depth in product(
        (32, 64, 128, 256, 384), (1, 2, 4, 6, 8, 12, 16), (1, 2, 4), (1, 4), (None, 2)
    ):
        for name in ("sf_tmem_layout", "sf_smem_layout"):
            yield name, [rows, factors, each, reuse, depth], {}


def is_known(call: Call) -> bool:
    """Ours is right: stages of a pipeline in tensor memory overlap in published layouts, unless SF_K is 4 and rows are above 32."""
    name, arguments, _ = call
    return name == "sf_tmem_layout" and arguments[4] is not None and (arguments[1] != 4 or arguments[0] == 32)


def plain(layout: Any) -> Any:
    """As in `constructor_peer`."""
    if hasattr(layout, "tile_layout"):
        return [[layout.per_element, layout.swizzle_len, layout.atom_len], plain(layout.tile_layout)]
    parts = [[[i.extent, i.stride, i.axis] for i in part] for part in (layout.shard, layout.replica)]
    return [*parts, sorted([axis, value] for axis, value in layout.offset.items())]


def ours(call: Call) -> Any:
    name, arguments, options = call
    try:
        return plain(getattr(tirx.layout, name)(*arguments, **options).canonicalize())
    except LayoutError as error:
        return {"error": str(error)}


def meaning(answer: Any) -> Any:
    """An answer for comparison: refusals are alike, and a step of nothing may count on any axis."""
    if isinstance(answer, dict):
        return "refused"
    if isinstance(answer, list):
        if len(answer) == 3 and answer[1] == 0 and isinstance(answer[2], str):
            return [answer[0], 0, ""]
        return [meaning(item) for item in answer]
    return answer


def test_constructors() -> None:
    every = list(calls())
    python = os.environ.get("PARITY_PYTHON", sys.executable)
    done = subprocess.run(
        [python, "-W", "ignore", str(Path(__file__).with_name("constructor_peer.py"))],
        input=json.dumps(every), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    differences = [
        f"{call}\n    ours  {mine}\n    peer  {theirs}"
        for call, theirs in zip(every, json.loads(done.stdout), strict=True)
        if meaning(mine := ours(call)) != meaning(theirs) and not is_known(call)
    ]
    assert not differences, f"{len(differences)} of {len(every)} differ:\n" + "\n".join(differences[:10])
