"""One tile operation in a kernel of its own: operands brought to where a test wants them, the result held against NumPy.

    check_tile_operation("add", {"dst": Place("shared", (8, 16)), "src1": Place("shared", (8, 16)), "src2": 2.0})

Every operand starts in global memory; the kernel copies it to its place, runs the operation and copies what it wrote back. The
expected values are those of the operation's own meaning on the same arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import script as Tx
from ..backend import find
from ..driver import simulate
from ..ir import DType, PrimFunc
from ..ir.numpy_types import numpy_dtype
from ..sim import Report
from ..support.late import load_object
from ..tile import TileOp

__all__ = ["Place", "check_tile_operation", "tile_kernel"]

Arrays = dict[str, "np.ndarray[Any, Any]"]


class Place:
    """Where a tested operand lives: storage scope, shape, dtype, and a layout where it is not the plain one."""

    __slots__ = ("dtype", "layout", "scope", "shape")

    def __init__(self, scope: str, shape: tuple[int, ...], dtype: str = "float32", layout: Any = None) -> None:
        self.scope = scope
        self.shape = shape
        self.dtype = dtype
        self.layout = layout

    def values(self, seed: int) -> np.ndarray[Any, Any]:
        """Small values that sums and products of 16-bit floats still hold well."""
        made = np.random.default_rng(seed).integers(1, 9, self.shape)
        dtype = DType(self.dtype)
        return (made / 8 if dtype.is_float else made).astype(numpy_dtype(dtype))


def check_tile_operation(
    operation: str,
    operands: dict[str, Any],
    *,
    scope: str = "cta",
    threads: int = 32,
    target: Any = "generic",
    tolerance: float = 0.0,
    checks: str = "all",
    given: Arrays | None = None,
    extensions: tuple[str, ...] = (),
    **keywords: Any,
) -> Report:
    """Simulate `operation` and hold every operand that it writes against the operation's own meaning in NumPy.

    `operands` are `Place`s or plain values by name, `given` arrays for some of them, `keywords` those of the call. All operands start in
    global memory. Raises `AssertionError` when the report is not clean or a value is off by more than `tolerance` (relative).
    """
    row: TileOp | None = find("tile_ops", operation)
    assert row is not None, operation
    places = {name: item for name, item in operands.items() if isinstance(item, Place)}
    arrays = {name: (given or {}).get(name, place.values(seed)) for seed, (name, place) in enumerate(places.items())}
    expected = _expected(row, operands, arrays, keywords)
    kernel = tile_kernel(row, operands, scope=scope, threads=threads, **keywords)
    results = {name: array.copy() for name, array in arrays.items()}
    report = simulate(kernel, *results.values(), target=target, checks=checks, extensions=extensions)
    assert report.verdict == "clean", str(report)
    for name, wanted in expected.items():
        found = results[name].astype("float64"), np.asarray(wanted).astype("float64")
        np.testing.assert_allclose(*found, rtol=tolerance, err_msg=f"{operation}: {name}")
    return report


def tile_kernel(
    row: TileOp, operands: dict[str, Any], *, scope: str = "cta", threads: int = 32, **keywords: Any
) -> PrimFunc:
    """A kernel that brings every operand to its place, runs the operation there, and brings back what it wrote."""
    places = {name: item for name, item in operands.items() if isinstance(item, Place)}
    written = [item.name for item in row.operands if "w" in item.rw and item.name in places]

    def kernel(outside: dict[str, Any]) -> None:
        Tx.device_entry()
        Tx.thread_id([threads])
        group = Tx.tile if scope == "thread" else getattr(Tx.tile, scope)
        tiles = {name: _placed(name, place, outside[name]) for name, place in places.items()}
        inside = [name for name, place in places.items() if place.scope != "global"]
        for name in inside:
            group.copy(tiles[name], outside[name])
        Tx.tvm_storage_sync("shared")
        getattr(group, row.name)(**{name: tiles.get(name, value) for name, value in operands.items()}, **keywords)
        Tx.tvm_storage_sync("shared")
        for name in written:
            if name in inside:
                group.copy(outside[name], tiles[name])

    types = [Tx.Buffer(place.shape, place.dtype) for place in places.values()]
    made: PrimFunc = Tx.trace(_with_parameters(kernel, tuple(places)), *types)
    return made


def _placed(name: str, place: Place, outside: Any) -> Any:
    if place.scope == "global":
        return outside
    options = {} if place.layout is None else {"layout": place.layout}
    return Tx.alloc_buffer(place.shape, place.dtype, scope=place.scope, **options)


def _with_parameters(kernel: Any, names: tuple[str, ...]) -> Any:
    """The kernel as a function of one positional parameter per operand; tracing reads their names."""
    space: dict[str, Any] = {"kernel": kernel}
    exec(f"def tested({', '.join(names)}): kernel(locals())", space)  # noqa: S102 - names of a row's operands
    return space["tested"]


def _expected(row: TileOp, operands: dict[str, Any], arrays: Arrays, keywords: dict[str, Any]) -> dict[str, Any]:
    """The written operands' new values."""
    plain = {item.name for item in row.attrs}
    attrs = {name: value for name, value in keywords.items() if name in plain}
    for name in plain & {"axes", "reduce_axes"}:
        longest = max(array.ndim for array in arrays.values())
        attrs[name] = _axes(attrs.get(name, -1), longest)
    given = {name: arrays.get(name, value) for name, value in operands.items()}
    written = [item.name for item in row.operands if "w" in item.rw]
    found = load_object(row.meaning)(**given, **attrs)
    return dict(zip(written, found if len(written) > 1 else (found,), strict=True))


def _axes(axes: Any, rank: int) -> tuple[int, ...]:
    return tuple(sorted(axis % rank for axis in (axes if isinstance(axes, tuple) else (axes,))))
