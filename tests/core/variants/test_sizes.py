"""Sizes that only the launch knows, and sizes whose addresses do not fit into 32 bits."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.layout import S, TileLayout

pytestmark = pytest.mark.needs("tirx-backend-cuda")  # warpgroups, and addresses as source shows them

CUDA = "cuda -arch=sm_90a"
SIZES = [1, 5, 31, 32, 33, 70]


def rows_of(operation, integer):
    """A kernel over `n` rows of 24, one cta."""

    @Tx.prim_func
    def kernel(a: Tx.handle, b: Tx.handle, c: Tx.handle):
        n = getattr(Tx, integer)()
        A = Tx.match_buffer(a, (n, 24), "float32")
        B = Tx.match_buffer(b, (n, 24), "float32")
        C = Tx.match_buffer(c, (n,), "float32")
        Tx.device_entry()
        Tx.thread_id([64])
        operation(A, B, C)

    return kernel


def copied(A, B, C):
    Tx.cta.copy(B, A)


def added(A, B, C):
    Tx.cta.add(B, A, 1.0)


def stretched(A, B, C):
    Tx.cta.mul(B, A, A[:, 3:4])


def summed(A, B, C):
    Tx.cta.sum(C, A)


def columns_summed(A, B, C):
    Tx.cta.sum(B[0, :], A, axes=0)


MEANINGS = {
    copied: lambda a, b, c: b.__setitem__(slice(None), a),
    added: lambda a, b, c: b.__setitem__(slice(None), a + 1),
    stretched: lambda a, b, c: b.__setitem__(slice(None), a * a[:, 3:4]),
    summed: lambda a, b, c: c.__setitem__(slice(None), a.sum(axis=1)),
    columns_summed: lambda a, b, c: b.__setitem__(0, a.sum(axis=0)),
}


@pytest.mark.parametrize("integer", ["int32", "int64"])
@pytest.mark.parametrize("operation", MEANINGS, ids=lambda item: item.__name__)
@pytest.mark.parametrize("target", ["generic", CUDA])
def test_rows_that_the_launch_counts(operation, integer, target):
    kernel = rows_of(operation, integer)
    for n in SIZES:
        a = np.random.default_rng(n).integers(0, 9, (n, 24)).astype("float32")
        b, c = np.zeros_like(a), np.zeros(n, "float32")
        wanted = [item.copy() for item in (a, b, c)]
        MEANINGS[operation](*wanted)
        report = tirx.simulate(kernel, a, b, c, target=target)
        assert report.verdict == "clean", str(report)
        np.testing.assert_array_equal(b, wanted[1])
        np.testing.assert_array_equal(c, wanted[2])


@pytest.mark.parametrize("integer", ["int32", "int64"])
def test_a_row_whose_length_the_launch_knows(integer):
    @Tx.prim_func
    def kernel(a: Tx.handle, b: Tx.handle):
        m = getattr(Tx, integer)()
        A = Tx.match_buffer(a, (3, m), "float32")
        B = Tx.match_buffer(b, (3, m), "float32")
        Tx.device_entry()
        row = Tx.cta_id([3])
        Tx.thread_id([64])
        Tx.cta.exp2(B[row, :], A[row, :])

    for m in SIZES:
        a = np.random.default_rng(m).integers(0, 9, (3, m)).astype("float32")
        b = np.zeros_like(a)
        report = tirx.simulate(kernel, a, b, target=CUDA)
        assert report.verdict == "clean", str(report)
        np.testing.assert_array_equal(b, np.exp2(a))


def body(kernel):
    return " ".join(str(tirx.compile(kernel, CUDA).source).split())


def test_vectors_at_addresses_of_64_bits():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((65536, 65536), "float16"), B: Tx.Buffer((65536, 65536), "float16")):
        Tx.device_entry()
        row = Tx.cta_id([65536])
        Tx.thread_id([128])
        Tx.cta.add(B[row, :], A[row, :], 1.0)

    text = body(kernel)
    assert "long long index = (long long)row * 65536LL + (long long)(i * 1024 + tx * 8);" in text
    assert "*(float16x8*)&B[index] = *(float16x8*)&A[index] + half(1.0f);" in text


def test_strides_of_64_bits():
    wide = TileLayout(S[(64, 64) : (100_000_000, 1)])

    @Tx.prim_func
    def kernel(A: Tx.Buffer((64, 64), "float32", layout=wide), B: Tx.Buffer((64, 64), "float32")):
        Tx.device_entry()
        Tx.thread_id([128])
        Tx.cta.copy(B, A)
        Tx.cta.sum(B[:, 0], A)

    text = body(kernel)
    assert "*(float4*)&A[(long long)(i * 8 + (tx >> 4)) * 100000000LL + (long long)((tx & 15) * 4)]" in text
    row, column = r"\(long long\)\(\w+ \* 4 \+ \(tx >> 5\)\)", r"\(long long\)\(\w+ \* 32 \+ \(tx & 31\)\)"
    assert re.search(rf"A\[{row} \* 100000000LL \+ {column}\]", text)
