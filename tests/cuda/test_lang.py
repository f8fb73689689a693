"""Barriers, pipelines, roles, descriptors, tensor memory, and what asks the hardware for work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.ir import structural_equal
from tirx.script import from_source
from tirx.support.errors import LayoutError, ScriptError, TirxError
from tirx_cuda.descriptor import matrix_constant
from tirx_cuda.lang import (
    ClusterLaunchControlScheduler,
    MBarrier,
    Pipeline,
    PipelineState,
    SmemDescriptor,
    TCGen05Bar,
    TMABar,
    WarpgroupRole,
    WarpRole,
)

HOPPER, BLACKWELL = "cuda -arch=sm_90a", "cuda -arch=sm_100a"


def run(kernel: Any, *args: Any, target: str = HOPPER) -> None:
    report = tirx.simulate(kernel, *args, target=target)
    assert report.verdict == "clean", str(report)


# ---- pipelines ------------------------------------------------------------------------------------------------------


def copying(stages: int, rounds: int, offset: int = 1) -> Any:
    """One warpgroup fills stages, another empties them."""

    @Tx.prim_func
    def kernel(A: Tx.Buffer((rounds, 32), "int32"), B: Tx.Buffer((rounds, 32), "int32")):
        Tx.device_entry()
        wg = Tx.warpgroup_id([2])
        t = Tx.thread_id_in_wg([128])
        pool = Tx.SMEMPool()
        tile = pool.alloc((stages, 32), "int32")
        pipe = Pipeline(pool, stages, full="mbar", empty="mbar", init_full=32, init_empty=32, empty_phase_offset=offset)
        pool.commit()
        Tx.cuda.cta_sync()
        state = PipelineState(stages, 0)
        with WarpgroupRole(wg, 0, regs=40):
            if t < 32:
                for i in range(rounds):
                    pipe.empty.wait(state.stage, state.phase)
                    tile[state.stage, t] = A[i, t]
                    pipe.full.arrive(state.stage)
                    state.advance()
        with WarpgroupRole(wg, 1, regs=232, increase=True):
            if t < 32:
                for i in range(rounds):
                    pipe.full.wait(state.stage, state.phase)
                    B[i, t] = tile[state.stage, t] + 1
                    pipe.empty.arrive(state.stage)
                    state.advance()

    return kernel


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_a_pipeline_has_no_races(stages: int) -> None:
    a = np.arange(7 * 32, dtype=np.int32).reshape(7, 32)
    b = np.zeros_like(a)
    run(copying(stages, 7), a, b)
    assert (b == a + 1).all()


def test_without_the_offset_nobody_begins() -> None:
    a = np.zeros((3, 32), np.int32)
    report = tirx.simulate(copying(2, 3, offset=0), a, a.copy(), target=HOPPER)
    assert report.verdict == "error"
    assert "deadlock" in str(report)


def test_names_and_text() -> None:
    kernel = copying(2, 4)
    text = kernel.script()
    for name in ("pipe_full_buf", "pipe_empty_buf", "state_stage", "state_phase"):
        assert name in text
    assert structural_equal(from_source(text), kernel)
    assert tirx.compile(kernel, HOPPER).binaries


def test_kinds_of_barriers_have_a_name() -> None:
    def body(pool: Any) -> None:
        Pipeline(pool, 2, full="tna", empty="mbar")

    with Tx.prim_func():
        Tx.device_entry()
        with pytest.raises(ScriptError, match="`full` is no barrier of kind 'tna'") as caught:
            body(Tx.SMEMPool())
    assert caught.value.hint == "did you mean `tma`?"


# ---- barriers -------------------------------------------------------------------------------------------------------


@Tx.prim_func
def arrivals(O: Tx.Buffer((64,), "uint32")):
    Tx.device_entry()
    Tx.cta_id([2])
    cbx = Tx.cta_id_in_cluster([2])
    tx = Tx.thread_id([32])
    pool = Tx.SMEMPool()
    local = MBarrier(pool, 2, leader=tx == 1)
    local.init(33)
    copies = TMABar(pool, 1)
    copies.init(1)
    products = TCGen05Bar(pool, 1, phase_offset=1)
    products.init(1)
    pool.commit()
    Tx.ptx.fence.mbarrier_init.release.cluster()
    Tx.cuda.cluster_sync()
    local.arrive(1, pred=tx < 31)
    local.arrive(1, count=2, pred=tx == 31)
    local.arrive(1, remote=cbx ^ 1, pred=tx == 0)
    local.wait(1, 0)
    O[cbx * 32 + tx] = 1


def test_arrivals_of_threads_here_and_there() -> None:
    out = np.zeros(64, np.uint32)
    run(arrivals, out, target=BLACKWELL)
    assert (out == 1).all()


def test_source_of_arrivals() -> None:
    @Tx.prim_func
    def kernel(O: Tx.Buffer((64,), "uint32"), n: Tx.int32):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        pool = Tx.SMEMPool()
        copies = TMABar(pool, 2)
        copies.init(1)
        products = TCGen05Bar(pool, 1, phase_offset=1)
        products.init(1)
        pool.commit()
        copies.arrive(0, 1024)
        copies.arrive(n, tx_count=n * 4, pred=tx == 0)
        copies.arrive(1)
        copies.arrive(1, 64, remote=1)
        products.arrive(0)
        products.arrive(0, cta_mask=3)
        products.wait(0, n)
        products.wait(0, 0)
        O[0] = products.remote_view(1).ptr_to(0)

    text = kernel.script()
    for line in (
        "T.ptx.mbarrier.arrive.expect_tx.shared.b64(T.address_of(copies_buf[0]), T.uint32(1024))",
        'T.ptx.mbarrier.arrive.expect_tx.shared.b64(T.address_of(copies_buf[n]), T.Cast("uint32", n * 4), pred=tx == 0)',
        "T.ptx.mbarrier.arrive.shared.b64(T.address_of(copies_buf[1]))",
        "T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(T.address_of(products_buf[0]))",
        "T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.multicast__cluster.b64(",
        "T.cuda.mbarrier_wait(T.address_of(products_buf[0]), n ^ 1)",
        "T.cuda.mbarrier_wait(T.address_of(products_buf[0]), 1)",
    ):
        assert line in text, line
    assert tirx.compile(kernel, BLACKWELL).binaries


def test_groups_of_ctas_that_do_not_exist() -> None:
    with Tx.prim_func():
        Tx.device_entry()
        bar = TCGen05Bar(Tx.SMEMPool(), 1)
        with pytest.raises(ScriptError, match="a product has no group of 3 ctas"):
            bar.arrive(0, cta_group=3)


# ---- roles ----------------------------------------------------------------------------------------------------------


def test_roles() -> None:
    @Tx.prim_func
    def kernel(O: Tx.Buffer((128,), "int32")):
        Tx.device_entry()
        warp = Tx.warp_id([4])
        tx = Tx.thread_id([128])
        with WarpRole(warp, 2):
            O[tx] = 2
        with WarpRole(warp, range(2)):
            O[tx] = 1

    out = np.zeros(128, np.int32)
    run(kernel, out)
    assert out.tolist() == [1] * 64 + [2] * 32 + [0] * 32
    text = source_of(kernel, HOPPER).text
    assert "if (warp == 2) O[tx] = 2;" in text


@pytest.mark.parametrize("regs", [16, 30, 264])
def test_registers_that_cannot_be_set(regs: int) -> None:
    with Tx.prim_func():
        Tx.device_entry()
        warp = Tx.warp_id([4])
        with pytest.raises(ScriptError, match=f"{regs} registers for each thread"):
            WarpRole(warp, 0, regs=regs)


# ---- descriptors ----------------------------------------------------------------------------------------------------


def test_descriptors_move_on() -> None:
    @Tx.prim_func
    def kernel(O: Tx.Buffer((4,), "uint64")):
        Tx.device_entry()
        Tx.thread_id([32])
        A = Tx.alloc_shared((64, 64), "float16")
        if Tx.cuda.elect_sync():
            desc = SmemDescriptor()
            desc.init(A.ptr_to([0, 0]), 1, 64, 3)
            O[0] = desc.desc
            O[1] = desc.add_16B_offset(4)
            O[2] = desc.add_16B_offset(0)

    out = np.zeros(4, np.uint64)
    run(kernel, out, target=BLACKWELL)
    first, moved, same, _ = (int(word) for word in out)
    assert first & ~0x3FFF == matrix_constant("tcgen05", 1, 64, 3)
    assert (moved, same) == (first + 4, first)


def test_descriptors_of_a_warp() -> None:
    @Tx.prim_func
    def kernel(O: Tx.Buffer((32,), "uint64")):
        Tx.device_entry()
        lane = Tx.thread_id([32])
        A = Tx.alloc_shared((64, 64), "float16")
        desc = SmemDescriptor()
        desc.init(A.ptr_to([lane, 0]), 1, 64, 3)
        desc.make_lo_uniform()
        O[lane] = desc.desc

    out = np.zeros(32, np.uint64)
    run(kernel, out, target=BLACKWELL)
    assert len(set(out.tolist())) == 1
    assert tirx.compile(kernel, BLACKWELL).binaries


# ---- pools ----------------------------------------------------------------------------------------------------------


def allocated(make: Any, **options: Any) -> Any:
    """What `make(pool)` answers for a pool of tensor memory."""
    with Tx.prim_func():
        Tx.device_entry()
        Tx.warp_id([4])
        return make(Tx.TMEMPool(Tx.SMEMPool(), **options))


def test_columns_of_tensor_memory() -> None:
    def make(pool: Any) -> list[int]:
        buffers = [
            pool.alloc((128, 64)), pool.alloc((128, 64), "bfloat16"), pool.alloc_tcgen05_mma_D((64, 128), M=64, cta_group=1),
            pool.alloc_tcgen05_mma_A((128, 64), "float16", M=128, cta_group=1),
            pool.alloc_sf((128, 16), "float8_e8m0fnu", sf_per_mma=4),
        ]  # fmt: skip
        assert all(buffer.scope_name == "tmem" for buffer in buffers)
        return [buffer.allocated_addr[0] for buffer in buffers] + [pool.offset]

    assert allocated(make) == [0, 64, 96, 224, 256, 272]


def test_columns_used_again() -> None:
    def make(pool: Any) -> tuple[Any, Any]:
        first = pool.alloc((128, 256))
        pool.move_base_to(0)
        return first, pool.alloc((128, 512), "float16")

    first, second = allocated(make, total_cols=256)
    assert first.allocated_addr == second.allocated_addr == (0,)


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [
        (
            lambda pool: pool.alloc((128, 65)),
            {"total_cols": 64},
            ScriptError,
            "65 columns from column 0 on do not fit in 64",
        ),
        (lambda pool: pool.alloc((64, 64)), {}, ScriptError, r"shape \(64, 64\) is not one row for each of 128 lanes"),
        (lambda pool: pool.move_base_to(600), {}, ScriptError, "there is no column 600"),
        (lambda pool: None, {"total_cols": 100}, ScriptError, "100 columns cannot be allocated"),
        (lambda pool: None, {"cta_group": 3}, ScriptError, "3 ctas do not allocate together"),
        (lambda pool: pool.alloc_tcgen05_mma_D((96, 64), M=96, cta_group=1), {}, LayoutError, "M=96"),
    ],
)
def test_tensor_memory_that_cannot_be_had(make: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        allocated(make, **options)


@Tx.prim_func
def tensor_memory(O: Tx.Buffer((4,), "uint32")):
    Tx.device_entry()
    tx = Tx.thread_id([128])
    pool = Tx.SMEMPool()
    tmem = Tx.TMEMPool(pool, total_cols=256, alloc_warp=1, dealloc_warp=2)
    tmem.alloc_tcgen05_mma_D((128, 256), M=128, cta_group=1)
    pool.commit()
    tmem.commit()
    Tx.cuda.cta_sync()
    if tx == 0:
        O[0] = tmem.addr
    Tx.cuda.cta_sync()
    tmem.dealloc()


def test_asking_for_tensor_memory() -> None:
    text = tensor_memory.script()
    assert (
        "T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(T.address_of(tmem_addr_buf[0]), T.uint32(256))"
        in text
    )
    assert "T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(tmem_addr_buf[0], T.uint32(256))" in text
    assert structural_equal(from_source(text), tensor_memory)
    assert tirx.compile(tensor_memory, BLACKWELL).binaries
    with pytest.raises(TirxError, match="tcgen05"):
        source_of(tensor_memory, HOPPER)


@pytest.mark.parametrize(
    ("shape", "dtype", "mode"),
    [
        ((2, 128, 64), "float16", 3),
        ((64, 32), "float16", 2),
        ((8, 16), "bfloat16", 1),
        ((8, 8), "float16", 0),
        ((64, 128), "int8", 3),
    ],
)
def test_tiles_of_matrix_instructions(shape: tuple[int, ...], dtype: str, mode: int) -> None:
    from tirx_cuda.layout.shared import get_swizzle_mode_from_layout

    with Tx.prim_func():
        Tx.device_entry()
        pool = Tx.SMEMPool()
        made = pool.alloc_tcgen05_mma_AB(shape, dtype)
        assert get_swizzle_mode_from_layout(made.layout) == mode
        assert pool.offset == int(np.prod(shape)) * made.dtype.bytes
        with pytest.raises(LayoutError):
            pool.alloc_tcgen05_mma_AB((8, 24), "float16", swizzle_mode=3)


# ---- launch control ---------------------------------------------------------------------------------------------------


@Tx.prim_func
def controlled(O: Tx.Buffer((35,), "uint32")):
    Tx.device_entry()
    bx = Tx.cta_id([70])
    cbx = Tx.cta_id_in_cluster([2])
    warp = Tx.warp_id([4])
    lane = Tx.lane_id([32])
    pool = Tx.SMEMPool()
    scheduler = ClusterLaunchControlScheduler(pool, 5, 7, 2, 2, 6)
    pool.commit()
    Tx.cuda.cluster_sync()
    worker = scheduler.worker("tiles")
    if warp == 3:
        scheduler.run_scheduler(cbx)
    else:
        worker.init(bx // 2)
        while worker.valid():
            if cbx == 0 and warp == 0 and lane == 0:
                O[worker.m_idx * 7 + worker.n_idx] = 1
            worker.consume(pred=lane == 0)


def test_launch_control() -> None:
    text = controlled.script()
    assert (
        "clusterlaunchcontrol.try_cancel.async_.shared__cta.mbarrier__complete_tx__bytes.multicast__cluster__all.b128("
        in text
    )
    assert "clusterlaunchcontrol.query_cancel.get_first_ctaid__x.b32.b128(tiles_answer" in text or "answer" in text
    assert structural_equal(from_source(text), controlled)
    assert tirx.compile(controlled, BLACKWELL).binaries
    with pytest.raises(TirxError, match="clusterlaunchcontrol"):
        source_of(controlled, HOPPER)


def test_launch_control_is_not_simulated() -> None:
    assert tirx.simulate(controlled, np.zeros(35, np.uint32), target=BLACKWELL, patience=100).verdict != "clean"
