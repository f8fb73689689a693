"""Faulty kernels with their corrected twins: races and barriers."""

from __future__ import annotations

import numpy as np

from tests.core.sim.corpus import fault, grid
from tirx import script as Tx


@fault("race")
def missing_barrier(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        s[tx] = A[tx]
        if not bad:
            Tx.tvm_storage_sync("shared")
        B[tx] = s[63 - tx]

    return kernel, grid(64), np.zeros(64, "f4")


@fault("race")
def everybody_writes_one_word(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((1,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([32])
        if bad:
            A[0] = 1
        else:
            if bx == 0 and tx == 0:
                A[0] = 1

    return kernel, np.zeros(1, "i4")


@fault("race")
def write_after_read(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        s[tx] = A[tx]
        Tx.tvm_storage_sync("shared")
        v: Tx.float32 = s[63 - tx]
        if not bad:
            Tx.tvm_storage_sync("shared")
        s[tx] = v + 1.0
        Tx.tvm_storage_sync("shared")
        B[tx] = s[tx]

    return kernel, grid(64), np.zeros(64, "f4")


@fault("race")
def second_barrier_of_the_tile_loop(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((4, 64), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        total: Tx.float32 = 0.0
        for k in range(4):
            s[tx] = A[k, tx]
            Tx.tvm_storage_sync("shared")
            total = total + s[(tx + 1) % 64]
            if not bad:
                Tx.tvm_storage_sync("shared")
        B[tx] = total

    return kernel, grid(4, 64), np.zeros(64, "f4")


@fault("race")
def ctas_share_a_word(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([2])
        if bad:
            A[tx] = bx
        else:
            A[bx * 2 + tx] = bx

    return kernel, np.zeros(8, "i4")


@fault("race")
def reader_in_another_cta(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((4,), "int32"), B: Tx.Buffer((4,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        Tx.thread_id([1])
        A[bx] = bx
        if bad:
            B[bx] = A[(bx + 1) % 4]
        else:
            B[bx] = A[bx]

    return kernel, np.zeros(4, "i4"), np.zeros(4, "i4")


@fault("race")
def global_without_barrier(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "int32"), B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        A[tx] = tx
        if not bad:
            Tx.tvm_storage_sync("shared")
        B[tx] = A[63 - tx]

    return kernel, np.zeros(64, "i4"), np.zeros(64, "i4")


@fault("race")
def histogram_without_atomics(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "int32"), H: Tx.Buffer((4,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        if bad:
            H[A[tx]] = H[A[tx]] + 1
        else:
            Tx.evaluate(Tx.atomic_add(H[A[tx]], 1))

    return kernel, (np.arange(64) % 4).astype("i4"), np.zeros(4, "i4")


@fault("race")
def plain_read_beside_atomics(bad):
    @Tx.prim_func
    def kernel(H: Tx.Buffer((1,), "int32"), B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((1,), "int32")
        if tx == 0:
            s[0] = 0
        Tx.tvm_storage_sync("shared")
        Tx.evaluate(Tx.atomic_add(s[0], 1))
        if not bad:
            Tx.tvm_storage_sync("shared")
        B[tx] = s[0]

    return kernel, np.zeros(1, "i4"), np.zeros(64, "i4")


@fault("race")
def zeroing_beside_atomics(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((4,), "int32")
        if tx < 4:
            s[tx] = 0
        if not bad:
            Tx.tvm_storage_sync("shared")
        Tx.evaluate(Tx.atomic_add(s[tx % 4], 1))
        Tx.tvm_storage_sync("shared")
        B[tx] = s[tx % 4]

    return kernel, np.zeros(64, "i4")


@fault("race")
def halves_of_a_word(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "float16")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float16")
        if bad:
            s[tx // 2] = Tx.float16(1.0)
        else:
            s[tx] = Tx.float16(1.0)
        Tx.tvm_storage_sync("shared")
        B[tx] = s[tx // 2]

    return kernel, np.zeros(64, "f2")


@fault("race")
def neighbours_in_a_reduction(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((1,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        s[tx] = A[tx]
        Tx.tvm_storage_sync("shared")
        step: Tx.int32 = 32
        while step > 0:
            if tx < step:
                s[tx] = s[tx] + s[tx + step]
            if not bad:
                Tx.tvm_storage_sync("shared")
            step = step // 2
        if tx == 0:
            B[0] = s[0]

    return kernel, grid(64), np.zeros(1, "f4")


@fault("race")
def lanes_of_a_warp_without_its_barrier(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "float32"), B: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        s = Tx.alloc_shared((32,), "float32")
        s[tx] = A[tx]
        if not bad:
            Tx.tvm_storage_sync("warp")
        B[tx] = s[31 - tx]

    return kernel, grid(32), np.zeros(32, "f4")


@fault("race")
def warp_barrier_for_two_warps(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((128,), "float32"), B: Tx.Buffer((128,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([128])
        s = Tx.alloc_shared((128,), "float32")
        s[tx] = A[tx]
        if bad:
            Tx.tvm_storage_sync("warp")
        else:
            Tx.tvm_storage_sync("shared")
        B[tx] = s[127 - tx]

    return kernel, grid(128), np.zeros(128, "f4")


@fault("race")
def message_before_its_flag(bad):
    @Tx.prim_func
    def kernel(M: Tx.Buffer((1,), "int32"), F: Tx.Buffer((1,), "int32"), B: Tx.Buffer((1,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([2])
        Tx.thread_id([1])
        if bx == 0:
            if not bad:
                M[0] = 42
            Tx.evaluate(Tx.atomic_exch(F[0], 1))
            if bad:
                M[0] = 42
        else:
            while Tx.atomic_add(F[0], 0) == 0:
                pass
            B[0] = M[0]

    return kernel, np.zeros(1, "i4"), np.zeros(1, "i4"), np.zeros(1, "i4")


@fault("race")
def counter_without_its_lock(bad):
    @Tx.prim_func
    def kernel(L: Tx.Buffer((1,), "int32"), C: Tx.Buffer((1,), "int32")):
        Tx.device_entry()
        Tx.cta_id([4])
        Tx.thread_id([1])
        if not bad:
            while Tx.atomic_cas(L[0], 0, 1) != 0:
                pass
        C[0] = C[0] + 1
        if not bad:
            Tx.evaluate(Tx.atomic_exch(L[0], 0))

    return kernel, np.zeros(1, "i4"), np.zeros(1, "i4")


@fault("divergent_barrier")
def half_of_the_cta(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        s[tx] = A[tx]
        if bad:
            if tx < 32:
                Tx.tvm_storage_sync("shared")
        else:
            Tx.tvm_storage_sync("shared")
        B[tx] = s[tx]

    return kernel, grid(64), np.zeros(64, "f4")


@fault("mismatched_barrier")
def a_barrier_in_each_branch(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        if bad:
            if tx < 32:
                s[tx] = A[tx]
                Tx.tvm_storage_sync("shared")
            else:
                s[tx] = 0.0
                Tx.tvm_storage_sync("shared")
        else:
            if tx < 32:
                s[tx] = A[tx]
            else:
                s[tx] = 0.0
            Tx.tvm_storage_sync("shared")
        B[tx] = s[63 - tx]

    return kernel, grid(64), np.zeros(64, "f4")


@fault("divergent_barrier")
def a_loop_of_different_lengths(bad):
    @Tx.prim_func
    def kernel(N: Tx.Buffer((64,), "int32"), B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        total: Tx.int32 = 0
        n: Tx.int32 = 3
        if bad:
            n = N[tx]
        for i in Tx.serial(n):
            total = total + i
            Tx.tvm_storage_sync("shared")
        B[tx] = total

    return kernel, (np.arange(64) % 3 + 1).astype("i4"), np.zeros(64, "i4")


@fault("divergent_barrier")
def a_guard_around_everything(bad):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((50,), "float32"), B: Tx.Buffer((50,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        if bad:
            if tx < 50:
                s[tx] = A[tx]
                Tx.tvm_storage_sync("shared")
                B[tx] = s[49 - tx]
        else:
            if tx < 50:
                s[tx] = A[tx]
            Tx.tvm_storage_sync("shared")
            if tx < 50:
                B[tx] = s[49 - tx]

    return kernel, grid(50), np.zeros(50, "f4")


@fault("divergent_barrier")
def half_a_warp(bad):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        if bad:
            if tx < 16:
                Tx.tvm_storage_sync("warp")
        else:
            Tx.tvm_storage_sync("warp")
        B[tx] = tx

    return kernel, np.zeros(32, "i4")


@fault("deadlock")
def a_flag_that_nobody_sets(bad):
    @Tx.prim_func
    def kernel(F: Tx.Buffer((1,), "int32"), B: Tx.Buffer((2,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([2])
        Tx.thread_id([1])
        if bx == 0:
            if bad:
                B[0] = 1
            else:
                Tx.evaluate(Tx.atomic_exch(F[0], 1))
        else:
            while Tx.atomic_add(F[0], 0) == 0:
                pass
            B[1] = 1

    return kernel, np.zeros(1, "i4"), np.zeros(2, "i4")


@fault("deadlock")
def a_lock_that_is_kept(bad):
    @Tx.prim_func
    def kernel(L: Tx.Buffer((1,), "int32"), C: Tx.Buffer((1,), "int32")):
        Tx.device_entry()
        Tx.cta_id([3])
        Tx.thread_id([1])
        while Tx.atomic_cas(L[0], 0, 1) != 0:
            pass
        C[0] = C[0] + 1
        if not bad:
            Tx.evaluate(Tx.atomic_exch(L[0], 0))

    return kernel, np.zeros(1, "i4"), np.zeros(1, "i4")


@fault("deadlock")
def threads_at_a_barrier_wait_for_a_flag(bad):
    @Tx.prim_func
    def kernel(F: Tx.Buffer((1,), "int32"), B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        if bad:
            if tx == 0:
                while Tx.atomic_add(F[0], 0) == 0:
                    pass
            Tx.tvm_storage_sync("shared")
            if tx == 1:
                Tx.evaluate(Tx.atomic_exch(F[0], 1))
        else:
            if tx == 1:
                Tx.evaluate(Tx.atomic_exch(F[0], 1))
            Tx.tvm_storage_sync("shared")
            if tx == 0:
                while Tx.atomic_add(F[0], 0) == 0:
                    pass
        B[tx] = tx

    return kernel, np.zeros(1, "i4"), np.zeros(64, "i4")


@fault("livelock")
def a_ticket_that_is_never_called(bad):
    @Tx.prim_func
    def kernel(T: Tx.Buffer((1,), "int32"), B: Tx.Buffer((1,), "int32")):
        Tx.device_entry()
        Tx.thread_id([1])
        goal: Tx.int32 = 10
        if bad:
            goal = -1
        while Tx.atomic_add(T[0], 1) != goal:
            pass
        B[0] = T[0]

    return kernel, np.zeros(1, "i4"), np.zeros(1, "i4")
