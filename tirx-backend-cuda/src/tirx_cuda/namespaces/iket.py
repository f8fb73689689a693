"""`Tx.cuda.iket`: annotations for NVIDIA's in-kernel profiler; they leave no trace unless `tirx_cuda.iket` asks for events.

Names are text; a payload is an integer of up to 64 bits, a float32 or float64 that is recorded with the event.
"""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import call
from tirx.ir import Call, as_expr

from ..iket_events import NAME_BYTES, PAYLOADS
from ..op import ROW
from .checked import no_name, refuse

__all__ = ["mark", "official_event", "range_end", "range_pop", "range_push", "range_start", "sentinel_token"]


def __dir__() -> list[str]:
    """What completion offers."""
    return [*__all__]


def __getattr__(name: str) -> Any:
    raise no_name("Tx.cuda.iket", name, __all__)


def mark(name: str, payload: Any = None) -> Call:
    """A point in time."""
    return call(ROW["iket.mark"], _name(name), *_payload(payload))


def range_start(name: str, payload: Any = None) -> Call:
    """A range begins; the result is the token (uint32) that `range_end` takes."""
    return call(ROW["iket.range_start"], _name(name), *_payload(payload))


def range_end(token: Any, payload: Any = None) -> Call:
    """The range of a token ends; with a payload if it began with one."""
    return call(ROW["iket.range_end"], as_expr(token, "uint32"), *_payload(payload))


def range_push(name: str, payload: Any = None) -> Call:
    """A range begins that the next `range_pop` ends."""
    return call(ROW["iket.range_push"], _name(name), *_payload(payload))


def range_pop() -> Call:
    """The innermost pushed range ends."""
    return call(ROW["iket.range_pop"])


def sentinel_token(name: str) -> Call:
    """A token of no range, for where all threads of a warp need one; ending it does nothing."""
    return call(ROW["iket.sentinel_token"], _name(name))


def official_event(event_id: Any, source_code: str = "", payload: Any = None) -> Call:
    """Event number `event_id` (1 to 30; 31 ends a pushed range) with the source that declares it."""
    return call(ROW["iket.official_event"], as_expr(event_id, "uint32"), *_payload(payload), source_code=source_code)


def _name(name: Any) -> str:
    if not isinstance(name, str) or not 0 < len(name.encode()) < NAME_BYTES:
        raise refuse(f"{name!r} is no name of an event", f"give text of 1 to {NAME_BYTES - 1} bytes")
    return name


def _payload(payload: Any) -> tuple[Any, ...]:
    if payload is None:
        return ()
    expr = as_expr(payload)
    if expr.dtype.name not in PAYLOADS:
        raise refuse(f"a payload of {expr.dtype} cannot be recorded", f"cast it: {', '.join(PAYLOADS)}")
    return (expr,)
