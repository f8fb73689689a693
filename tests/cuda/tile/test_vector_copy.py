"""`copy` of one vector by its width, `copy_async` by `cp.async`: simulated, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.support.errors import DispatchError
from tirx.testing.operations import Place, check_tile_operation

ONE = {"scope": "thread", "threads": 1}


def single(bits, dtype):
    return bits // tirx.ir.DType(dtype).bits


@pytest.mark.parametrize("dtype", ["float16", "float32", "uint8", "float64", "bfloat16"])
@pytest.mark.parametrize("width", [16, 32, 64, 128, 256])
@pytest.mark.parametrize(("target", "source"), [("local", "global"), ("shared", "global"), ("global", "local")])
def test_widths(dtype, width, target, source):
    count = single(width, dtype)
    if count == 0:
        pytest.skip("an element is wider")
    if width == 256 and "shared" in (target, source):
        pytest.skip("vectors of 256 bits are for global memory")
    places = {"dst": Place(target, (count,), dtype), "src": Place(source, (count,), dtype)}
    check_tile_operation("copy", places, **ONE, target="cuda -arch=sm_100a", dispatch=f"vec_{width}b")


def source_of(target="cuda -arch=sm_100a", **keywords):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64, 4), "float32"), B: Tx.Buffer((64, 4), "float32")):
        Tx.device_entry()
        t = Tx.thread_id([64])
        Tx.tile.copy(B[t, :], A[t, :], **keywords)

    return str(tirx.compile(kernel, target).source)


def test_cache_operators_and_priorities():
    text = source_of(dispatch="vec_128b", cache="nc", l1_evict="no_allocate", prefetch_size=128)
    assert "ld.global.nc.L1::no_allocate.L2::128B.v4.b32 {%0, %1, %2, %3}, [%4];" in text
    assert "st.global.L1::no_allocate.v4.b32 [%0], {%1, %2, %3, %4};" in text


def test_only_on_request():
    assert "asm" not in source_of()


def refused(**keywords):
    with pytest.raises(DispatchError) as raised:
        source_of(**keywords)
    return " ".join(str(raised.value).split())


def test_refusals_say_why():
    assert "`B` is not one vector of 64 bits (bits=128)" in refused(dispatch="vec_64b")
    assert "cache='l9'" in refused(dispatch="vec_128b", cache="l9") or "nc" in refused(dispatch="vec_128b", cache="l9")


@pytest.mark.parametrize("dtype", ["float16", "float32", "uint8"])
@pytest.mark.parametrize("shape", [(16, 32), (7, 12)])
def test_cp_async_is_seen_after_the_wait(dtype, shape):
    rows, columns = shape

    @Tx.prim_func
    def kernel(A: Tx.Buffer((rows, columns), dtype), B: Tx.Buffer((rows, columns), dtype)):
        Tx.device_entry()
        Tx.thread_id([64])
        tile = Tx.alloc_shared((rows, columns), dtype)
        Tx.cta.copy_async(tile, A)
        Tx.ptx.cp.async_.commit_group()
        Tx.ptx.cp.async_.wait_group(0)
        Tx.tvm_storage_sync("shared")
        Tx.cta.copy(B, tile)

    a = (np.arange(rows * columns).reshape(shape) % 100).astype(dtype)
    b = np.zeros_like(a)
    report = tirx.simulate(kernel, a, b, target="cuda -arch=sm_80")
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("fill", [None, "zero"])
def test_cp_async_under_a_predicate(fill):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64, 4), "float32"), B: Tx.Buffer((64, 4), "float32")):
        Tx.device_entry()
        t = Tx.thread_id([64])
        tile = Tx.alloc_shared((64, 4), "float32")
        Tx.tile.fill(tile[t, :], 7.0)
        Tx.tile.copy_async(tile[t, :], A[t, :], direct=True, predicate=t < 48, fill_mode=fill)
        Tx.ptx.cp.async_.wait_all()
        Tx.tile.copy(B[t, :], tile[t, :])

    a = np.arange(256, dtype="float32").reshape(64, 4)
    b = np.zeros_like(a)
    report = tirx.simulate(kernel, a, b, target="cuda -arch=sm_80")
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(b[:48], a[:48])
    np.testing.assert_array_equal(b[48:], 0 if fill else 7)


def refused_async(dst, src, target="cuda -arch=sm_80", **keywords):
    with pytest.raises(DispatchError) as raised:
        check_tile_operation("copy_async", {"dst": dst, "src": src}, target=target, dispatch="ldgsts", **keywords)
    return " ".join(str(raised.value).split())


def test_refusals_of_cp_async_say_why():
    there, here = Place("shared", (8, 8)), Place("global", (8, 8))
    assert "cp.async copies from global to shared memory (dst=global, src=shared)" in refused_async(here, there)
    assert "the architecture lacks cp.async (arch=sm_75, since=sm_80)" in refused_async(there, here, "cuda -arch=sm_75")
    bytes_ = Place("shared", (8, 3), "uint8"), Place("global", (8, 3), "uint8")
    assert "no vectors of 4, 8 or 16 bytes lie together and aligned on both sides" in refused_async(*bytes_)
    assert "`direct` is one instruction in thread scope (scope=cta" in refused_async(there, here, direct=True)
    assert "`fill_mode` says what happens where `predicate` does not hold" in refused_async(
        there, here, fill_mode="zero"
    )


def test_vectors_of_several_threads_are_refused():
    places = {"dst": Place("shared", (4,)), "src": Place("global", (4,))}
    with pytest.raises(DispatchError, match=r"one vector is one thread's work: call it in thread scope \(scope=cta\)"):
        check_tile_operation("copy", places, target="cuda -arch=sm_80", dispatch="vec_128b")


def test_keywords_of_variants_that_are_asked_for_by_name():
    message = refused(cache="nc")
    assert "Tx.tile.copy on cuda does not know the keyword `cache`" in message
    assert 'it takes no keywords; with dispatch="vec_128b" also cache, l1_evict, l2_evict, prefetch_size' in message
