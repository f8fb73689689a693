"""Tile operations of random types, shapes, layouts, scopes and threads: the simulated result is NumPy's, and all checks are clean."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tirx.layout import ComposeLayout, R, S, TileLayout
from tirx.layout.syntax import AxisNames as Axis
from tirx.testing.operations import Place, check_tile_operation

SWEEP = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)

COPIED = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "float8_e4m3fn")
COMPUTED = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-12, "int32": 0.0}
TARGETS = ("cuda -arch=sm_80", "cuda -arch=sm_90a", "cuda -arch=sm_100a")
FRAGMENT = TileLayout(S[(8, 4, 2) : (4 @ Axis.laneid, 1 @ Axis.laneid, 1)])  # 8 x 8 over 32 lanes
LANES = ("row_major", "padded", "columns", "swizzled", "global", "fragment")


@st.composite
def groups(draw: Any) -> dict[str, Any]:
    """Who does it: one thread, a warp, or a cta of some warps."""
    scope = draw(st.sampled_from(["thread", "warp", "cta"]))
    threads = {"thread": 1, "warp": 32}.get(scope) or draw(st.sampled_from([32, 64, 96, 128, 256]))
    return {"scope": scope, "threads": threads, "target": draw(st.sampled_from(TARGETS))}


@st.composite
def shapes(draw: Any, kind: str, most: int = 20) -> tuple[int, int]:
    """A shape that tiles of this kind can have."""
    if kind == "fragment":
        return draw(st.sampled_from([(8, 8), (16, 8), (8, 16), (16, 32)]))
    if kind == "swizzled":
        return draw(st.sampled_from([(8, 64), (16, 64), (8, 128)]))
    return draw(st.integers(1, most)), draw(st.one_of(st.integers(1, most), st.sampled_from([8, 16, 32, 64])))


def place(kind: str, shape: tuple[int, ...], dtype: str) -> Place:
    """A tile of a kind."""
    rows, columns = shape[0], shape[-1]
    if kind in ("global", "private"):
        return Place("local" if kind == "private" else "global", shape, dtype)
    layout = {
        "row_major": lambda: None,
        "padded": lambda: TileLayout(S[(rows, columns) : (columns + 8, 1)]),
        "columns": lambda: TileLayout(S[(rows, columns) : (1, rows)]),
        "swizzled": lambda: ComposeLayout(3, 3, 3, TileLayout(S[(rows, columns) : (columns, 1)])),
        "fragment": lambda: FRAGMENT.tile_to([rows, columns], [8, 8]),
    }[kind]()
    return Place("local" if kind == "fragment" else "shared", shape, dtype, layout)


def kinds(group: dict[str, Any], *, same: str | None = None) -> st.SearchStrategy[str]:
    """Tiles that this group of threads can hold."""
    if group["scope"] == "thread":
        return st.sampled_from(["row_major", "padded", "columns", "global", "private"])
    return st.sampled_from(LANES if group["threads"] == 32 else LANES[:-1])


def common(first: str, second: str, draw: Any) -> tuple[int, int]:
    """A shape for two kinds at once."""
    if "fragment" in (first, second) and "swizzled" in (first, second):
        return 16, 64
    special = next((kind for kind in (first, second) if kind in ("fragment", "swizzled")), "row_major")
    return draw(shapes(special))


@SWEEP
@given(st.data(), groups(), st.sampled_from(COPIED))
def test_copies(data, group, dtype):
    target, source = data.draw(kinds(group)), data.draw(kinds(group))
    shape = common(target, source, data.draw)
    check_tile_operation("copy", {"dst": place(target, shape, dtype), "src": place(source, shape, dtype)}, **group)


@SWEEP
@given(
    st.data(), groups(), st.sampled_from(sorted(COMPUTED)), st.sampled_from(["add", "sub", "mul", "maximum", "minimum"])
)
def test_elementwise(data, group, dtype, operation):
    target, first = data.draw(kinds(group)), data.draw(kinds(group))
    if "private" in (target, first) or "fragment" in (target, first):  # what a thread holds can only be computed by it
        target = first = next(kind for kind in (target, first) if kind in ("private", "fragment"))
    shape = common(target, first, data.draw)
    second = data.draw(st.sampled_from(["number", "row", "column", "tile"]))
    other = {
        "number": 3.0 if dtype.startswith(("f", "b")) else 3,
        "row": Place("shared", shape[1:], dtype),
        "column": Place("shared", (shape[0], 1), dtype),
        "tile": place("row_major", shape, dtype),
    }[second]
    tiles = {"dst": place(target, shape, dtype), "src1": place(first, shape, dtype), "src2": other}
    check_tile_operation(operation, tiles, **group, tolerance=COMPUTED[dtype])


@SWEEP
@given(st.data(), groups(), st.sampled_from(["float16", "bfloat16", "float32", "float8_e4m3fn", "float8_e5m2"]))
def test_conversions(data, group, dtype):
    kind = data.draw(kinds(group))
    shape = data.draw(shapes(kind))
    source = data.draw(st.sampled_from(["float32", "float16"]))
    check_tile_operation("cast", {"dst": place(kind, shape, dtype), "src": place(kind, shape, source)}, **group)


@SWEEP
@given(st.data(), groups(), st.sampled_from(sorted(COMPUTED)), st.sampled_from(["sum", "max", "min"]), st.booleans())
def test_reductions(data, group, dtype, operation, accum):
    axis = data.draw(st.sampled_from([0, 1]))
    kind = data.draw(kinds(group))
    shape = data.draw(shapes(kind, 40))
    result = (shape[1 - axis],)
    if kind == "private":
        target = Place("local", result, dtype)
    elif kind == "fragment" and data.draw(st.booleans()):
        target = Place("local", result, dtype, of_lines(shape, axis))
    else:
        target = Place(data.draw(st.sampled_from(["shared", "global"])), result, dtype)
    exchange = {"thread_reduce": True} if kind == "fragment" else {}
    tiles = {"dst": target, "src": place(kind, shape, dtype)}
    check_tile_operation(operation, tiles, axes=axis, accum=accum, **group, **exchange, tolerance=4 * COMPUTED[dtype])


def of_lines(shape: tuple[int, int], axis: int) -> TileLayout:
    """What is left of a fragment when rows or columns are folded: every thread of the line has it."""
    if axis == 1:
        return TileLayout(S[(shape[0] // 8, 8) : (1, 4 @ Axis.laneid)] + R[4 : 1 @ Axis.laneid])
    return TileLayout(S[(shape[1] // 8, 4, 2) : (2, 1 @ Axis.laneid, 1)] + R[8 : 4 @ Axis.laneid])
