"""Random programs: the simulator and the executed file agree on every bit, whatever layout the tiles have."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trn.build import kernel, lowered, run, sbuf, source_of
from tests.trn.lint import complaints
from tirx.ir import Buffer, BufferRegion, Call, PrimFunc
from tirx.sim.executor import simulate_module
from tirx.target import Target
from tirx_trn import script as nki
from tirx_trn.box import box_of
from tirx_trn.layout import trainium
from tirx_trn.opcodes import ARITHMETIC, OPCODES, REDUCTIONS

# Letters and shape of the tiles of a program: 16 to 256 rows, one or two free dimensions, rows first or second.
LAYOUTS = [("PF", (16, 6)), ("PF", (256, 4)), ("FPF", (3, 64, 2)), ("PFF", (32, 2, 3)), ("PPF", (2, 32, 4))]
COMPARE = [lambda a, b: a >= b, lambda a, b: a < b, lambda a, b: a == b]
small = st.sampled_from([-2.0, -0.5, 0.25, 1.0, 3.0])
flags, opcodes = st.booleans(), st.sampled_from([name for name in ARITHMETIC if OPCODES[name].since == "v2"])


@st.composite
def instruction(draw: Any, tiles: list[Buffer]) -> Call:
    """One instruction on whole tiles or the same part of each."""
    part = draw(parts(tiles[0].shape))
    a, b, c = (draw(st.sampled_from(tiles))[part] for _ in range(3))
    kind = draw(
        st.sampled_from(
            ["copy", "set", "two", "scalar", "fused", "scalars", "exp", "select", "scan", "places", "range"]
        )
    )
    if kind == "copy":
        return nki.tensor_copy(a, b)
    if kind == "set":
        return nki.memset(a, draw(st.integers(-5, 5)) if a.buffer.dtype.is_integer else draw(small))
    if kind == "two":
        return nki.tensortensor(a, b, c, draw(opcodes))
    if kind == "scalar":
        return nki.tensorscalar(a, b, draw(small), draw(opcodes), draw(flags))
    if kind == "fused":
        return nki.scalar_tensor_tensor(a, b, draw(small), c, draw(opcodes), draw(opcodes), draw(flags), draw(flags))
    if kind == "scalars":
        return nki.scalar_tensor_scalar(
            a, b, draw(small), draw(small), draw(opcodes), draw(opcodes), draw(flags), draw(flags)
        )
    if kind == "scan":
        return nki.tensor_tensor_scan(
            a, b, c, draw(small), "max", draw(st.sampled_from(["min", "add"])), draw(flags), draw(flags)
        )
    if kind == "places":
        return nki.iota(
            a, [[draw(st.integers(-2, 2)), box_of(a).free]], draw(st.integers(-3, 3)), draw(st.integers(-2, 2))
        )
    if kind == "range":
        bound = a.buffer[(*(slice(None) for _ in a.buffer.shape[:-1]), slice(0, 1))]
        comparisons = st.sampled_from(["less", "greater_equal", "not_equal"])
        if box_of(bound).free == 1 and a.buffer.dtype.name == "float32":
            return nki.range_select(
                a, b, draw(comparisons), draw(comparisons), bound, bound, range_start=draw(st.integers(-2, 2))
            )
    if kind == "exp":
        return nki.activation(a, b, "exp", draw(small), 0.125)
    return nki.affine_select(a, predicate(draw, a), b, draw(small))


def predicate(draw: Any, region: BufferRegion) -> Any:
    """A linear comparison of the region's indices; it grows evenly along dimensions that share the partitions."""
    factors = [draw(st.integers(-2, 2)) for _ in region.buffer.shape]
    if region.buffer.shape == (2, 32, 4):
        factors[0] = 32 * factors[1]
    form: Any = draw(st.integers(-3, 3))
    for dim, factor in enumerate(factors):
        form = nki.index(dim) * factor + form
    return draw(st.sampled_from(COMPARE))(form, draw(st.integers(-4, 4)))


@st.composite
def parts(draw: Any, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """All of a tile, or some elements of its last dimension."""
    start = draw(st.integers(0, shape[-1] - 1))
    stop = draw(st.integers(start + 1, shape[-1]))
    whole = draw(st.booleans())
    return (*(slice(None) for _ in shape[:-1]), slice(None) if whole else slice(start, stop))


@st.composite
def programs(draw: Any) -> PrimFunc:
    """Two tiles are loaded, worked on, and stored with a third one and a sum."""
    letters, shape = draw(st.sampled_from(LAYOUTS))
    a, b, c = (Buffer(name, shape) for name in "abc")
    dtype = draw(st.sampled_from(["float32", "float32", "bfloat16", "int32", "int8"]))
    tiles = [sbuf(name, *shape, dtype=dtype, layout=trainium(letters, shape)) for name in ("x", "y", "z")]
    body = [draw(instruction(tiles)) for _ in range(draw(st.integers(1, 6)))]
    total = sbuf("total", *shape[:-1], 1, layout=trainium(letters, (*shape[:-1], 1)))
    reduced = nki.tensorreduce(total, tiles[0], draw(st.sampled_from(REDUCTIONS)), draw(flags), -1)
    sums = Buffer("sums", (*shape[:-1], 1))
    loads = [nki.load(tiles[0], a), nki.load(tiles[1], b), nki.memset(tiles[2], 1)]
    stores = [nki.store(c, tiles[draw(st.integers(0, 2))]), nki.store(sums, total)]
    return kernel("program", [a, b, c, sums], *tiles, total, *loads, *body, reduced, *stores)


@pytest.mark.slow
@settings(max_examples=80)
@given(programs(), st.integers(0, 2**32 - 1), st.sampled_from(["trn", "trn -allocation=explicit"]))
def test_simulator_and_file_agree(func: PrimFunc, seed: int, target: str) -> None:
    shape = func.buffers()[0].shape
    rng = np.random.default_rng(seed)
    inputs = [rng.integers(-8, 9, shape).astype(np.float32) / 4 for _ in range(2)]
    results = [np.zeros(shape, np.float32), np.zeros((*shape[:-1], 1), np.float32)]
    assert simulate_module(lowered(func, target), [*inputs, *results], Target(target)).verdict == "clean"
    assert complaints(source_of(func, target)) == []
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        executed = run(func, Path(folder), *inputs, target=target)
    for ours, theirs in zip(results, executed, strict=True):
        np.testing.assert_array_equal(ours, theirs)
