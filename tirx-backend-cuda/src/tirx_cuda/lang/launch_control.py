"""Scheduling by the hardware: ctas that take over the work of others which have not started (sm_100 and newer).

One thread asks for the next cta (`clusterlaunchcontrol.try_cancel`); the answer comes to shared memory of all ctas of the cluster,
and a barrier there says when. Workers read it, and say so, so that the next one can be asked for. PTX ISA, "clusterlaunchcontrol".

    scheduler = ClusterLaunchControlScheduler(pool, m_tiles, n_tiles, l2_group_size=8, cta_group=2, finish_arrivals=6)
    worker = scheduler.worker("tiles")
    if warp == scheduler_warp:
        scheduler.run_scheduler(cbx)
    else:
        worker.init(bx // cta_group)
        while worker.valid():
            ...                                # the tile worker.m_idx, worker.n_idx
            worker.consume(pred=lane == 0)

The simulator does not model what the hardware answers.
"""

from __future__ import annotations

from typing import Any

from tirx.ir import Buffer, Expr, Scalar, as_expr, cast, const, current_span
from tirx.script.builder import Else, If, Then, While, decl_buffer, local_scalar
from tirx.script.meta import meta_class
from tirx.support.errors import ScriptError

from ..ptx.chain import ptx
from ..script import elect_sync, warp_sync, warpgroup_sync
from .barriers import MBarrier, TMABar
from .orders import div, group_major
from .pool import SMEMPool
from .schedulers import TileScheduler

__all__ = ["ClusterLaunchControlScheduler", "ClusterLaunchControlWorker", "query_cancel_first_ctaid_x"]

NOBODY = 0xFFFFFFFF
_ANSWER_BYTES = 16


def query_cancel_first_ctaid_x(out: Scalar, handle: Any, *, use_ld_acquire: bool = True) -> None:
    """Store in `out` (uint32) the x of the first cta that the answer at `handle` names; 0xFFFFFFFF where there is none.

    `handle` is a buffer of 16 bytes in shared memory, or a pointer to it. With `use_ld_acquire` the read comes before what is
    asked for next (`fence.proxy.async`).
    """
    memory = handle if isinstance(handle, Buffer) else decl_buffer((4,), "uint32", data=handle, scope="shared")
    answer = memory.vload([0], "uint32x4")
    found = local_scalar("bool")
    ptx.clusterlaunchcontrol.query_cancel.is_canceled.pred.b128(found, answer)
    with If(as_expr(found)):
        with Then():
            ptx.clusterlaunchcontrol.query_cancel.get_first_ctaid__x.b32.b128(out, answer)
        with Else():
            out.assign(const(NOBODY, "uint32"))
    if use_ld_acquire:
        ptx.fence.proxy.async_.shared__cta()


@meta_class
class ClusterLaunchControlScheduler:
    """Asks the hardware for tiles on behalf of a cluster, whose ctas compute `cta_group` tiles' parts together.

    `finish_arrivals` are the arrivals that say that an answer was read: of all workers of the cluster. (The warps that run
    `run_scheduler`, one in each of `cta_group` ctas, are counted besides.)
    """

    def __init__(
        self,
        pool: SMEMPool,
        num_m_tiles: Any,
        num_n_tiles: Any,
        l2_group_size: int,
        cta_group: int,
        finish_arrivals: Any,
    ) -> None:
        if cta_group not in (1, 2):
            raise ScriptError(f"{cta_group} ctas do not work together", span=current_span(), hint="cta_group is 1 or 2")
        self.sizes = (num_m_tiles, num_n_tiles, l2_group_size)
        self.cta_group = cta_group
        self.handle: Buffer = pool.alloc((4,), "uint32", align=_ANSWER_BYTES)
        self.ready = TMABar(pool, 1)
        self.ready.init(1)
        self.finished = MBarrier(pool, 1, phase_offset=1)
        self.finished.init(finish_arrivals + cta_group)

    def worker(self, prefix: str) -> ClusterLaunchControlWorker:
        """What a worker keeps: its tile, and the parity of the next answer."""
        return ClusterLaunchControlWorker(prefix, self)

    def run_scheduler(self, cbx: Any) -> None:
        """Ask until nobody is left, by one warp of each cta; the cta of rank `cbx` 0 speaks for the cluster."""
        phase, answer = local_scalar("int32"), local_scalar("uint32")
        phase.assign(0)
        answer.assign(const(0, "uint32"))
        with While(as_expr(answer) != const(NOBODY, "uint32")):
            with If(elect_sync()), Then():
                self.ready.arrive(0, _ANSWER_BYTES)
                with If(as_expr(cbx) == 0), Then():
                    self.finished.wait(0, phase)
                    self._ask()
            self.ready.wait(0, phase)
            query_cancel_first_ctaid_x(answer, self.handle)
            warp_sync()
            self.finished.arrive(0, remote=0, pred=elect_sync())
            phase.assign(phase ^ 1)

    def _ask(self) -> None:
        ask = ptx.clusterlaunchcontrol.try_cancel.async_.shared__cta.mbarrier__complete_tx__bytes
        ask.multicast__cluster__all.b128(self.handle.ptr_to([0]), self.ready.ptr_to(0))


@meta_class
class ClusterLaunchControlWorker(TileScheduler):
    """Goes through the tiles that the hardware gives: `init`, then `consume` after each tile while `valid`."""

    def __init__(self, prefix: str, scheduler: ClusterLaunchControlScheduler) -> None:
        self.scheduler = scheduler
        self.phase = self._scalar(prefix, "phase")
        self.answer: Scalar = local_scalar("uint32")
        rows, columns, _ = scheduler.sizes
        super().__init__(prefix, rows * columns, 1)

    def at(self, position: Any) -> dict[str, Any]:
        """Row and column of a tile, in groups of rows."""
        rows, columns, group = self.scheduler.sizes
        return dict(zip(self.NAMES, group_major(position, rows, columns, group), strict=True))

    def init(self, worker: Any) -> None:
        """Go to the tile that the launch gave: its number among clusters."""
        self.reset()
        super().init(worker)

    def reset(self) -> None:
        """Begin with the first answer."""
        self.phase.assign(0)

    def consume(self, pred: Any = None) -> None:
        """Wait for the next answer, go to its tile, and say that it was read (where `pred` holds)."""
        self._read()
        self.scheduler.finished.arrive(0, remote=0, pred=pred)
        self.mark_done_if_drained()

    def consume_wg(self, bar_no: Any, pred: Any) -> None:
        """The same for a warpgroup, which meets at named barrier `bar_no`; the thread where `pred` holds speaks for it."""
        self._read()
        warpgroup_sync(bar_no)
        self.scheduler.finished.arrive(0, remote=0, pred=pred)
        self.mark_done_if_drained()

    def advance_coords(self) -> None:
        """Go to the tile of the answer that was read."""
        cta = cast(as_expr(self.answer), "int32")
        self._go(div(cta, self.scheduler.cta_group), self.tile_idx + 1)

    def mark_done_if_drained(self) -> None:
        """Go to the tile of the answer; behind the last one where it names nobody."""
        with If(as_expr(self.answer) == const(NOBODY, "uint32")):
            with Then():
                self.linear_idx.assign(_total(self.total))
            with Else():
                self.advance_coords()

    def _read(self) -> None:
        self.scheduler.ready.wait(0, self.phase)
        query_cancel_first_ctaid_x(self.answer, self.scheduler.handle)
        self.phase.assign(self.phase ^ 1)


def _total(total: Any) -> Expr:
    return cast(as_expr(total, "int32"), "int32")
