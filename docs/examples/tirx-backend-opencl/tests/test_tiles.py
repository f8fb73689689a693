"""Tile operations: core's neutral variants, and the group's own copies."""

from __future__ import annotations

import numpy as np

import tirx
from tirx import script as Tx


def test_a_product_of_tiles_with_copies_under_way(agree):
    """While a group multiplies one step of K, `async_work_group_copy` brings the next."""

    @Tx.prim_func
    def product(
        A: Tx.Buffer((64, 64), "float32"), B: Tx.Buffer((64, 64), "float32"), C: Tx.Buffer((64, 64), "float32")
    ):
        Tx.device_entry()
        bx, by = Tx.cta_id([2, 2])
        Tx.thread_id([64])
        a = Tx.alloc_shared((2, 32, 16), "float32")
        b = Tx.alloc_shared((2, 16, 32), "float32")
        c = Tx.alloc_shared((32, 32), "float32")
        Tx.cta.fill(c, 0.0)
        Tx.cta.copy_async(a[0, :, :], A[by * 32 : by * 32 + 32, 0:16])
        Tx.cta.copy_async(b[0, :, :], B[0:16, bx * 32 : bx * 32 + 32])
        for k in Tx.serial(4):
            Tx.opencl.wait_group_events()
            Tx.opencl.barrier()
            if k < 3:
                after: Tx.let = (k + 1) * 16
                Tx.cta.copy_async(a[(k + 1) % 2, :, :], A[by * 32 : by * 32 + 32, after : after + 16])
                Tx.cta.copy_async(b[(k + 1) % 2, :, :], B[after : after + 16, bx * 32 : bx * 32 + 32])
            Tx.cta.gemm(c, a[k % 2, :, :], b[k % 2, :, :], c, beta=1.0)
        Tx.opencl.barrier()
        Tx.cta.copy(C[by * 32 : by * 32 + 32, bx * 32 : bx * 32 + 32], c)

    chosen = {item.call.op.name: item.chosen.variant.name for item in tirx.explain(product, "opencl").decisions}
    assert chosen["copy_async"] == "work_group"
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (64, 64)).astype(np.float32) for _ in range(2))
    _, _, c = agree(product, a, b, np.zeros((64, 64), np.float32))
    np.testing.assert_array_equal(c, a @ b)


def test_the_groups_copy_can_be_asked_for(agree):
    @Tx.prim_func
    def copied(x: Tx.Buffer((8, 32), "float16"), y: Tx.Buffer((8, 32), "float16")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([64])
        tile = Tx.alloc_shared((8, 32), "float16")
        Tx.cta.copy(tile, x, dispatch="work_group")
        Tx.cta.mul(tile, tile, 2.0)
        Tx.opencl.barrier()
        Tx.cta.copy(y, tile, dispatch="work_group")

    x = np.random.default_rng(2).standard_normal((8, 32)).astype(np.float16)
    _, y = agree(copied, x, np.zeros_like(x))
    np.testing.assert_array_equal(y, x * 2)
    assert "copies = async_work_group_copy(" in tirx.compile(copied, "opencl").source.text


def chosen(kernel):
    return [item.chosen.variant.name for item in tirx.explain(kernel, "opencl").decisions]


def test_rows_that_begin_anywhere_are_copied_in_vectors(agree):
    """A tile without its edge: no row begins where a plain vector could."""

    @Tx.prim_func
    def inner(x: Tx.Buffer((34, 66), "float32"), y: Tx.Buffer((32, 64), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([96])
        tile = Tx.alloc_shared((32, 66), "float32")
        Tx.cta.copy(tile[:, 1:65], x[1:33, 1:65])
        Tx.opencl.barrier()
        Tx.cta.copy(y, tile[:, 1:65])

    assert chosen(inner) == ["vload", "vload"]
    assert "vstore4(vload4(0, &x[" in tirx.compile(inner, "opencl").source.text
    x = np.random.default_rng(4).standard_normal((34, 66), dtype=np.float32)
    _, y = agree(inner, x, np.zeros((32, 64), np.float32))
    np.testing.assert_array_equal(y, x[1:33, 1:65])


def test_bytes_are_copied_sixteen_at_a_time(agree):
    @Tx.prim_func
    def shifted(x: Tx.Buffer((5, 97), "uint8"), y: Tx.Buffer((5, 97), "uint8")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([32])
        Tx.cta.copy(y[:, 0:96], x[:, 1:97])

    assert "vload16" in tirx.compile(shifted, "opencl").source.text
    x = np.random.default_rng(5).integers(0, 256, (5, 97)).astype(np.uint8)
    _, y = agree(shifted, x, np.zeros_like(x))
    np.testing.assert_array_equal(y[:, :96], x[:, 1:])


def test_plain_vectors_come_first_where_they_are_as_wide():
    @Tx.prim_func
    def aligned(x: Tx.Buffer((8, 64), "float32"), y: Tx.Buffer((8, 64), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([32])
        Tx.cta.copy(y, x)

    assert chosen(aligned) == ["vec_auto"]
    text = str(tirx.explain(aligned, "opencl"))
    assert "plain vectors are as wide (row=64, plain=4)" in text


def test_reductions_over_a_warp_and_a_group(agree):
    @Tx.prim_func
    def reduced(
        x: Tx.Buffer((16, 96), "float32"), largest: Tx.Buffer((16,), "float32"), sums: Tx.Buffer((96,), "float32")
    ):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([128])
        tile = Tx.alloc_shared((16, 96), "float32")
        rows = Tx.alloc_shared((16,), "float32")
        columns = Tx.alloc_shared((96,), "float32")
        Tx.cta.copy(tile, x)
        Tx.opencl.barrier()
        Tx.cta.max(rows, tile, axes=1)
        Tx.cta.sum(columns, tile, axes=0)
        Tx.opencl.barrier()
        Tx.cta.copy(largest, rows)
        Tx.cta.copy(sums, columns)

    x = np.random.default_rng(3).integers(-100, 100, (16, 96)).astype(np.float32)
    _, largest, sums = agree(reduced, x, np.zeros(16, np.float32), np.zeros(96, np.float32))
    np.testing.assert_array_equal(largest, x.max(1))
    np.testing.assert_array_equal(sums, x.sum(0))


def test_refusals_say_why():
    @Tx.prim_func
    def strided(x: Tx.Buffer((64, 32), "float32"), y: Tx.Buffer((32, 64), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([64])
        tile = Tx.alloc_shared((32, 64), "float32", layout=tirx.layout.TileLayout(tirx.layout.S[(32, 64) : (1, 32)]))
        Tx.cta.copy(tile, y)

    text = str(tirx.explain(strided, "opencl"))
    assert "`work_group`" in text
    assert "a row does not lie together on both sides" in text
