"""Barriers in shared memory: arrays of mbarrier objects, one for each stage of a pipeline.

`wait(stage, phase)` waits until the phase of that parity is over; `arrive` says in each class's way that a thread, a copy, or a
matrix product is done.
"""

from __future__ import annotations

from typing import Any

from tirx.ir import Buffer, Expr, IntImm, as_expr, cast, current_span
from tirx.script.builder import If, Then, local_scalar, unroll
from tirx.script.meta import meta_class
from tirx.support.errors import ScriptError

from ..ptx.chain import ptx
from ..script import cvta_generic_to_shared, mbarrier_wait, thread_rank
from .pool import SMEMPool

__all__ = ["CHOICES", "MBarrier", "RemoteBarrier", "TCGen05Bar", "TMABar"]


def _refuse(message: str, hint: str) -> ScriptError:
    return ScriptError(message, span=current_span(), hint=hint)


@meta_class
class MBarrier:
    """`depth` barriers that threads arrive at.

    `phase_offset` is added to the phase of every wait: with 1, the first wait of a fresh barrier goes through. `leader` is the
    condition under which a thread initialises them; default: the first thread of the cta.
    """

    def __init__(self, pool: SMEMPool, depth: Any, phase_offset: int = 0, leader: Any = None) -> None:
        if not isinstance(depth, int) or depth < 1:
            raise _refuse(f"{depth} barriers", "give the number of stages, at least one")
        self.depth = depth
        self.phase_offset = phase_offset
        self.leader = leader
        self.buf: Buffer = pool.alloc((depth,), "uint64", align=8)

    def init(self, count: Any) -> None:
        """Initialise all of them for `count` arrivals in a phase; a barrier of the cta must follow before others use them."""
        leader = self.leader if self.leader is not None else thread_rank() == 0
        with If(leader), Then():
            if self.depth == 1:
                ptx.mbarrier.init.shared.b64(self.ptr_to(0), count)
                return
            with unroll(self.depth) as stage:
                ptx.mbarrier.init.shared.b64(self.ptr_to(stage), count)

    def ptr_to(self, idx: Any) -> Expr:
        """A pointer to the barrier of a stage."""
        return self.buf.ptr_to([idx])

    def wait(self, stage: Any, phase: Any) -> None:
        """Wait until the phase of this parity is over."""
        parity = phase
        if self.phase_offset:
            parity = phase ^ self.phase_offset if isinstance(phase, int) else as_expr(phase) ^ self.phase_offset
        mbarrier_wait(self.ptr_to(stage), parity)

    def arrive(self, stage: Any, remote: Any = None, pred: Any = None, count: Any = None) -> None:
        """Arrive `count` times (default: once); at the barrier of cta `remote` of the cluster; where `pred` holds."""
        if remote is None:
            ptx.mbarrier.arrive.shared.b64(self.ptr_to(stage), *_times(count), **_guard(pred))
        else:
            self.remote_view(remote).arrive(stage, pred=pred, count=count)

    def remote_view(self, rank: Any) -> RemoteBarrier:
        """The same barriers of cta `rank` of the cluster."""
        return RemoteBarrier(self, rank)


def _times(count: Any) -> tuple[Any, ...]:
    return () if count is None else (count,)


def _guard(pred: Any) -> dict[str, Any]:
    return {} if pred is None else {"pred": pred}


class RemoteBarrier:
    """The barriers of another cta of the cluster: others can arrive there, but only its own threads wait."""

    def __init__(self, barrier: MBarrier, rank: Any) -> None:
        self.barrier = barrier
        self.rank = rank

    def ptr_to(self, idx: Any) -> Expr:
        """The 32-bit address of the barrier of a stage in the cluster's shared memory."""
        address = local_scalar("uint32")
        ptx.mapa.shared__cluster.u32(address, cvta_generic_to_shared(self.barrier.ptr_to(idx)), _u32(self.rank))
        return as_expr(address)

    def arrive(self, stage: Any, pred: Any = None, count: Any = None) -> None:
        """Arrive `count` times (default: once), where `pred` holds."""
        ptx.mbarrier.arrive.shared__cluster.b64(self.ptr_to(stage), *_times(count), **_guard(pred))

    def arrive_expect_tx(self, stage: Any, tx_count: Any, pred: Any = None) -> None:
        """Arrive, and let the phase wait for so many more bytes, where `pred` holds."""
        ptx.mbarrier.arrive.expect_tx.shared__cluster.b64(self.ptr_to(stage), _u32(tx_count), **_guard(pred))


def _u32(value: Any) -> Expr:
    expr = as_expr(value, "uint32")
    return expr if isinstance(expr, IntImm) else cast(expr, "uint32")


class TMABar(MBarrier):
    """Barriers that bulk and tensor copies complete: who arrives says how many bytes will come."""

    def arrive(self, stage: Any, tx_count: Any = None, remote: Any = None, pred: Any = None) -> None:  # type: ignore[override]
        """Arrive, and let the phase wait for `tx_count` more bytes."""
        if tx_count is None:
            super().arrive(stage, remote=remote, pred=pred)
        elif remote is not None:
            self.remote_view(remote).arrive_expect_tx(stage, tx_count, pred=pred)
        else:
            ptx.mbarrier.arrive.expect_tx.shared.b64(self.ptr_to(stage), _u32(tx_count), **_guard(pred))


class TCGen05Bar(MBarrier):
    """Barriers that matrix products of tensor memory complete."""

    def arrive(self, stage: Any, cta_group: int = 1, cta_mask: Any = None, pred: Any = None) -> None:  # type: ignore[override]
        """Arrive when all products that this thread started before are done; with `cta_mask`, in those ctas of the cluster."""
        if cta_group not in (1, 2):
            raise _refuse(f"a product has no group of {cta_group} ctas", "cta_group is 1 or 2")
        commit = getattr(ptx.tcgen05.commit, f"cta_group__{cta_group}").mbarrier__arrive__one.shared__cluster
        pointer = self.ptr_to(stage)
        if cta_mask is None:
            commit.b64(pointer, **_guard(pred))
        else:
            commit.multicast__cluster.b64(pointer, cast(as_expr(cta_mask, "uint16"), "uint16"), **_guard(pred))


CHOICES: dict[str, type[MBarrier]] = {"tma": TMABar, "tcgen05": TCGen05Bar, "mbar": MBarrier}
