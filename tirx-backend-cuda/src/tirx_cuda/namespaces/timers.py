"""Functions of `Tx.cuda` that log events with their times; `tirx_cuda.timer` reads the log and writes traces."""

from __future__ import annotations

from enum import Enum
from typing import Any

from tirx.intrinsic import call
from tirx.ir import Call, Expr, PointerType, as_expr

from ..op import ROW
from ..timer import EVENT_BITS
from .checked import pointer_to, refuse

__all__ = ["timer_end", "timer_finalize", "timer_init", "timer_start"]


def timer_init(
    profiler_buffer: Any, profiler_tag: Any, profiler_write_offset: Any, num_groups: Any, group_id: Any
) -> Call:
    """Begin the log `profiler_buffer` (uint64) of group `group_id` of `num_groups` in each cta; all threads of the group call it.

    `profiler_tag` and `profiler_write_offset` point to integers of the thread (at least 32 bits) that the other functions need.
    """
    return _call("timer_init", (), profiler_buffer, profiler_tag, profiler_write_offset, num_groups, group_id)


def timer_start(
    event_type: Any,
    profiler_buffer: Any,
    profiler_tag: Any,
    profiler_write_offset: Any,
    profiler_write_stride: Any,
    leader_cond: Any = True,
) -> Call:
    """Event number `event_type` (0 to 1023, or a member of an Enum) begins; written by threads where `leader_cond` holds.

    `profiler_write_stride` is the number of groups in all ctas.
    """
    places = profiler_buffer, profiler_tag, profiler_write_offset
    return _call("timer_start", (_event(event_type),), *places, profiler_write_stride, leader_cond)


def timer_end(
    event_type: Any,
    profiler_buffer: Any,
    profiler_tag: Any,
    profiler_write_offset: Any,
    profiler_write_stride: Any,
    leader_cond: Any = True,
) -> Call:
    """Event number `event_type` ends."""
    places = profiler_buffer, profiler_tag, profiler_write_offset
    return _call("timer_end", (_event(event_type),), *places, profiler_write_stride, leader_cond)


def timer_finalize(
    profiler_buffer: Any,
    profiler_tag: Any,
    profiler_write_offset: Any,
    profiler_write_stride: Any,
    leader_cond: Any = True,
) -> Call:
    """The log of the group ends here."""
    places = profiler_buffer, profiler_tag, profiler_write_offset
    return _call("timer_finalize", (), *places, profiler_write_stride, leader_cond)


def _call(name: str, front: tuple[Any, ...], buf: Any, tag: Any, offset: Any, *rest: Any) -> Call:
    tag, offset = pointer_to(tag), pointer_to(offset)
    kinds = {"tag_dtype": _kind("profiler_tag", tag), "offset_dtype": _kind("profiler_write_offset", offset)}
    rest = tuple(as_expr(value, "bool") if isinstance(value, bool) else value for value in rest)
    return call(ROW[name], *front, buf, tag, offset, *rest, **kinds)


def _kind(name: str, pointer: Expr) -> str:
    """The type of a counter behind a pointer."""
    pointee = pointer.dtype.pointee if isinstance(pointer.dtype, PointerType) else None
    if pointee is None or not pointee.is_integer or pointee.bits < 32 or pointee.lanes > 1:
        raise refuse(
            f"`{name}` points to {pointee}, not to an integer of 32 or 64 bits", "give the address of a scalar"
        )
    return str(pointee.name)


def _event(event: Any) -> Any:
    number = event.value if isinstance(event, Enum) else event
    if isinstance(number, int) and not 0 <= number < 1 << EVENT_BITS:
        raise refuse(f"there is no event {number}", f"events are 0 to {(1 << EVENT_BITS) - 1}")
    return number
