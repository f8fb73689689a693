"""The published implementation's layout constructors in a process of their own.

python constructor_peer.py   < [["wg_local_layout", [8], {}], ...]   > [layout as plain data | {"error": "..."}, ...]
"""

from __future__ import annotations

import json
import sys
from typing import Any

import tvm.backend.cuda.tile_primitive as tiles
import tvm.backend.cuda.tile_primitive.tma_utils as shared
import tvm.tirx.layout as layouts


def plain(layout: Any) -> Any:
    """A layout as data: iters of both parts and offsets, behind the bits of a swizzle."""
    if type(layout).__name__ == "ComposeLayout":
        bits = [int(layout.per_element), int(layout.swizzle_len), int(layout.atom_len)]
        return [bits, plain(layout.tile_layout)]
    parts = [[[int(i.extent), int(i.stride), i.axis.name] for i in part] for part in (layout.shard, layout.replica)]
    return [*parts, sorted([axis.name, int(value)] for axis, value in layout.offset.items())]


def answer(name: str, arguments: list[Any], options: dict[str, Any]) -> Any:
    """What one call makes."""
    constructor = next(getattr(module, name) for module in (layouts, tiles, shared) if hasattr(module, name))
    try:
        return plain(constructor(*arguments, **options).canonicalize())
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return {"error": f"{type(error).__name__}: {error}"}


print(json.dumps([answer(*call) for call in json.load(sys.stdin)]))
