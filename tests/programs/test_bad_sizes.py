"""Sizes and indices that no machine has, or that do not fit their type: an error at the author's line."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tirx
from tests.programs.bad import fill, traced
from tirx import script as Tx
from tirx.ir import PrimFunc
from tirx.support.errors import ArgumentError, ScriptError, SimulationError, TirxError


def launched(*extents: Any, threads: Any = 64) -> PrimFunc:
    with Tx.builder.Builder() as builder, Tx.prim_func():
        Tx.func_name("kernel")
        x = Tx.arg("x", Tx.Buffer((64,), "float32"))
        Tx.device_entry()
        Tx.cta_id(list(extents))
        tx = Tx.thread_id([threads])
        with Tx.If(tx < 64), Tx.Then():
            fill(x, tx)
    return builder.get()


@pytest.mark.parametrize(
    ("extent", "message"),
    [
        (0, "cta_id(): an extent is at least 1, not 0"),
        (-1, "cta_id(): an extent is at least 1, not -1"),
        (2.5, "cta_id(): an extent is an integer, not float32"),
        ("n", "cta_id(): an extent is an integer, not text"),
        (1 << 31, "2147483648 does not fit int32"),
        (1 << 64, "18446744073709551616 does not fit int32"),
    ],
)
def test_grids_that_cannot_be(extent: Any, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        launched(extent)
    assert message in str(caught.value)
    assert "test_bad_sizes.py" in str(caught.value)


@pytest.mark.parametrize("threads", [1025, 1 << 20, (1 << 31) - 1])
def test_more_threads_than_the_target_has(threads: int) -> None:
    with pytest.raises(TirxError, match=f"{threads} threads in a cta: target `generic` allows 1024"):
        tirx.compile(launched(1, threads=threads), "generic")


@pytest.mark.needs("tirx-backend-cuda")
def test_more_blocks_than_an_axis_has() -> None:
    with pytest.raises(TirxError, match=r"the extent 70000 of axis cta\.y is over the 65535 of target `cuda`"):
        tirx.compile(launched(4, 70000), "cuda")


@Tx.prim_func
def as_many_blocks(x: Tx.Buffer((64,), "float32"), n: Tx.int32):
    Tx.device_entry()
    bx = Tx.cta_id([n])
    tx = Tx.thread_id([64])
    if bx == 0:
        x[tx] = 1.0


@pytest.mark.parametrize("n", [0, -5])
def test_grids_of_the_call_that_cannot_be(n: int) -> None:
    x = np.zeros(64, np.float32)
    with pytest.raises(SimulationError, match=re.escape(f"`as_many_blocks_kernel` is launched with extents ({n}, 64)")):
        tirx.simulate(as_many_blocks, x, n, target="generic")
    assert not x.any()


@pytest.mark.parametrize("n", [1 << 31, 1 << 70, -(1 << 31) - 1])
def test_numbers_that_do_not_fit_their_type(n: int) -> None:
    with pytest.raises(ArgumentError, match=r"expected int32 \(-2147483648 to 2147483647\)"):
        tirx.simulate(as_many_blocks, np.zeros(64, np.float32), n, target="generic")


@pytest.mark.parametrize("size", [1 << 20, 1 << 31, 1 << 62])
def test_more_shared_memory_than_there_is(size: int) -> None:
    def body(x: Any, tx: Any) -> None:
        tile = Tx.alloc_shared((size,), "float32")
        Tx.buffer_store(tile, x[tx], [tx])

    with pytest.raises(TirxError, match=f"{size * 4} bytes of shared memory in a cta") as caught:
        tirx.compile(traced(body), "generic")
    assert "test_bad_sizes.py" in str(caught.value)


@pytest.mark.parametrize("shape", [(-1,), (1.5,), (None,), ((4,),)])
def test_dimensions_that_cannot_be(shape: Any) -> None:
    with pytest.raises(ScriptError, match=r"is not a dimension of |is not a kernel value"):
        traced(lambda x, tx: Tx.alloc_shared(shape, "float32"))


def test_memory_without_elements() -> None:
    with pytest.raises(TirxError, match="in shared memory has no elements"):
        tirx.compile(traced(lambda x, tx: (Tx.alloc_shared((0,), "float32"), fill(x, tx))), "generic")


@pytest.mark.parametrize("index", [64, 1 << 31, 1 << 40, -1])
def test_constant_indices_outside(index: int) -> None:
    with pytest.raises(TirxError) as caught:
        tirx.compile(traced(lambda x, tx: Tx.buffer_store(x, 1.0, [index])), "generic")
    assert re.search("outside dimension 0 of `x`|does not fit int32", str(caught.value))


@Tx.prim_func
def sparse(x: Tx.Buffer((1 << 20, 1 << 20), "int8")):
    Tx.device_entry()
    bx = Tx.cta_id([1 << 10])
    tx = Tx.thread_id([64])
    x[bx * 1024, tx] = Tx.int8(1)


@pytest.mark.needs("tirx-backend-cuda")
def test_flat_indices_beyond_32_bits_are_computed_in_64() -> None:
    text = tirx.compile(sparse, "cuda").source.text
    assert re.search(r"\(long long\).*1048576LL", text)


def test_arrays_that_do_not_fit_are_refused_before_anything_runs() -> None:
    with pytest.raises(ArgumentError, match=r"expected shape \(1048576, 1048576\), got \(1, 1\)"):
        tirx.simulate(sparse, np.zeros((1, 1), np.int8), target="generic")


def test_indices_that_overflow_the_type_they_are_computed_in() -> None:
    with Tx.builder.Builder() as builder, Tx.prim_func():
        Tx.func_name("kernel")
        x = Tx.arg("x", Tx.Buffer((1 << 33,), "int8"))
        Tx.device_entry()
        block, tx = Tx.cta_id([1 << 23]), Tx.thread_id([1024])
        Tx.buffer_store(x, Tx.int8(1), [block * 1024 + tx])
    with pytest.raises(TirxError, match="of `x` reaches 8589934591, and int32 ends at 2147483647"):
        tirx.compile(builder.get(), "generic")
