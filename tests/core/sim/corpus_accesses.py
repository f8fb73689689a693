"""Faulty kernels with their corrected twins: bounds, initialisation, alignment, lanes, arithmetic."""

from __future__ import annotations

import numpy as np

from tests.core.sim.corpus import fault, grid
from tirx import script as Tx


@fault("uninitialised")
def shared_that_nobody_wrote(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        if not bad:
            s[tx] = 1.0
            Tx.tvm_storage_sync("shared")
        B[tx] = s[tx]

    return kernel, np.zeros(64, "f4")


@fault("uninitialised")
def a_value_in_a_branch(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((1,), "int32")
        if tx == 0 and not bad:
            s[0] = 1
        Tx.tvm_storage_sync("shared")
        if s[0] > 0:
            B[tx] = 1

    return kernel, np.zeros(64, "i4")


@fault("uninitialised")
def half_of_shared_written(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        if tx < 32 or not bad:
            s[tx] = 1.0
        Tx.tvm_storage_sync("shared")
        B[tx] = s[63 - tx]

    return kernel, np.zeros(64, "f4")


@fault("uninitialised")
def a_scalar_set_in_one_branch(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        v = Tx.alloc_local((1,), "float32")
        if not bad:
            v[0] = 0.0
        if tx % 2 == 0:
            v[0] = 1.0
        B[tx] = v[0]

    return kernel, np.zeros(64, "f4")


@fault("uninitialised")
def the_end_of_a_local_array(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        v = Tx.alloc_local((4,), "float32")
        for i in range(3 if bad else 4):
            v[i] = 1.0
        total: Tx.float32 = 0.0
        for i in range(4):
            total = total + v[i]
        B[tx] = total

    return kernel, np.zeros(64, "f4")


@fault("uninitialised")
def half_a_vector(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((4,), "float32")):
        Tx.device_entry()
        Tx.thread_id([1])
        s = Tx.alloc_shared((4,), "float32")
        for i in range(2 if bad else 4):
            s[i] = 1.0
        B.vstore([0], s.vload([0], "float32x4"))

    return kernel, np.zeros(4, "f4")


@fault("out_of_bounds")
def past_the_end(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((100,), "float32"), B: Tx.Buffer((100,), "float32")):
        Tx.device_entry()
        bx = Tx.cta_id([2])
        tx = Tx.thread_id([64])
        i = bx * 64 + tx
        if i < 100 or bad:
            B[i] = A[i]

    return kernel, grid(100), np.zeros(100, "f4")


@fault("out_of_bounds")
def through_a_longer_name(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32"), n: Tx.int32):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        longer = Tx.decl_buffer((128,), "float32", data=A.data)
        B[tx] = longer[tx + n]

    return kernel, grid(64), np.zeros(64, "f4"), int(bad)


@fault("out_of_bounds")
def into_the_memory_behind(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        first, second = Tx.alloc_shared((32,), "int32"), Tx.alloc_shared((32,), "int32")
        first[tx] = 1
        second[tx] = 2
        Tx.tvm_storage_sync("shared")
        both = Tx.decl_buffer((64,), "int32", data=first.data, scope="shared")
        B[tx] = both[(tx + B[tx]) if bad else tx]

    return kernel, np.full(32, 8, "i4")


@fault("assertion")
def more_dynamic_memory_than_there_is(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((32,), "int32"), n: Tx.int32):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        s = Tx.alloc_buffer((n,), "int32", scope="shared.dyn")
        s[tx] = tx
        B[tx] = s[tx]

    return kernel, np.zeros(32, "i4"), 1 << (20 if bad else 8)


@fault("out_of_bounds")
def index_minus_one(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        if tx > 0 or bad:
            B[tx] = A[tx - 1]

    return kernel, grid(64), np.zeros(64, "f4")


@fault("out_of_bounds")
def column_past_its_row(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((4, 8), "float32"), B: Tx.Buffer((4, 8), "float32")):
        Tx.device_entry()
        r, c = Tx.thread_id([4, 8])
        B[r, c] = A[r, c + 1] if bad else A[r, c]

    return kernel, grid(4, 8), np.zeros((4, 8), "f4")


@fault("out_of_bounds")
def rows_and_columns_swapped(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((4, 8), "float32"), B: Tx.Buffer((8, 4), "float32")):
        Tx.device_entry()
        r, c = Tx.thread_id([4, 8])
        if bad:
            B[r, c] = A[r, c]
        else:
            B[c, r] = A[r, c]

    return kernel, grid(4, 8), np.zeros((8, 4), "f4")


@fault("out_of_bounds")
def shared_too_small(bad):
    size = 32 if bad else 64

    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((size,), "float32")
        s[tx] = A[tx]
        B[tx] = s[tx]

    return kernel, grid(64), np.zeros(64, "f4")


@fault("out_of_bounds")
def an_index_from_data(bad):
    @Tx.prim_func
    def kernel(I: Tx.Buffer((8,), "int32"), A: Tx.Buffer((8,), "float32"), B: Tx.Buffer((8,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        B[tx] = A[I[tx]]

    index = np.arange(8, dtype="i4")
    index[5] = 8 if bad else 0
    return kernel, index, grid(8), np.zeros(8, "f4")


@fault("out_of_bounds")
def a_local_array_of_four(bad):
    @Tx.prim_func
    def kernel(I: Tx.Buffer((8,), "int32"), B: Tx.Buffer((8,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        v = Tx.alloc_local((4,), "float32")
        for i in range(4):
            v[i] = 1.0
        B[tx] = v[I[tx]]

    return kernel, (np.arange(8) % (5 if bad else 4)).astype("i4"), np.zeros(8, "f4")


@fault("out_of_bounds")
def a_vector_past_the_end(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((16,), "float32"), B: Tx.Buffer((20,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([5 if bad else 4])
        B.vstore([tx * 4], A.vload([tx * 4], "float32x4"))

    return kernel, grid(16), np.zeros(20, "f4")


@fault("out_of_bounds")
def a_runtime_length(bad):
    @Tx.prim_func
    def kernel(a: Tx.handle, n: Tx.int32):
        A = Tx.match_buffer(a, (n,), "float32")
        Tx.device_entry()
        bx = Tx.cta_id([Tx.ceildiv(n, 32)])
        tx = Tx.thread_id([32])
        if bx * 32 + tx < n or bad:
            A[bx * 32 + tx] = 1.0

    return kernel, np.zeros(70, "f4"), 70


@fault("misaligned")
def a_vector_at_an_odd_place(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        B.vstore([tx * 4], A.vload([tx * 4 + (1 if bad else 4)], "float32x4"))

    return kernel, grid(64), np.zeros(64, "f4")


@fault("misaligned")
def a_shared_vector_behind_one_float(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        s = Tx.alloc_shared((36,), "float32")
        for i in range(4):
            s[tx * 4 + i + (2 if bad else 4)] = 1.0
        B.vstore([tx * 4], s.vload([tx * 4 + (2 if bad else 4)], "float32x4"))

    return kernel, np.zeros(32, "f4")


@fault("misaligned")
def a_run_of_neighbours_where_elements_with_gaps_are_right(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        B[Tx.ramp(tx, 8, 4)] = A[Tx.ramp(tx + 1, 1 if bad else 8, 4)]

    return kernel, grid(64), np.zeros(64, "f4")


@fault("misaligned")
def a_vector_of_halves(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float16"), B: Tx.Buffer((64,), "float16")):
        Tx.device_entry()
        tx = Tx.thread_id([4])
        B.vstore([tx * 8], A.vload([tx * (4 if bad else 8)], "float16x8"))

    return kernel, np.ones(64, "f2"), np.zeros(64, "f2")


@fault("absent_lane")
def a_shuffle_by_half_a_warp(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        if tx < 16 or not bad:
            B[tx] = Tx.tvm_warp_shuffle_xor(Tx.uint32(0xFFFFFFFF), tx, 16, 32, 32)

    return kernel, np.zeros(32, "i4")


@fault("absent_lane")
def a_mask_that_leaves_threads_out(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        B[tx] = Tx.tvm_warp_shuffle_xor(Tx.uint32(0xFFFF if bad else 0xFFFFFFFF), tx, 1, 32, 32)

    return kernel, np.zeros(32, "i4")


@fault("division_by_zero")
def a_divisor_from_data(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "int32"), B: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        if A[tx] != 0 or bad:
            B[tx] = 100 // A[tx]

    return kernel, np.arange(8, dtype="i4"), np.zeros(8, "i4")


@fault("assumption")
def a_promise_that_does_not_hold(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        Tx.evaluate(Tx.assume(tx < (7 if bad else 8)))
        A[tx] = tx

    return kernel, np.zeros(8, "i4")


@fault("livelock")
def a_loop_without_an_end(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        i: Tx.int32 = 0
        while i < 10:
            if not bad:
                i = i + 1
            else:
                A[tx] = 0
        A[tx] = i

    return kernel, np.zeros(8, "i4")


@fault("assertion")
def an_assertion_of_the_kernel(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "int32"), B: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        assert A[tx] >= 0, "counts are not negative"
        B[tx] = A[tx]

    return kernel, np.array([0, 1, 2, -3 if bad else 3, 4, 5, 6, 7], "i4"), np.zeros(8, "i4")


@fault("uninitialised")
def memory_behind_a_pointer(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        s = Tx.alloc_shared((16,), "int32")
        s[tx] = tx
        Tx.tvm_storage_sync("shared")
        p = Tx.address_of(s[8 if bad else 0])
        v = Tx.decl_buffer((8,), "int32", data=p, scope="shared")
        B[tx] = v[tx]

    return kernel, np.zeros(8, "i4")


@fault("out_of_bounds")
def a_pointer_past_its_array(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "int32"), B: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([8])
        B[tx] = Tx.masked_load("int32", Tx.ptr_byte_offset(A.data, tx * 4 + (8 if bad else 0), "int32"), tx < 8)

    return kernel, np.arange(8, dtype="i4"), np.zeros(8, "i4")
